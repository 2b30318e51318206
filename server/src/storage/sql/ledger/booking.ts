/** Writes movements together with the balances they change, in the caller's transaction. */
import type { Transaction } from 'kysely'
import type { Transfer } from '../../../core/ledger/hot-rows.ts'
import { type AccountId, accountId } from '../../../core/ids.ts'
import {
  AMOUNT_MAX,
  MICRO_CREDITS_PER_CREDIT,
  type MicroCredits,
  microCredits,
  POOL_MAX,
} from '../../../core/money.ts'
import { AmountTooLarge } from '../../failures/amount-refused.ts'
import { Overdraft } from '../../failures/overdraft.ts'
import type { SqlEngine } from '../engine.ts'
import type { Schema } from '../schema.ts'
import { concernedAccount, PLATFORM, splitLedgerAccount, transferColumns } from './transfer-row.ts'

/** `allow`: a debt is meant to be booked, such as a payment that the bank took back. */
export type OverdrawRule = 'refuse' | 'allow'

/** undefined: this transaction was booked before; otherwise the accounts whose balances changed. */
export async function bookIn(
  engine: SqlEngine,
  transaction: Transaction<Schema>,
  booked: readonly Transfer[],
  overdraw: OverdrawRule,
): Promise<readonly AccountId[] | undefined> {
  const id = transactionOf(booked)
  const deltas = balanceDeltas(booked)
  const balances = await lockBalances(engine, transaction, deltas)
  if (await isBooked(transaction, id)) return undefined
  for (const { amount } of booked) refuseLarge(amount)
  if (overdraw === 'refuse') for (const balance of balances) refuseOverdraft(balance, deltas)
  for (const balance of balances) refuseFull(balance, deltas)
  for (const balance of balances) await writeBalance(transaction, balance)
  await transaction.insertInto('transfers').values(booked.map(transferColumns)).execute()
  return balances.map((balance) => accountId(balance.id))
}

/** One booking is one transaction of the ledger. */
function transactionOf(booked: readonly Transfer[]): string {
  const [first, ...others] = booked
  if (first === undefined) throw new Error('a booking needs at least one transfer')
  if (others.some((transfer) => transfer.transactionId !== first.transactionId)) {
    throw new Error('all transfers of a booking carry the same transaction id')
  }
  return first.transactionId
}

interface Delta {
  /** Spendable and held together, as the account row keeps them. */
  credits: bigint
  held: bigint
  balance: bigint
}

/** The changes that the transfers make to the balances stored with each customer's account. */
function balanceDeltas(booked: readonly Transfer[]): ReadonlyMap<string, Delta> {
  const deltas = new Map<string, Delta>()
  for (const transfer of booked) {
    const concerned = concernedAccount(transfer)
    if (concerned === undefined) continue
    const delta = deltas.get(concerned) ?? { credits: 0n, held: 0n, balance: 0n }
    deltas.set(concerned, delta)
    move(delta, transfer.debit, -transfer.amount)
    move(delta, transfer.credit, transfer.amount)
  }
  return deltas
}

function move(delta: Delta, account: string, amount: bigint): void {
  const { owner, pool } = splitLedgerAccount(account)
  if (owner === PLATFORM) return
  if (pool === 'balance') delta.balance += amount
  if (pool === 'held') delta.held += amount
  if (pool === 'credits' || pool === 'held') delta.credits += amount
}

interface Balance extends Readonly<Delta> {
  readonly id: string
}

/** The resulting balances; the rows stay locked, in the order that every money transaction uses. */
async function lockBalances(
  engine: SqlEngine,
  transaction: Transaction<Schema>,
  deltas: ReadonlyMap<string, Delta>,
): Promise<readonly Balance[]> {
  if (deltas.size === 0) return []
  const query = transaction
    .selectFrom('accounts')
    .select(['id', 'credits', 'held', 'balance'])
    .where('id', 'in', [...deltas.keys()])
    .orderBy('id')
  const rows = await (engine.name === 'postgres' ? query.forUpdate() : query).execute()
  const before = new Map(rows.map((row) => [row.id, row]))
  return [...deltas].map(([id, delta]) => {
    const row = before.get(id)
    if (row === undefined) throw new Error(`there is no account ${id} to book on`)
    return {
      id,
      credits: row.credits + delta.credits,
      held: row.held + delta.held,
      balance: row.balance + delta.balance,
    }
  })
}

/**
 * A debited pool may not fall below zero. A pool that an overrun left below zero may be credited with any amount. Held
 * Credits belong to running calls, so a booking may not take them.
 */
function refuseOverdraft(after: Balance, deltas: ReadonlyMap<string, Delta>): void {
  const delta = deltas.get(after.id) ?? { credits: 0n, held: 0n, balance: 0n }
  const pools = [
    { pool: 'credits', change: delta.credits - delta.held, left: after.credits - after.held },
    { pool: 'held', change: delta.held, left: after.held },
    { pool: 'balance', change: delta.balance, left: after.balance },
  ]
  for (const { pool, change, left } of pools) {
    if (change < 0n && left < 0n) throw new Overdraft(`${after.id}/${pool}`, microCredits(-left))
  }
}

function refuseLarge(amount: MicroCredits): void {
  if (amount > AMOUNT_MAX)
    throw new AmountTooLarge(`one booking is ${AMOUNT_MAX / MICRO_CREDITS_PER_CREDIT} Credits at most`)
}

/** A pool at its limit may still be debited. */
function refuseFull(after: Balance, deltas: ReadonlyMap<string, Delta>): void {
  const delta = deltas.get(after.id) ?? { credits: 0n, held: 0n, balance: 0n }
  for (const pool of ['credits', 'balance'] as const) {
    if (delta[pool] > 0n && after[pool] > POOL_MAX)
      throw new AmountTooLarge(
        `with that the account would have more ${pool} than ${POOL_MAX / MICRO_CREDITS_PER_CREDIT} Credits are worth`,
      )
  }
}

async function isBooked(transaction: Transaction<Schema>, id: string): Promise<boolean> {
  const row = await transaction
    .selectFrom('transfers')
    .select('sequence')
    .where('transaction_id', '=', id)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

async function writeBalance(
  transaction: Transaction<Schema>,
  { id, credits, held, balance }: Balance,
): Promise<void> {
  await transaction.updateTable('accounts').set({ credits, held, balance }).where('id', '=', id).execute()
}
