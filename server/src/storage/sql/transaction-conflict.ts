/** Two transactions conflicted and this one was rolled back; a retry may succeed. */
export class TransactionConflict extends Error {
  constructor(options: { readonly cause: unknown }) {
    super('the transaction met another one', options)
    this.name = 'TransactionConflict'
  }
}
