/**
 * Statements of one account. Held Credits still belong to the account, so movements between the two are not entries, and
 * the sums agree: opening + entries = closing.
 */
import { type Kysely, sql } from 'kysely'
import type { AccountId } from '../../../core/ids.ts'
import { type MicroCredits, microCredits } from '../../../core/money.ts'
import type { Transfer } from '../../../core/ledger/hot-rows.ts'
import { InvalidCursor } from '../../failures/invalid-cursor.ts'
import type { PoolSums, StatementEntry, StatementStore } from '../../stores/customers.ts'
import { decodeCursor, transferCursor } from '../cursor.ts'
import type { SqlEngine } from '../engine.ts'
import { pageLimit } from '../page.ts'
import type { Schema } from '../schema.ts'
import { decodeTransfer, splitLedgerAccount } from '../ledger/transfer-row.ts'

/**
 * Not shown: movements inside an account's Credits (older releases), those of the quota, which is not the account's
 * money, and debts until they are charged.
 */
const SILENT: readonly Transfer['kind'][] = [
  'hold',
  'release',
  'quota-grant',
  'quota-charge',
  'quota-correction',
  'owed',
  'owed-correction',
]

export function createStatementStore(engine: SqlEngine): StatementStore {
  return {
    sums: (account, { from, until }) =>
      engine.withSnapshot(async (snapshot) => {
        const opening = await sumsBefore(snapshot, account, { from: undefined, until: from })
        const during = await sumsBefore(snapshot, account, { from, until })
        return { opening, closing: addSums(opening, during) }
      }),

    async entries(account, { from, until, limit, after }) {
      const wanted = pageLimit(limit)
      let query = engine.reader
        .selectFrom('transfers')
        .selectAll()
        .where('account_id', '=', account)
        .where('at', '>=', BigInt(from))
        .where('at', '<', BigInt(until))
        .where('kind', 'not in', SILENT)
      if (after !== undefined) {
        const { at, transaction, sequence } = placeOf(after)
        query = query
          .where('at', '>=', at)
          .where(sql<boolean>`(at, transaction_id, sequence) > (${at}, ${transaction}, ${sequence})`)
      }
      const rows = await query
        .orderBy('at')
        .orderBy('transaction_id')
        .orderBy('sequence')
        .limit(wanted)
        .execute()
      const transfers = rows.map((row) => decodeTransfer({ ...row }))
      const last = transfers.at(-1)
      return {
        entries: transfers.map((transfer) => entryOf(account, transfer)),
        next: transfers.length === wanted && last !== undefined ? transferCursor(last) : undefined,
      }
    },
  }
}

function placeOf(cursor: string) {
  const { at, id } = decodeCursor(cursor)
  const [, transaction, sequence] = /^(.+)#(\d{1,9})$/s.exec(id) ?? []
  if (transaction === undefined || sequence === undefined) throw new InvalidCursor()
  return { at: BigInt(at), transaction, sequence: BigInt(sequence) }
}

async function sumsBefore(
  snapshot: Kysely<Schema>,
  account: AccountId,
  { from, until }: { readonly from: number | undefined; readonly until: number },
): Promise<PoolSums> {
  let query = snapshot
    .selectFrom('transfers')
    // As text: a sum may be wider than its terms, and PostgreSQL's type for it is not an integer.
    .select(['debit', 'credit', sql<string>`cast(sum(amount) as text)`.as('amount')])
    .where('account_id', '=', account)
    .where('at', '<', BigInt(until))
    .where('kind', 'not in', SILENT)
  if (from !== undefined) query = query.where('at', '>=', BigInt(from))
  const rows = await query.groupBy(['debit', 'credit']).execute()
  let sums: PoolSums = { credits: microCredits(0n), balance: microCredits(0n) }
  for (const { debit, credit, amount } of rows) {
    sums = addSums(sums, changeOf(account, { debit, credit, amount: microCredits(BigInt(amount)) }))
  }
  return sums
}

function entryOf(account: AccountId, transfer: Transfer): StatementEntry {
  return {
    transactionId: transfer.transactionId,
    sequence: transfer.sequence,
    at: transfer.at,
    kind: transfer.kind,
    ...changeOf(account, transfer),
    reference: transfer.reference,
  }
}

type Move = Pick<Transfer, 'debit' | 'credit' | 'amount'>

function changeOf(account: AccountId, { debit, credit, amount }: Move): PoolSums {
  const taken = poolChange(account, debit, microCredits(-amount))
  return addSums(taken, poolChange(account, credit, amount))
}

function poolChange(account: AccountId, name: string, amount: MicroCredits): PoolSums {
  const { owner, pool } = splitLedgerAccount(name)
  const own = owner === account
  return {
    credits: own && (pool === 'credits' || pool === 'held') ? amount : microCredits(0n),
    balance: own && pool === 'balance' ? amount : microCredits(0n),
  }
}

function addSums(left: PoolSums, right: PoolSums): PoolSums {
  return {
    credits: microCredits(left.credits + right.credits),
    balance: microCredits(left.balance + right.balance),
  }
}
