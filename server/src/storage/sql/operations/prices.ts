import type { Kysely, Selectable, Transaction } from 'kysely'
import type { Pricing } from '../../../core/catalogue.ts'
import { chainId, modelId } from '../../../core/ids.ts'
import { StorageConflict } from '../../failures/conflict.ts'
import type { PriceChange, PriceStore } from '../../stores/prices.ts'
import type { AnnouncedWrite } from '../announced-write.ts'
import { pageLimit } from '../page.ts'
import type { PriceChangesTable, Schema } from '../schema.ts'
import { parseStored } from '../stored-json.ts'

export function createPriceStore(reader: Kysely<Schema>, write: AnnouncedWrite): PriceStore {
  return {
    list: (filter) => listChanges(reader, filter),

    async find(id) {
      const row = await reader.selectFrom('price_changes').selectAll().where('id', '=', id).executeTakeFirst()
      return row === undefined ? undefined : decodeChange(row)
    },

    schedule: (change) =>
      write(async (transaction) => {
        await refuseSecond(transaction, change)
        await transaction
          .insertInto('price_changes')
          .values({
            id: change.id,
            model_id: change.modelId,
            effective_at: change.effectiveAt,
            pricing: JSON.stringify(change.pricing),
            status: change.status,
            created_at: change.createdAt,
            created_by: change.createdBy,
          })
          .execute()
        return { value: undefined, changes: [] }
      }),

    settle: (id, status) =>
      write(async (transaction) => {
        const { numUpdatedRows } = await transaction
          .updateTable('price_changes')
          .set({ status })
          .where('id', '=', id)
          .where('status', '=', 'pending')
          .executeTakeFirst()
        return { value: numUpdatedRows === 1n, changes: [] }
      }),

    due: (at, limit) => listDue(reader, at, limit),

    ...costStore(reader, write),
  }
}

/** The model's row is locked first, so that of two simultaneous changes the second sees the first. */
async function refuseSecond(
  transaction: Transaction<Schema>,
  { modelId: model, effectiveAt }: PriceChange,
): Promise<void> {
  await transaction.updateTable('models').set({ model_id: model }).where('model_id', '=', model).execute()
  const other = await transaction
    .selectFrom('price_changes')
    .select('id')
    .where('model_id', '=', model)
    .where('status', '=', 'pending')
    .where('effective_at', '=', BigInt(effectiveAt))
    .executeTakeFirst()
  if (other !== undefined)
    throw new StorageConflict(`${model} has other prices planned for that moment: cancel ${other.id} first`)
}

async function listChanges(
  reader: Kysely<Schema>,
  filter: Parameters<PriceStore['list']>[0],
): Promise<readonly PriceChange[]> {
  let query = reader.selectFrom('price_changes').selectAll()
  if (filter.modelId !== undefined) query = query.where('model_id', '=', filter.modelId)
  if (filter.status !== undefined) query = query.where('status', '=', filter.status)
  const rows = await query.orderBy('effective_at').orderBy('id').limit(pageLimit(filter.limit)).execute()
  return rows.map(decodeChange)
}

async function listDue(reader: Kysely<Schema>, at: number, limit: number): Promise<readonly PriceChange[]> {
  const rows = await reader
    .selectFrom('price_changes')
    .selectAll()
    .where('status', '=', 'pending')
    .where('effective_at', '<=', BigInt(at))
    .orderBy('effective_at')
    .orderBy('id')
    .limit(pageLimit(limit))
    .execute()
  return rows.map(decodeChange)
}

function costStore(reader: Kysely<Schema>, write: AnnouncedWrite): Pick<PriceStore, 'costs' | 'putCost'> {
  return {
    async costs() {
      const rows = await reader.selectFrom('chain_costs').selectAll().execute()
      return new Map(
        rows.map((row) => [chainId(Number(row.chain_id)), parseStored<Pricing>(row.pricing)] as const),
      )
    },

    putCost: (chain, pricing) =>
      write(async (transaction) => {
        if (pricing === undefined) {
          await transaction.deleteFrom('chain_costs').where('chain_id', '=', BigInt(chain)).execute()
        } else {
          const columns = { chain_id: chain, pricing: JSON.stringify(pricing) }
          await transaction
            .insertInto('chain_costs')
            .values(columns)
            .onConflict((conflict) => conflict.column('chain_id').doUpdateSet(columns))
            .execute()
        }
        return { value: undefined, changes: [] }
      }),
  }
}

function decodeChange(row: Selectable<PriceChangesTable>): PriceChange {
  return {
    id: row.id,
    modelId: modelId(row.model_id),
    effectiveAt: Number(row.effective_at),
    pricing: parseStored<Pricing>(row.pricing),
    status: statusOf(row.status),
    createdAt: Number(row.created_at),
    createdBy: row.created_by,
  }
}

function statusOf(text: string): PriceChange['status'] {
  if (text === 'pending' || text === 'applied' || text === 'cancelled') return text
  throw new Error(`a stored price change has the status ${text}`)
}
