/** A page cursor that no former page gave; the edge answers 400. */
export class InvalidCursor extends Error {
  constructor() {
    super('this cursor was not given by a former page')
    this.name = 'InvalidCursor'
  }
}
