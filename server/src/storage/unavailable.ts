/** The database cannot be reached or was lost in the middle; the call is refused with 50301. */
export class StorageUnavailable extends Error {
  constructor(message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options)
    this.name = 'StorageUnavailable'
  }
}
