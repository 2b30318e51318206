/** Acts on one account: decided under its lock and written atomically. */
import type { Transaction } from 'kysely'
import type { JsonObject } from '../../../core/json.ts'
import type { AccountId } from '../../../core/ids.ts'
import type { Act, ActDecision, ActOutcome, ActStore, Idempotency } from '../../stores/customers.ts'
import { decodeAccount, encodeSubscription } from '../accounts/account-row.ts'
import type { AnnouncedWrite, Written } from '../announced-write.ts'
import { bookIn } from '../ledger/booking.ts'
import type { SqlEngine } from '../engine.ts'
import type { Schema } from '../schema.ts'
import { parseStored } from '../stored-json.ts'
import { checkRate } from '../ledger/own-rate.ts'
import { findTerms, removeTerms, writeTerms } from './subscriptions.ts'
import type { Announcement } from '../../announcement.ts'
import type { Account } from '../../stores/accounts.ts'

export function createActStore(engine: SqlEngine, write: AnnouncedWrite): ActStore {
  return {
    perform: <Refusal>(act: Act<Refusal>) =>
      write((transaction): Promise<Written<ActOutcome<Refusal>>> => performIn(engine, transaction, act)),
  }
}

async function performIn<Refusal>(
  engine: SqlEngine,
  transaction: Transaction<Schema>,
  act: Act<Refusal>,
): Promise<Written<ActOutcome<Refusal>>> {
  const account = await lockAccount(engine, transaction, act.accountId)
  if (account === undefined) return { value: { kind: 'no-account' }, changes: [] }
  const before = await findAnswer(transaction, act)
  if (before !== undefined) return { value: before, changes: [] }
  const terms = await findTerms(transaction, act.accountId)
  const decision = act.decide({ account, terms })
  if (decision.kind === 'refused') return { value: decision, changes: [] }
  if (decision.transfers.length > 0) {
    await checkRate(engine, transaction, act.creditsPerUnit)
    const booked = await bookIn(engine, transaction, decision.transfers, 'refuse')
    if (booked === undefined) {
      throw new Error(`the transaction of act ${act.operation} of ${act.accountId} was booked before`)
    }
  }
  await writeSubscription(transaction, act.accountId, decision)
  if (act.idempotency !== undefined) {
    await keepAnswer(transaction, act, { idempotency: act.idempotency, answer: decision.answer })
  }
  const changes: readonly Announcement[] = [{ kind: 'account', accountId: act.accountId }]
  return { value: { kind: 'done', answer: decision.answer, repeated: false }, changes }
}

export async function lockAccount(
  engine: SqlEngine,
  transaction: Transaction<Schema>,
  id: AccountId,
): Promise<Account | undefined> {
  const query = transaction.selectFrom('accounts').selectAll().where('id', '=', id)
  const row = await (engine.name === 'postgres' ? query.forUpdate() : query).executeTakeFirst()
  return row === undefined ? undefined : decodeAccount({ ...row })
}

/** What identifies a repeated act. */
export type ActName = Pick<Act<never>, 'accountId' | 'operation' | 'idempotency' | 'at'>

export async function findAnswer(
  transaction: Transaction<Schema>,
  { accountId, operation, idempotency }: ActName,
): Promise<Extract<ActOutcome<never>, { kind: 'done' | 'other-request' }> | undefined> {
  if (idempotency === undefined) return undefined
  const row = await transaction
    .selectFrom('idempotent_acts')
    .select(['fingerprint', 'answer'])
    .where('account_id', '=', accountId)
    .where('operation', '=', operation)
    .where('key', '=', idempotency.key)
    .executeTakeFirst()
  if (row === undefined) return undefined
  if (row.fingerprint !== idempotency.fingerprint) return { kind: 'other-request' }
  return { kind: 'done', answer: parseStored<JsonObject>(row.answer), repeated: true }
}

export async function keepAnswer(
  transaction: Transaction<Schema>,
  { accountId, operation, at }: ActName,
  kept: { readonly idempotency: Idempotency; readonly answer: JsonObject },
): Promise<void> {
  const { key, fingerprint } = kept.idempotency
  await transaction
    .insertInto('idempotent_acts')
    .values({ account_id: accountId, operation, key, fingerprint, at, answer: JSON.stringify(kept.answer) })
    .execute()
}

async function writeSubscription<Refusal>(
  transaction: Transaction<Schema>,
  id: AccountId,
  decision: Extract<ActDecision<Refusal>, { kind: 'done' }>,
): Promise<void> {
  if ('subscription' in decision) {
    const { subscription } = decision
    const text = subscription === undefined ? null : encodeSubscription(subscription)
    await transaction.updateTable('accounts').set({ subscription: text }).where('id', '=', id).execute()
  }
  if (!('terms' in decision)) return
  if (decision.terms === undefined) await removeTerms(transaction, id)
  else await writeTerms(transaction, id, decision.terms)
}
