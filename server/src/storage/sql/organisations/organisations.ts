/** Making and listing organisations. */
import type { Kysely, Transaction } from 'kysely'
import { UNLIMITED } from '../../../core/limits/policy.ts'
import { ZERO } from '../../../core/money.ts'
import type { Member, Organisation, OrganisationPage } from '../../stores/organisations.ts'
import { newAccount } from '../accounts/accounts.ts'
import type { Written } from '../announced-write.ts'
import { pageLimit } from '../page.ts'
import type { Schema } from '../schema.ts'
import { decodeOrganisation } from './lock-organisation.ts'
import { insertMember } from './members.ts'

export async function createIn(
  transaction: Transaction<Schema>,
  { id, name, createdAt }: Organisation,
  owner: Pick<Member, 'id' | 'accountId'>,
): Promise<Written<void>> {
  await transaction
    .insertInto('accounts')
    .values({ ...newAccount(), kind: 'organisation', id, created_at: createdAt })
    .execute()
  await transaction.insertInto('organisations').values({ id, name, created_at: createdAt }).execute()
  await insertMember(transaction, {
    id: owner.id,
    organisationId: id,
    accountId: owner.accountId,
    role: 'owner',
    monthlyCap: ZERO,
    policy: UNLIMITED,
    joinedAt: createdAt,
  })
  return {
    value: undefined,
    changes: [
      { kind: 'account', accountId: id },
      { kind: 'account', accountId: owner.accountId },
    ],
  }
}

export async function listOrganisations(
  reader: Kysely<Schema>,
  { limit, after }: OrganisationPage,
): Promise<readonly Organisation[]> {
  const rows = await reader
    .selectFrom('organisations')
    .selectAll()
    .where('id', '>', after ?? '')
    .where('closed_at', 'is', null)
    .orderBy('id')
    .limit(pageLimit(limit))
    .execute()
  return rows.map(decodeOrganisation)
}
