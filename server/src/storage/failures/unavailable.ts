/** The database cannot be reached or was lost in the middle; the call is refused with 50301. */
export class StorageUnavailable extends Error {
  /** Surely nothing was done: the database was never reached. Otherwise it may have been, just now or still to come. */
  readonly untouched: boolean

  constructor(message: string, options: { readonly cause?: unknown; readonly untouched?: boolean } = {}) {
    super(message, options)
    this.name = 'StorageUnavailable'
    this.untouched = options.untouched ?? false
  }
}
