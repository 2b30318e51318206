/** Two transactions were in each other's way and this one was undone; run again, it may well pass. */
export class TransactionConflict extends Error {
  constructor(options: { readonly cause: unknown }) {
    super('the transaction met another one', options)
    this.name = 'TransactionConflict'
  }
}
