/** Packages on offer. */
import type { Selectable } from 'kysely'
import { microCredits } from '../../../core/money.ts'
import type { PackageStore, TopUpPackage } from '../../stores/top-ups.ts'
import type { TopUpPackagesTable } from '../schema/top-ups.ts'
import { poolOf, type RedemptionStoreOptions } from './redemption-codes.ts'

export function createPackageStore({ reader, write }: RedemptionStoreOptions): PackageStore {
  return {
    async list() {
      const rows = await reader.selectFrom('top_up_packages').selectAll().orderBy('code').execute()
      return rows.map(decodePackage)
    },

    async find(code) {
      const row = await reader
        .selectFrom('top_up_packages')
        .selectAll()
        .where('code', '=', code)
        .executeTakeFirst()
      return row === undefined ? undefined : decodePackage(row)
    },

    put: ({ code, name, price, pool, amount, status }) =>
      write(async (transaction) => {
        const columns = { name, price, pool, amount, status }
        await transaction
          .insertInto('top_up_packages')
          .values({ code, ...columns })
          .onConflict((conflict) => conflict.column('code').doUpdateSet(columns))
          .execute()
        return { value: undefined, changes: [] }
      }),

    remove: (code) =>
      write(async (transaction) => {
        const { numDeletedRows } = await transaction
          .deleteFrom('top_up_packages')
          .where('code', '=', code)
          .executeTakeFirst()
        return { value: numDeletedRows > 0n, changes: [] }
      }),
  }
}

function decodePackage(row: Selectable<TopUpPackagesTable>): TopUpPackage {
  return {
    code: row.code,
    name: row.name,
    price: row.price,
    pool: poolOf(row.pool),
    amount: microCredits(row.amount),
    status: row.status === 'disabled' ? 'disabled' : 'enabled',
  }
}
