/** The database was created with another secret key: nothing sealed in it can be read. */
export class SecretKeyMismatch extends Error {
  constructor(options: { readonly cause?: unknown } = {}) {
    super(
      'the secret key is not the one this database was made with: give SLUICE_SECRET_KEY, or the file secret.key of the data directory, as it was',
      options,
    )
    this.name = 'SecretKeyMismatch'
  }
}
