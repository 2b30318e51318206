/** A call log of a month for the console: several accounts with keys, all models of the gateway, quiet nights. */
import { join } from 'node:path'
import { gatewayFile } from '../../../console/test/gateway.ts'
import { fillUsage } from '../../../server/src/storage/sql/migrations/usage-half-hours.ts'
import { loadSqlite, type SqliteRow } from '../../../server/src/storage/sqlite/library.ts'
import { LOG_COLUMNS, logDetail } from '../log-rows.ts'

const DAY_MS = 86_400_000
const DAYS = 30
const OTHERS = 7

/** Those whose calls the log holds: all that answer at once. */
export const CALLED_MODELS: readonly string[] = gatewayFile()
  .models.map(({ model_id: id }) => id)
  .filter((id) => id !== 'kling-v3')

/** The gateway of the journeys, with a few more accounts; each of them has keys. */
export function manyAccountsFile() {
  const file = gatewayFile()
  const keys = ['laptop', 'ci-runner', 'batch'].map((name) => ({ name }))
  const more = Array.from({ length: OTHERS }, (_none, index) => ({
    email: `customer${index}@example.com`,
    password: 'a long customer password',
    credits: 100_000,
    api_deduction: true,
  }))
  return { ...file, accounts: [...file.accounts, ...more].map((account) => ({ ...account, keys })) }
}

/**
 * Fills the database of a gateway that was started once with `manyAccountsFile` and stopped. The customer makes
 * most of the calls; one call in forty failed; the first half of a day has a fifth of its calls. The newest is a minute old.
 */
export function fillLog(directory: string, rows: number): void {
  const { DatabaseSync } = loadSqlite()
  const database = new DatabaseSync(join(directory, 'data', 'sluice.db'), { timeout: 5_000 })
  const keys = database
    .prepare(
      `select api_keys.id, account_id from api_keys join accounts on accounts.id = account_id
       order by accounts.email, api_keys.name`,
    )
    .all()
  database.exec(`pragma synchronous = off; pragma cache_size = -500000; begin;
    create temp table owners (place integer primary key, key_id text, account_id text);
    create temp table kinds (place integer primary key, model text, detail text)`)
  const shares = spread(keys, 64)
  const owner = database.prepare('insert into owners values (?, ?, ?)')
  for (const [place, { id, account_id }] of shares.entries()) owner.run(place, text(id), text(account_id))
  const kind = database.prepare('insert into kinds values (?, ?, ?)')
  for (const [place, model] of spread(CALLED_MODELS, 64).entries()) {
    kind.run(place, model, logDetail({ model, vendor: 'sandbox', input: -1, output: -2 }))
  }
  const first = Date.now() - 60_000 - DAYS * DAY_MS
  database.exec(`insert into call_logs (${LOG_COLUMNS})
    with recursive
      numbers (i) as (select 0 union all select i + 1 from numbers where i + 1 < ${rows}),
      mixed as (select i, i * ${DAYS} * 1.0 / ${rows} as day, i * 2654435761 % 4294967296 as mix from numbers),
      timed as (select i, mix, ${first} + cast((cast(day as integer)
        + case when day - cast(day as integer) < 0.2
            then (day - cast(day as integer)) * 2.5
            else 0.5 + (day - cast(day as integer) - 0.2) * 0.625 end) * ${DAY_MS} as integer) as at from mixed)
    select 'req_' || i, 'req_' || i, at, at + 2000, account_id, key_id, model,
      case when i % 40 = 0 then 502 else 200 end,
      case when i % 3 = 0 then 'app_' || (i % 50) end, case when i % 10 = 0 then 'custom_' || (i % 5000) end,
      case when i % 2 = 0 then 'user_' || (i % 20000) end, 2000000 + (mix >> 3) % 900000, 2000000 + (mix >> 3) % 900000,
      replace(replace(detail, ':-1', ':' || (100 + (mix >> 5) % 9000)), ':-2', ':' || (10 + (mix >> 7) % 2000))
    from timed
    join owners on owners.place = (mix >> 20) % 64
    join kinds on kinds.place = (mix >> 12) % 64`)
  database.exec(`${fillUsage('sqlite', '')}; commit`)
  database.close()
}

/** Repeats the items until there are so many, the first ones more often than the last. */
function spread<Item>(items: readonly Item[], count: number): readonly Item[] {
  return Array.from({ length: count }, (_none, place) => {
    const item = items[Math.floor((place / count) ** 2 * items.length)]
    if (item === undefined) throw new Error('the gateway has no keys')
    return item
  })
}

function text(value: SqliteRow[string] | undefined): string {
  if (typeof value !== 'string') throw new TypeError(`not a text: ${String(value)}`)
  return value
}
