/** Every change of an organisation first takes the lock of its account, which its calls also take. */
import type { Selectable, Transaction } from 'kysely'
import { type AccountId, accountId } from '../../../core/ids.ts'
import type { Organisation } from '../../stores/organisations.ts'
import type { SqlEngine } from '../engine.ts'
import type { Schema } from '../schema.ts'
import type { OrganisationsTable } from '../schema/organisations.ts'

/** undefined: it does not exist, or was closed. */
export async function lockOrganisation(
  engine: SqlEngine,
  transaction: Transaction<Schema>,
  id: AccountId,
): Promise<Organisation | undefined> {
  const account = transaction.selectFrom('accounts').select('id').where('id', '=', id)
  await (engine.name === 'postgres' ? account.forNoKeyUpdate() : account).executeTakeFirst()
  const row = await transaction
    .selectFrom('organisations')
    .selectAll()
    .where('id', '=', id)
    .where('closed_at', 'is', null)
    .executeTakeFirst()
  return row === undefined ? undefined : decodeOrganisation(row)
}

export function decodeOrganisation(row: Selectable<OrganisationsTable>): Organisation {
  return { id: accountId(row.id), name: row.name, createdAt: Number(row.created_at) }
}
