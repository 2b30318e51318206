/** The ledger outside of calls: movements that are booked, and statements. */
import type { ExpressionBuilder, Kysely, Selectable, SelectQueryBuilder, Transaction } from 'kysely'
import type { Transfer } from '../../core/calls/hot-rows.ts'
import { type AccountId, accountId } from '../../core/ids.ts'
import { InvalidCursor } from '../invalid-cursor.ts'
import type { Announcement, LedgerStore } from '../storage.ts'
import type { AnnouncedWrite } from './announced-write.ts'
import { decodeCursor, type Place } from './cursor.ts'
import type { SqlEngine } from './engine.ts'
import { pageLimit } from './page.ts'
import type { Schema, TransfersTable } from './schema.ts'
import {
  concernedAccount,
  decodeTransfer,
  PLATFORM,
  splitLedgerAccount,
  transferColumns,
} from './transfer-row.ts'
import { verifyLedger } from './verify/verify-ledger.ts'

export function createLedgerStore(engine: SqlEngine, write: AnnouncedWrite): LedgerStore {
  return {
    book: (booked) =>
      write(async (transaction) => {
        const id = transactionOf(booked)
        const balances = await lockBalances(engine, transaction, balanceDeltas(booked))
        if (await isBooked(transaction, id)) return { value: false, changes: [] }
        for (const balance of balances) await writeBalance(transaction, balance)
        await transaction.insertInto('transfers').values(booked.map(transferColumns)).execute()
        const changes = balances.map(
          ({ id }): Announcement => ({ kind: 'account', accountId: accountId(id) }),
        )
        return { value: true, changes }
      }),

    async transfers({ accountId: account, limit, after }) {
      const place = after === undefined ? undefined : decodeCursor(after)
      const page =
        account === undefined ? everything(engine.reader, place) : statement(engine.reader, account, place)
      const rows = await page.limit(pageLimit(limit)).execute()
      return rows.map((row) => decodeTransfer({ ...row }))
    },

    verify: () => engine.withSnapshot(verifyLedger),
  }
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

/** What the transfers change of the balances stored with each customer's account. */
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

/** The balances as they will be; the rows stay locked, taken in order like in every transaction that moves money. */
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

type Transfers = SelectQueryBuilder<Schema, 'transfers', Selectable<TransfersTable>>

/** One account's movements, newest first. */
function statement(reader: Kysely<Schema>, account: AccountId, after: Place | undefined): Transfers {
  let query = reader.selectFrom('transfers').selectAll().where('account_id', '=', account)
  if (after !== undefined) {
    const at = BigInt(after.at)
    query = query
      .where('at', '<=', at)
      .where((where) => where.or([where('at', '<', at), beforeRow(where, after)]))
  }
  return query.orderBy('at', 'desc').orderBy('transaction_id', 'desc').orderBy('sequence', 'desc')
}

/** All movements, the latest transaction first: ids are UUIDv7, so that is newest first without another index. */
function everything(reader: Kysely<Schema>, after: Place | undefined): Transfers {
  let query = reader.selectFrom('transfers').selectAll()
  if (after !== undefined) query = query.where((where) => beforeRow(where, after))
  return query.orderBy('transaction_id', 'desc').orderBy('sequence', 'desc')
}

function beforeRow(where: ExpressionBuilder<Schema, 'transfers'>, { id }: Place) {
  const [, transaction, sequence] = /^(.+)#(\d{1,9})$/s.exec(id) ?? []
  if (transaction === undefined || sequence === undefined) throw new InvalidCursor()
  return where.or([
    where('transaction_id', '<', transaction),
    where.and([where('transaction_id', '=', transaction), where('sequence', '<', BigInt(sequence))]),
  ])
}
