import type { Kysely } from 'kysely'
import type { Settings } from '../../../core/catalogue.ts'
import { UNLIMITED } from '../../../core/limits/policy.ts'
import type { Schema } from '../schema.ts'
import { parseStored } from '../stored-json.ts'

/** The defaults until settings are written (gateway file). */
const DEFAULT_SETTINGS: Settings = {
  currency: 'CNY',
  creditsPerUnit: '1000',
  otherCurrencies: { USD: '7200' },
  timezone: 'Asia/Shanghai',
  keyPrefix: 'sk-gateway-',
  limits: UNLIMITED,
}

export async function readSettings(database: Kysely<Schema>): Promise<Settings> {
  const row = await database.selectFrom('settings').select('body').executeTakeFirst()
  return row === undefined ? DEFAULT_SETTINGS : parseStored<Settings>(row.body)
}
