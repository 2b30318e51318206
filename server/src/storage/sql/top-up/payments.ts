/**
 * Top-ups and providers' reports about payments. Locks are taken in one order: the payment, its top-up, the account.
 * Every report about a payment goes through its row, so that a refund reported before the payment is not lost.
 */
import type { Insertable, Selectable, Transaction, Updateable } from 'kysely'
import type { Transfer } from '../../../core/ledger/hot-rows.ts'
import { balancePool, creditsPool } from '../../../core/ledger/ledger.ts'
import { accountId } from '../../../core/ids.ts'
import { type MicroCredits, microCredits, ZERO } from '../../../core/money.ts'
import {
  creditOf,
  mergeReversal,
  NO_FACTS,
  paymentState,
  type PaymentFacts,
  type Pool,
  takeBack,
} from '../../../core/top-up/payment.ts'
import type { Idempotency } from '../../stores/customers.ts'
import {
  type Checkout,
  type NewTopUp,
  type Payment,
  type PaymentOutcome,
  type PaymentStore,
  TOP_UP_STATUSES,
  type TopUp,
  type TopUpStatus,
} from '../../stores/top-ups.ts'
import type { Written } from '../announced-write.ts'
import { bookIn } from '../ledger/booking.ts'
import type { SqlEngine } from '../engine.ts'
import { lockAccount } from '../customers/acts.ts'
import { pageLimit } from '../page.ts'
import type { Schema } from '../schema.ts'
import type { TopUpsTable } from '../schema/top-ups.ts'
import { parseStored } from '../stored-json.ts'
import { checkRate } from '../ledger/own-rate.ts'
import { poolOf, type RedemptionStoreOptions } from './redemption-codes.ts'

type BeginOutcome = Awaited<ReturnType<PaymentStore['begin']>>

/** Counter account of incoming payments. */
export const DEPOSITS = 'platform/deposits'

export function createPaymentStore({ engine, reader, write }: RedemptionStoreOptions): PaymentStore {
  return {
    async find(id) {
      const row = await reader.selectFrom('top_ups').selectAll().where('id', '=', id).executeTakeFirst()
      return row === undefined ? undefined : decodeTopUp(row)
    },

    async list({ accountId: account, status }, { limit, after }) {
      let query = reader.selectFrom('top_ups').selectAll()
      if (account !== undefined) query = query.where('account_id', '=', account)
      if (status !== undefined) query = query.where('status', '=', status)
      if (after !== undefined) query = query.where('id', '<', after)
      const rows = await query.orderBy('id', 'desc').limit(pageLimit(limit)).execute()
      return rows.map(decodeTopUp)
    },

    begin: (topUp, idempotency, { creditsPerUnit } = {}) =>
      write(async (transaction) => {
        await checkRate(engine, transaction, creditsPerUnit)
        return { value: await beginIn(transaction, topUp, idempotency), changes: [] }
      }),
    opened: (id, checkout) =>
      write(async (transaction) => ({ value: await keepCheckout(transaction, id, checkout), changes: [] })),
    pay: (payment) => write((transaction) => payIn(engine, transaction, payment)),
    reverse: (told) => write((transaction) => reverseIn(engine, transaction, told)),
    close: (closed) =>
      write(async (transaction) => ({ value: await closeIn(transaction, closed), changes: [] })),
  }
}

async function beginIn(
  transaction: Transaction<Schema>,
  topUp: NewTopUp,
  idempotency: Idempotency | undefined,
): Promise<BeginOutcome> {
  const fingerprint = idempotency?.fingerprint ?? ''
  await transaction
    .insertInto('top_ups')
    .values({ ...columnsOf(topUp), idempotency_key: idempotency?.key ?? null, fingerprint })
    .onConflict((conflict) =>
      conflict
        .columns(['account_id', 'idempotency_key'])
        .where('idempotency_key', 'is not', null)
        .doNothing(),
    )
    .execute()
  const query = transaction.selectFrom('top_ups').selectAll().where('account_id', '=', topUp.accountId)
  const row = await (idempotency === undefined
    ? query.where('id', '=', topUp.id)
    : query.where('idempotency_key', '=', idempotency.key)
  ).executeTakeFirstOrThrow()
  if (row.fingerprint !== fingerprint) return { kind: 'other-request' }
  return { kind: 'begun', topUp: decodeTopUp(row) }
}

async function keepCheckout(
  transaction: Transaction<Schema>,
  id: string,
  { reference, url, endsAt }: Checkout,
): Promise<TopUp> {
  // A top-up that a webhook named before this write has its reference, but no page yet.
  await transaction
    .updateTable('top_ups')
    .set({ checkout: reference, checkout_url: url, ends_at: endsAt })
    .where('id', '=', id)
    .where('checkout_url', 'is', null)
    .where((where) => where.or([where('checkout', 'is', null), where('checkout', '=', reference)]))
    .execute()
  const query = transaction.selectFrom('top_ups').selectAll().where('id', '=', id)
  return decodeTopUp(await query.executeTakeFirstOrThrow())
}

async function closeIn(
  transaction: Transaction<Schema>,
  { driver, topUpId, checkout, why }: Parameters<PaymentStore['close']>[0],
): Promise<boolean> {
  const { numUpdatedRows } = await transaction
    .updateTable('top_ups')
    .set({ status: why })
    .where('id', '=', topUpId)
    .where('driver', '=', driver)
    .where('status', '=', 'open')
    .where((where) => where.or([where('checkout', 'is', null), where('checkout', '=', checkout)]))
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

async function reverseIn(
  engine: SqlEngine,
  transaction: Transaction<Schema>,
  { reversal, ...named }: Parameters<PaymentStore['reverse']>[0],
): Promise<Written<PaymentOutcome>> {
  const known = await lockPayment(transaction, named)
  const facts = mergeReversal(known.facts, reversal)
  await putPayment(transaction, named, { topUpId: known.topUpId, facts })
  if (known.topUpId === undefined) return { value: { kind: 'unknown' }, changes: [] }
  const row = await lockTopUp(engine, transaction, known.topUpId)
  if (row === undefined) throw new Error(`a payment was for ${known.topUpId}, which is gone`)
  return settleIn(engine, transaction, { row, facts, at: named.at })
}

async function payIn(
  engine: SqlEngine,
  transaction: Transaction<Schema>,
  payment: Payment,
): Promise<Written<PaymentOutcome>> {
  const { driver, topUpId, at } = payment
  const known = await lockPayment(transaction, payment)
  const row = await lockTopUp(engine, transaction, topUpId)
  if (row === undefined || row.driver !== driver) return { value: { kind: 'unknown' }, changes: [] }
  const paidBefore = row.paid_at !== null
  if (!isAsAsked(row, payment) || (paidBefore && known.topUpId !== topUpId)) {
    const topUp = paidBefore ? row : await putTopUp(transaction, row, { status: 'review' })
    return { value: { kind: 'mismatch', topUp: decodeTopUp(topUp) }, changes: [] }
  }
  await putPayment(transaction, payment, { topUpId, facts: known.facts })
  // A checkout that was paid before its reference was stored is found through its webhook.
  const paid = { paid_at: row.paid_at ?? at, checkout: row.checkout ?? payment.checkout }
  return settleIn(engine, transaction, {
    row: await putTopUp(transaction, row, paid),
    facts: known.facts,
    at,
  })
}

type TopUpRow = Selectable<TopUpsTable>

function isAsAsked(row: TopUpRow, { checkout, amountMinor, currency }: Payment): boolean {
  const sameCheckout = row.checkout === null || row.checkout === checkout
  return sameCheckout && Number(row.price_minor) === amountMinor && row.currency === currency
}

/** Books the difference between what the account has of the payment and what it should have. */
async function settleIn(
  engine: SqlEngine,
  transaction: Transaction<Schema>,
  known: { readonly row: TopUpRow; readonly facts: PaymentFacts; readonly at: number },
): Promise<Written<PaymentOutcome>> {
  const { row, facts, at } = known
  const price = { priceMinor: Number(row.price_minor), currency: row.currency }
  const should = creditOf(facts, price, microCredits(row.amount))
  const moved = microCredits(should - row.booked)
  const status = paymentState(facts, price)
  if (moved === 0n) {
    const same = row.status === status ? row : await putTopUp(transaction, row, { status })
    return { value: { kind: 'noted', topUp: decodeTopUp(same), moved }, changes: [] }
  }
  const account = await lockAccount(engine, transaction, accountId(row.account_id))
  if (account === undefined) throw new Error(`the account of top-up ${row.id} is gone`)
  const parts =
    moved > 0n
      ? [{ pool: poolOf(row.pool), amount: moved }]
      : takeBack(
          { credits: microCredits(account.credits - account.held), balance: account.balance },
          poolOf(row.pool),
          microCredits(-moved),
        )
  const transfers = parts.map((part, sequence) => transferOf(row, { ...part, moved, sequence, at }))
  const booked = await bookIn(engine, transaction, transfers, 'allow')
  if (booked === undefined) throw new Error(`booking ${row.bookings} of top-up ${row.id} was made before`)
  const changed = { status, booked: should, bookings: row.bookings + 1n }
  return {
    value: { kind: 'noted', topUp: decodeTopUp(await putTopUp(transaction, row, changed)), moved },
    changes: [{ kind: 'account', accountId: account.id }],
  }
}

function transferOf(
  row: TopUpRow,
  part: {
    readonly pool: Pool
    readonly amount: MicroCredits
    readonly moved: MicroCredits
    readonly sequence: number
    readonly at: number
  },
): Transfer {
  const account = accountId(row.account_id)
  const own = part.pool === 'credits' ? creditsPool(account) : balancePool(account)
  const comes = part.moved > 0n
  return {
    transactionId: `${row.id}#${row.bookings}`,
    sequence: part.sequence,
    at: part.at,
    debit: comes ? DEPOSITS : own,
    credit: comes ? own : DEPOSITS,
    amount: part.amount,
    kind: comes ? 'top-up' : 'refund',
    reference: row.id,
  }
}

interface PaymentName {
  readonly driver: string
  readonly payment: string
  readonly at: number
}

interface KnownPayment {
  readonly topUpId: string | undefined
  readonly facts: PaymentFacts
}

/** Locks the payment's row, creating it if necessary. */
async function lockPayment(
  transaction: Transaction<Schema>,
  { driver, payment, at }: PaymentName,
): Promise<KnownPayment> {
  const row = await transaction
    .insertInto('payments')
    .values({ driver, reference: payment, top_up_id: null, facts: JSON.stringify(NO_FACTS), changed_at: at })
    .onConflict((conflict) => conflict.columns(['driver', 'reference']).doUpdateSet({ changed_at: at }))
    .returning(['top_up_id', 'facts'])
    .executeTakeFirstOrThrow()
  const facts = parseStored<Omit<PaymentFacts, 'refundedInAll'> & Partial<PaymentFacts>>(row.facts)
  return {
    topUpId: row.top_up_id ?? undefined,
    facts: { ...facts, refundedInAll: facts.refundedInAll },
  }
}

async function putPayment(
  transaction: Transaction<Schema>,
  { driver, payment }: Pick<PaymentName, 'driver' | 'payment'>,
  { topUpId, facts }: KnownPayment,
): Promise<void> {
  await transaction
    .updateTable('payments')
    .set({ top_up_id: topUpId ?? null, facts: JSON.stringify(facts) })
    .where('driver', '=', driver)
    .where('reference', '=', payment)
    .execute()
}

async function lockTopUp(
  engine: SqlEngine,
  transaction: Transaction<Schema>,
  id: string,
): Promise<TopUpRow | undefined> {
  const query = transaction.selectFrom('top_ups').selectAll().where('id', '=', id)
  return (engine.name === 'postgres' ? query.forUpdate() : query).executeTakeFirst()
}

async function putTopUp(
  transaction: Transaction<Schema>,
  row: TopUpRow,
  changed: Updateable<TopUpsTable>,
): Promise<TopUpRow> {
  return transaction
    .updateTable('top_ups')
    .set(changed)
    .where('id', '=', row.id)
    .returningAll()
    .executeTakeFirstOrThrow()
}

function columnsOf(topUp: NewTopUp): Omit<Insertable<TopUpsTable>, 'idempotency_key' | 'fingerprint'> {
  return {
    id: topUp.id,
    account_id: topUp.accountId,
    driver: topUp.driver,
    status: 'open',
    currency: topUp.currency,
    price_minor: topUp.priceMinor,
    pool: topUp.pool,
    amount: topUp.amount,
    package: topUp.package ?? null,
    checkout: null,
    checkout_url: null,
    ends_at: null,
    created_at: topUp.createdAt,
    paid_at: null,
    booked: ZERO,
    bookings: 0,
  }
}

function decodeTopUp(row: TopUpRow): TopUp {
  const { checkout: reference, checkout_url: url, ends_at: endsAt } = row
  return {
    id: row.id,
    accountId: accountId(row.account_id),
    driver: row.driver,
    status: statusOf(row.status),
    currency: row.currency,
    priceMinor: Number(row.price_minor),
    pool: poolOf(row.pool),
    amount: microCredits(row.amount),
    package: row.package ?? undefined,
    checkout:
      reference === null || url === null || endsAt === null
        ? undefined
        : { reference, url, endsAt: Number(endsAt) },
    createdAt: Number(row.created_at),
    paidAt: row.paid_at === null ? undefined : Number(row.paid_at),
    booked: microCredits(row.booked),
  }
}

function statusOf(text: string): TopUpStatus {
  const status = TOP_UP_STATUSES.find((one) => one === text)
  if (status === undefined) throw new Error(`a stored top-up has the status ${text}`)
  return status
}
