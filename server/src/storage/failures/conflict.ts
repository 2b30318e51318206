/** Something with this natural key exists already: an e-mail address, a key's hash, an id. */
export class StorageConflict extends Error {
  constructor(message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options)
    this.name = 'StorageConflict'
  }
}
