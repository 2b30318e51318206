/** Closes an organisation: it is no longer possible to act or call for it; its history is kept. */
import { sql, type Transaction } from 'kysely'
import { type AccountId, accountId } from '../../../core/ids.ts'
import { microCredits } from '../../../core/money.ts'
import type { CloseOutcome } from '../../stores/organisations.ts'
import type { Written } from '../announced-write.ts'
import type { SqlEngine } from '../engine.ts'
import type { Schema } from '../schema.ts'
import { chargeOwedIn } from '../ledger/owed.ts'
import { lockOrganisation } from './lock-organisation.ts'
import { deleteKeys } from './member-keys.ts'
import type { Announcement } from '../../announcement.ts'

export interface Closing {
  readonly id: AccountId
  readonly at: number
  readonly forfeit: 'refuse' | 'allow'
  readonly newId: () => string
}

export async function closeIn(
  engine: SqlEngine,
  transaction: Transaction<Schema>,
  { id, at, forfeit, newId }: Closing,
): Promise<Written<CloseOutcome>> {
  const refused = (value: CloseOutcome): Written<CloseOutcome> => ({ value, changes: [] })
  const organisation = await lockOrganisation(engine, transaction, id)
  if (organisation === undefined) return refused({ kind: 'none' })
  const calls = await countCalls(transaction, id)
  if (calls > 0) return refused({ kind: 'calls-run', calls })
  const account = await transaction
    .selectFrom('accounts')
    .select(['credits', 'balance', 'owed'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  // What is owed is charged at the end, whatever the cap.
  const left = {
    credits: microCredits(account.credits - account.owed),
    balance: microCredits(account.balance),
  }
  if ((left.credits !== 0n || left.balance !== 0n) && forfeit === 'refuse') {
    return refused({ kind: 'money-left', ...left })
  }
  const changes = [
    ...(await deleteKeys(transaction, { organisation: id })),
    ...(await removeMembers(transaction, id)),
  ]
  await endAccount(transaction, id)
  await chargeOwedIn(transaction, [id], { engine, newId, at })
  await transaction.updateTable('organisations').set({ closed_at: at }).where('id', '=', id).execute()
  return { value: { kind: 'closed', ...left }, changes: [{ kind: 'account', accountId: id }, ...changes] }
}

/** Under the lock, so that no call of it can begin. */
async function countCalls(transaction: Transaction<Schema>, id: AccountId): Promise<number> {
  const { calls } = await transaction
    .selectFrom('open_calls')
    .select(sql<bigint>`count(*)`.as('calls'))
    .where('account_id', '=', id)
    .where('recovered_at', 'is', null)
    .executeTakeFirstOrThrow()
  return Number(calls)
}

async function removeMembers(
  transaction: Transaction<Schema>,
  id: AccountId,
): Promise<readonly Announcement[]> {
  const removed = await transaction
    .updateTable('members')
    .set({ status: 'removed' })
    .where('organisation_id', '=', id)
    .where('status', '<>', 'removed')
    .returning('account_id')
    .execute()
  return removed.map((row) => ({ kind: 'account', accountId: accountId(row.account_id) }))
}

/** Stops renewals and mails, and removes secrets. */
async function endAccount(transaction: Transaction<Schema>, id: AccountId): Promise<void> {
  await transaction
    .updateTable('accounts')
    .set({ status: 'suspended', monthly_cap: 0, subscription: null, byok_vendors: '[]' })
    .where('id', '=', id)
    .execute()
  for (const table of ['subscriptions', 'byok', 'watched_accounts'] as const) {
    await transaction.deleteFrom(table).where('account_id', '=', id).execute()
  }
  await transaction
    .updateTable('invitations')
    .set({ status: 'revoked' })
    .where('organisation_id', '=', id)
    .where('status', '=', 'pending')
    .execute()
}
