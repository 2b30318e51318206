/** The ledger outside of calls: movements that are booked, and statements. */
import type { ExpressionBuilder, Kysely, Selectable, SelectQueryBuilder } from 'kysely'
import type { AccountId } from '../../../core/ids.ts'
import { InvalidCursor } from '../../failures/invalid-cursor.ts'
import type { AnnouncedWrite } from '../announced-write.ts'
import { bookIn } from './booking.ts'
import { decodeCursor, type Place } from '../cursor.ts'
import type { SqlEngine } from '../engine.ts'
import { pageLimit } from '../page.ts'
import type { Schema, TransfersTable } from '../schema.ts'
import { decodeTransfer } from './transfer-row.ts'
import { verifyLedger } from '../verify/verify-ledger.ts'
import { checkRate } from './own-rate.ts'
import type { Announcement } from '../../announcement.ts'
import type { LedgerStore } from '../../stores/ledger.ts'

export function createLedgerStore(
  engine: SqlEngine,
  reader: Kysely<Schema>,
  write: AnnouncedWrite,
): LedgerStore {
  return {
    book: (booked, { overdraw = 'refuse', creditsPerUnit } = {}) =>
      write(async (transaction) => {
        await checkRate(engine, transaction, creditsPerUnit)
        const changed = await bookIn(engine, transaction, booked, overdraw)
        const changes = (changed ?? []).map((id): Announcement => ({ kind: 'account', accountId: id }))
        return { value: changed !== undefined, changes }
      }),

    async transaction(id) {
      const rows = await reader
        .selectFrom('transfers')
        .selectAll()
        .where('transaction_id', '=', id)
        .orderBy('sequence')
        .execute()
      return rows.map((row) => decodeTransfer({ ...row }))
    },

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
