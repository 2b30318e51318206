import type { EngineName, Migration } from './dialect.ts'

/** Every price names its currency: before this all were in the settings' currency, whose rate was for yuan. */
export const currencies: Migration = { version: 26, name: 'currencies of prices', statements }

/** The rate that presets were converted at before, so that a dollar keeps its value. */
const YUAN_PER_DOLLAR = '7.2'

function statements(engine: EngineName): readonly string[] {
  const sqlite = engine === 'sqlite'
  const member = (name: string) =>
    sqlite ? `json_extract(body, '$.${name}')` : `(body::jsonb ->> '${name}')`
  const currency = `coalesce((select ${member('currency')} from settings), 'CNY')`
  const named = (table: string) =>
    sqlite
      ? `update ${table} set pricing = json_set(pricing, '$.currency', ${currency})`
      : `update ${table} set pricing = jsonb_set(pricing::jsonb, '{currency}', to_jsonb(${currency}))::text`
  const rate = member('creditsPerYuan')
  const dollar = sqlite
    ? `printf('%.6f', ${rate} * ${YUAN_PER_DOLLAR})`
    : `round(${rate}::numeric * ${YUAN_PER_DOLLAR}, 6)::text`
  return [
    named('models'),
    named('price_changes'),
    named('chain_costs'),
    `alter table plans add column currency text not null default 'CNY'`,
    `update plans set currency = ${currency}`,
    sqlite
      ? `update settings set body = json_remove(json_set(body, '$.creditsPerUnit', ${rate}, '$.otherCurrencies',
           case when ${member('currency')} = 'CNY' then json_object('USD', ${dollar}) else json_object() end),
           '$.creditsPerYuan')`
      : `update settings set body = (body::jsonb - 'creditsPerYuan' || jsonb_build_object('creditsPerUnit', ${rate},
           'otherCurrencies', case when ${member('currency')} = 'CNY' then jsonb_build_object('USD', ${dollar})
           else '{}'::jsonb end))::text`,
  ]
}
