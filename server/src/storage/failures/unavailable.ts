/** The database cannot be reached, or the connection was lost; the call is refused with 50301. */
export class StorageUnavailable extends Error {
  /**
   * It is certain that nothing was done, because the database was never reached. Otherwise the write may have been done,
   * or may still be.
   */
  readonly untouched: boolean

  constructor(message: string, options: { readonly cause?: unknown; readonly untouched?: boolean } = {}) {
    super(message, options)
    this.name = 'StorageUnavailable'
    this.untouched = options.untouched ?? false
  }
}
