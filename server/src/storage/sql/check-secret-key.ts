/** A database belongs to one secret key: with another one no stored credential could be decrypted. */
import type { Kysely } from 'kysely'
import type { SecretBox } from '../secret-box.ts'
import { SecretKeyMismatch } from '../failures/secret-key-mismatch.ts'
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
    throw new SecretKeyMismatch({ cause: error })
  }
}
