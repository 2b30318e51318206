/**
 * Moves money from an owner's own account to their organisation's, through a pool of the platform, because no transfer
 * may have two customers.
 */
import type { Transaction } from 'kysely'
import type { Transfer } from '../../../core/ledger/hot-rows.ts'
import { balancePool, creditsPool } from '../../../core/ledger/ledger.ts'
import type { AccountId } from '../../../core/ids.ts'
import { isJsonObject } from '../../../core/json.ts'
import { type MicroCredits, microCredits } from '../../../core/money.ts'
import type { FundingOutcome, OrganisationFunding } from '../../stores/organisations.ts'
import { decodeAccount } from '../accounts/account-row.ts'
import type { Written } from '../announced-write.ts'
import { bookIn } from '../ledger/booking.ts'
import type { SqlEngine } from '../engine.ts'
import { findAnswer, keepAnswer } from '../customers/acts.ts'
import type { Schema } from '../schema.ts'
import type { Account } from '../../stores/accounts.ts'

/** Always zero: amounts leave it in the transaction in which they enter it. */
export const PASSING = 'platform/passing'
const OPERATION = 'fund-organisation'

export async function fundIn(
  engine: SqlEngine,
  transaction: Transaction<Schema>,
  funding: OrganisationFunding,
): Promise<Written<FundingOutcome>> {
  const answer = (value: FundingOutcome): Written<FundingOutcome> => ({ value, changes: [] })
  const { person, organisation, amount, transactionId, idempotency, at } = funding
  if (amount <= 0n) throw new Error('an organisation is funded with more than nothing')
  const giver = await lockBoth(engine, transaction, { person, organisation })
  if (giver === undefined) return answer({ kind: 'none' })
  const name = { accountId: person, operation: OPERATION, idempotency, at }
  const before = await findAnswer(transaction, name)
  if (before !== undefined) return answer(before.kind === 'done' ? repeated(before.answer) : before)
  if (!(await isOwner(transaction, { person, organisation }))) return answer({ kind: 'none' })
  const available = availableOf(giver, funding)
  if (available < amount) return answer({ kind: 'too-little', available })
  const booked = await bookIn(engine, transaction, transfersOf(funding), 'refuse')
  if (booked === undefined) throw new Error(`the transaction ${transactionId} was booked before`)
  if (idempotency !== undefined) {
    await keepAnswer(transaction, name, { idempotency, answer: { transactionId } })
  }
  return {
    value: { kind: 'funded', transactionId, repeated: false },
    changes: booked.map((accountId) => ({ kind: 'account', accountId })),
  }
}

type Parties = Pick<OrganisationFunding, 'person' | 'organisation'>

/** Locks in order of id, like every lock on several accounts; returns the person's. */
async function lockBoth(
  engine: SqlEngine,
  transaction: Transaction<Schema>,
  { person, organisation }: Parties,
): Promise<Account | undefined> {
  const query = transaction
    .selectFrom('accounts')
    .selectAll()
    .where('id', 'in', [person, organisation])
    .orderBy('id')
  const rows = await (engine.name === 'postgres' ? query.forUpdate() : query).execute()
  const row = rows.find(({ id }) => id === person)
  return row === undefined ? undefined : decodeAccount({ ...row })
}

async function isOwner(
  transaction: Transaction<Schema>,
  { person, organisation }: Parties,
): Promise<boolean> {
  const row = await transaction
    .selectFrom('members')
    .innerJoin('organisations', 'organisations.id', 'members.organisation_id')
    .innerJoin('accounts', 'accounts.id', 'members.account_id')
    .select('members.id')
    .where('members.organisation_id', '=', organisation)
    .where('members.account_id', '=', person)
    .where('members.role', '=', 'owner')
    .where('members.status', '=', 'active')
    .where('accounts.status', '=', 'active')
    .where('organisations.closed_at', 'is', null)
    .executeTakeFirst()
  return row !== undefined
}

/** Never below zero, and never including what running calls hold. */
function availableOf(account: Account, { pool }: OrganisationFunding): MicroCredits {
  const left = pool === 'credits' ? account.credits - account.held : account.balance
  return microCredits(left > 0n ? left : 0n)
}

function transfersOf({
  person,
  organisation,
  pool,
  amount,
  transactionId,
  at,
}: OrganisationFunding): readonly Transfer[] {
  const poolOf = (id: AccountId) => (pool === 'credits' ? creditsPool(id) : balancePool(id))
  const both = { transactionId, at, amount, kind: 'transfer' } as const
  return [
    { ...both, sequence: 0, debit: poolOf(person), credit: PASSING, reference: organisation },
    { ...both, sequence: 1, debit: PASSING, credit: poolOf(organisation), reference: person },
  ]
}

function repeated(answer: unknown): FundingOutcome {
  const transactionId = isJsonObject(answer) ? answer['transactionId'] : undefined
  if (typeof transactionId !== 'string')
    throw new Error('the stored answer of a funding names no transaction')
  return { kind: 'funded', transactionId, repeated: true }
}
