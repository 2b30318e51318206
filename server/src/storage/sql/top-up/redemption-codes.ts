/** Redemption codes over SQL. Locks are taken in one order: the account, its batch, the code. */
import type { Kysely, Selectable, Transaction } from 'kysely'
import type { Transfer } from '../../../core/ledger/hot-rows.ts'
import { balancePool, creditsPool } from '../../../core/ledger/ledger.ts'
import { type AccountId, accountId } from '../../../core/ids.ts'
import { microCredits } from '../../../core/money.ts'
import type { Pool } from '../../../core/top-up/payment.ts'
import type {
  NewRedemptionCode,
  Redemption,
  RedemptionBatch,
  RedemptionCode,
  RedemptionOutcome,
  RedemptionStore,
  ShownBatch,
} from '../../stores/top-ups.ts'
import type { AnnouncedWrite, Written } from '../announced-write.ts'
import { bookIn } from '../ledger/booking.ts'
import type { SqlEngine } from '../engine.ts'
import { findAnswer, keepAnswer, lockAccount } from '../customers/acts.ts'
import { pageLimit } from '../page.ts'
import type { Schema } from '../schema.ts'
import type { RedemptionBatchesTable, RedemptionCodesTable } from '../schema/top-ups.ts'
import { checkRate } from '../ledger/own-rate.ts'

/** Both engines limit the parameters of one statement; this stays far below either. */
const CODES_PER_INSERT = 1_000
const OPERATION = 'redeem'
/** Counter account of redeemed codes. */
export const REDEEMED = 'platform/redeemed-codes'

export interface RedemptionStoreOptions {
  readonly engine: SqlEngine
  readonly reader: Kysely<Schema>
  readonly write: AnnouncedWrite
}

export function createRedemptionStore({ engine, reader, write }: RedemptionStoreOptions): RedemptionStore {
  return {
    ...readingOf(reader),
    create: (batch, codes, { creditsPerUnit } = {}) =>
      write(async (transaction) => {
        await checkRate(engine, transaction, creditsPerUnit)
        await insertBatch(transaction, batch, codes)
        return { value: undefined, changes: [] }
      }),
    voidBatch: (id, at) =>
      write(async (transaction) => ({
        value: await voidBatchIn(engine, transaction, { id, at }),
        changes: [],
      })),
    voidCode: (id) =>
      write(async (transaction) => ({ value: await voidCodeIn(engine, transaction, id), changes: [] })),
    redeem: (redemption) => write((transaction) => redeemIn(engine, transaction, redemption)),
  }
}

type Reading = Pick<RedemptionStore, 'findBatch' | 'listBatches' | 'listCodes' | 'findCode'>

function readingOf(reader: Kysely<Schema>): Reading {
  return {
    async findBatch(id) {
      const query = reader.selectFrom('redemption_batches').selectAll().where('id', '=', id)
      const row = await query.executeTakeFirst()
      return row === undefined ? undefined : decodeBatch(row)
    },

    async listBatches({ limit, after }) {
      let query = reader.selectFrom('redemption_batches').selectAll()
      if (after !== undefined) query = query.where('id', '<', after)
      const rows = await query.orderBy('id', 'desc').limit(pageLimit(limit)).execute()
      return rows.map(decodeBatch)
    },

    async listCodes(batch, { limit, after }) {
      let query = reader.selectFrom('redemption_codes').selectAll().where('batch_id', '=', batch)
      if (after !== undefined) query = query.where('id', '>', after)
      const rows = await query.orderBy('id').limit(pageLimit(limit)).execute()
      return rows.map(decodeCode)
    },

    async findCode(key) {
      const query = reader.selectFrom('redemption_codes').selectAll()
      const found = 'id' in key ? query.where('id', '=', key.id) : query.where('hash', '=', key.hash)
      const row = await found.executeTakeFirst()
      return row === undefined ? undefined : decodeCode(row)
    },
  }
}

async function insertBatch(
  transaction: Transaction<Schema>,
  batch: RedemptionBatch,
  codes: readonly NewRedemptionCode[],
): Promise<void> {
  await transaction
    .insertInto('redemption_batches')
    .values({
      id: batch.id,
      pool: batch.pool,
      amount: batch.amount,
      codes: batch.codes,
      redeemed: 0,
      voided: 0,
      expires_at: batch.expiresAt ?? null,
      note: batch.note ?? null,
      created_at: batch.createdAt,
      created_by: batch.createdBy,
      voided_at: null,
    })
    .execute()
  const fresh = { batch_id: batch.id, status: 'open', redeemed_by: null, redeemed_at: null }
  for (let start = 0; start < codes.length; start += CODES_PER_INSERT) {
    const some = codes.slice(start, start + CODES_PER_INSERT)
    const rows = some.map(({ id, hash, hint }) => ({ ...fresh, hash, id, hint }))
    await transaction.insertInto('redemption_codes').values(rows).execute()
  }
}

async function voidBatchIn(
  engine: SqlEngine,
  transaction: Transaction<Schema>,
  { id, at }: { readonly id: string; readonly at: number },
): Promise<number | undefined> {
  if ((await lockBatch(engine, transaction, id)) === undefined) return undefined
  const { numUpdatedRows } = await transaction
    .updateTable('redemption_codes')
    .set({ status: 'void' })
    .where('batch_id', '=', id)
    .where('status', '=', 'open')
    .executeTakeFirst()
  await transaction
    .updateTable('redemption_batches')
    .set((columns) => ({ voided: columns('voided', '+', numUpdatedRows), voided_at: at }))
    .where('id', '=', id)
    .execute()
  return Number(numUpdatedRows)
}

async function voidCodeIn(engine: SqlEngine, transaction: Transaction<Schema>, id: string): Promise<boolean> {
  const code = await transaction
    .selectFrom('redemption_codes')
    .select(['hash', 'batch_id'])
    .where('id', '=', id)
    .executeTakeFirst()
  if (code === undefined) return false
  await lockBatch(engine, transaction, code.batch_id)
  const { numUpdatedRows } = await transaction
    .updateTable('redemption_codes')
    .set({ status: 'void' })
    .where('hash', '=', code.hash)
    .where('status', '=', 'open')
    .executeTakeFirst()
  await transaction
    .updateTable('redemption_batches')
    .set((columns) => ({ voided: columns('voided', '+', numUpdatedRows) }))
    .where('id', '=', code.batch_id)
    .execute()
  return numUpdatedRows > 0n
}

async function redeemIn(
  engine: SqlEngine,
  transaction: Transaction<Schema>,
  redemption: Redemption,
): Promise<Written<RedemptionOutcome>> {
  const { hash, at, idempotency } = redemption
  const act = { accountId: redemption.accountId, operation: OPERATION, idempotency, at }
  const account = await lockAccount(engine, transaction, redemption.accountId)
  if (account === undefined) return { value: { kind: 'no-account' }, changes: [] }
  const before = await findAnswer(transaction, act)
  if (before !== undefined) {
    const value: RedemptionOutcome =
      before.kind === 'other-request' ? before : { kind: 'redeemed', answer: before.answer, repeated: true }
    return { value, changes: [] }
  }
  const found = await lockCode(engine, transaction, hash)
  if (found === undefined) return { value: { kind: 'unknown' }, changes: [] }
  const { batch, code } = found
  const refusal = refusalOf(code, batch, at)
  if (refusal !== undefined) return { value: refusal, changes: [] }
  await spend(transaction, { hash, batch: batch.id, by: account.id, at })
  const booked = await bookIn(engine, transaction, [transferOf(redemption, code, batch)], 'refuse')
  if (booked === undefined) throw new Error(`the transaction of code ${code.id} was booked before`)
  const answer = redemption.answer({ batch, account })
  if (idempotency !== undefined) await keepAnswer(transaction, act, { idempotency, answer })
  return {
    value: { kind: 'redeemed', answer, repeated: false },
    changes: [{ kind: 'account', accountId: account.id }],
  }
}

function refusalOf(
  code: RedemptionCode,
  { expiresAt }: RedemptionBatch,
  at: number,
): RedemptionOutcome | undefined {
  const { status, redeemedBy, redeemedAt } = code
  if (status === 'void') return { kind: 'void' }
  if (status === 'redeemed') {
    if (redeemedBy === undefined || redeemedAt === undefined)
      throw new Error(`code ${code.id} was redeemed by nobody`)
    return { kind: 'spent', by: redeemedBy, at: redeemedAt }
  }
  return expiresAt !== undefined && expiresAt <= at ? { kind: 'expired', at: expiresAt } : undefined
}

/** The code, read after locking its batch, as every change of it must. */
async function lockCode(
  engine: SqlEngine,
  transaction: Transaction<Schema>,
  hash: string,
): Promise<{ readonly batch: RedemptionBatch; readonly code: RedemptionCode } | undefined> {
  const read = () =>
    transaction.selectFrom('redemption_codes').selectAll().where('hash', '=', hash).executeTakeFirst()
  const first = await read()
  if (first === undefined) return undefined
  const batch = await lockBatch(engine, transaction, first.batch_id)
  const row = await read()
  if (batch === undefined || row === undefined) throw new Error(`code ${first.id} has no batch`)
  return { batch, code: decodeCode(row) }
}

async function lockBatch(
  engine: SqlEngine,
  transaction: Transaction<Schema>,
  id: string,
): Promise<ShownBatch | undefined> {
  const query = transaction.selectFrom('redemption_batches').selectAll().where('id', '=', id)
  const row = await (engine.name === 'postgres' ? query.forUpdate() : query).executeTakeFirst()
  return row === undefined ? undefined : decodeBatch(row)
}

async function spend(
  transaction: Transaction<Schema>,
  spent: { readonly hash: string; readonly batch: string; readonly by: AccountId; readonly at: number },
): Promise<void> {
  const { numUpdatedRows } = await transaction
    .updateTable('redemption_codes')
    .set({ status: 'redeemed', redeemed_by: spent.by, redeemed_at: spent.at })
    .where('hash', '=', spent.hash)
    .where('status', '=', 'open')
    .executeTakeFirst()
  if (numUpdatedRows !== 1n) throw new Error('a locked code was spent by somebody else')
  await transaction
    .updateTable('redemption_batches')
    .set((columns) => ({ redeemed: columns('redeemed', '+', 1n) }))
    .where('id', '=', spent.batch)
    .execute()
}

function transferOf(
  { accountId: account, transactionId, at }: Redemption,
  code: RedemptionCode,
  { pool, amount }: RedemptionBatch,
): Transfer {
  return {
    transactionId,
    sequence: 0,
    at,
    debit: REDEEMED,
    credit: pool === 'credits' ? creditsPool(account) : balancePool(account),
    amount,
    kind: 'top-up',
    reference: `code ${code.hint}-…`,
  }
}

function decodeBatch(row: Selectable<RedemptionBatchesTable>): ShownBatch {
  return {
    id: row.id,
    pool: poolOf(row.pool),
    amount: microCredits(row.amount),
    codes: Number(row.codes),
    redeemed: Number(row.redeemed),
    voided: Number(row.voided),
    expiresAt: row.expires_at === null ? undefined : Number(row.expires_at),
    note: row.note ?? undefined,
    createdAt: Number(row.created_at),
    createdBy: row.created_by,
    voidedAt: row.voided_at === null ? undefined : Number(row.voided_at),
  }
}

function decodeCode(row: Selectable<RedemptionCodesTable>): RedemptionCode {
  return {
    id: row.id,
    batchId: row.batch_id,
    hint: row.hint,
    status: statusOf(row.status),
    redeemedBy: row.redeemed_by === null ? undefined : accountId(row.redeemed_by),
    redeemedAt: row.redeemed_at === null ? undefined : Number(row.redeemed_at),
  }
}

export function poolOf(text: string): Pool {
  if (text === 'credits' || text === 'balance') return text
  throw new Error(`money is stored to go into the pool ${text}`)
}

function statusOf(text: string): RedemptionCode['status'] {
  if (text === 'open' || text === 'redeemed' || text === 'void') return text
  throw new Error(`a stored redemption code has the status ${text}`)
}
