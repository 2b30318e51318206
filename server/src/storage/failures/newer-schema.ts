/** This build is older than the database. */
export class NewerSchema extends Error {
  constructor(found: number, known: number) {
    super(
      `the database has schema ${found}, this build of Sluice knows up to ${known}: ` +
        'start the newer build again, or restore a backup made before the upgrade',
    )
    this.name = 'NewerSchema'
  }
}
