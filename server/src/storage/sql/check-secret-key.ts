/** A database belongs to one secret key: another one would find every stored credential unreadable, one by one. */
import type { Kysely } from 'kysely'
import type { SecretBox } from '../secret-box.ts'
import type { Schema } from './schema.ts'

const NAME = 'secret-key-check'
const PLAINTEXT = 'sluice'

export async function checkSecretKey(database: Kysely<Schema>, secrets: SecretBox): Promise<void> {
  await database
    .insertInto('meta')
    .values({ name: NAME, value: secrets.seal(PLAINTEXT, NAME) })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute()
  const row = await database
    .selectFrom('meta')
    .select('value')
    .where('name', '=', NAME)
    .executeTakeFirstOrThrow()
  try {
    secrets.open(row.value, NAME)
  } catch (error) {
    throw new Error(
      'the secret key is not the one this database was made with: give SLUICE_SECRET_KEY, or the key file of the data directory, as it was',
      { cause: error },
    )
  }
}
