/** A page cursor that no earlier page returned; the edge answers 400. */
export class InvalidCursor extends Error {
  constructor() {
    super('this cursor does not come from an earlier page')
    this.name = 'InvalidCursor'
  }
}
