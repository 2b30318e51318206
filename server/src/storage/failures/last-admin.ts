/** The change would leave no active admin; nothing was changed. */
export class LastAdmin extends Error {
  constructor() {
    super('this is the last active admin: make somebody else one first')
    this.name = 'LastAdmin'
  }
}
