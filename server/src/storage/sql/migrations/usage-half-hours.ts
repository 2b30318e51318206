import type { EngineName, Migration } from './dialect.ts'
import { DIALECTS } from './dialect.ts'

/**
 * Usage, summed as calls are logged, so that reports need not read the log and outlast it. Half-hours, because days
 * begin at half an hour of UTC in some time zones. A row's calls have equal values in every key column; `lane` only
 * spreads calls without an account over several rows, because many instances write them at once. Filled from the rows
 * that the log still has.
 */
export const usageHalfHours: Migration = { version: 12, name: 'usage by half-hours', statements }

function statements(engine: EngineName): readonly string[] {
  const { integer } = DIALECTS[engine]
  const sums = FIRST_SUMS.map((name) => `${name} ${integer} not null`).join(', ')
  return [
    // By time first: rows written together are stored together, and an account's half-hours are looked up one by one.
    `create table usage_half_hours (
       at ${integer} not null, account_id text not null, key_id text not null, model text not null,
       app_id text not null, chain_id ${integer} not null, credits_per_yuan text not null, lane ${integer} not null,
       vendor_code text, ${sums}, primary key (${USAGE_KEY.join(', ')})) ${TABLE[engine]}`,
    fillUsage(engine, '', FIRST_SUMS),
  ]
}

/** Rows change for half an hour and then never again: a little free space on the page is enough. */
const TABLE: Record<EngineName, string> = {
  sqlite: 'strict, without rowid',
  postgres: 'with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02)',
}

export const USAGE_HALF_HOUR_MS = 1_800_000

export const USAGE_KEY = [
  'at',
  'account_id',
  'key_id',
  'model',
  'app_id',
  'chain_id',
  'credits_per_yuan',
  'lane',
] as const

const PLAIN_SUMS = [
  'calls',
  'failed',
  'input',
  'cached_input',
  'cache_write',
  'cache_write_1h',
  'output',
  'reasoning',
  'images',
  'video_ms',
  'amount',
  'deducted',
  'covered',
  'priced',
  'byok',
  'free',
  'characters',
  'audio_ms',
] as const

/** For calls not over the customer's own credential: the quantities that prices were multiplied by. */
const BILLED_SUMS = [
  'billed_input',
  'billed_cached_input',
  'billed_cache_write',
  'billed_cache_write_1h',
  'billed_output',
  'billed_images',
  'billed_video_ms',
  'billed_requests',
  'billed_characters',
  'billed_audio_ms',
] as const

export const USAGE_SUMS = [...PLAIN_SUMS, ...BILLED_SUMS] as const

/** Columns that came with later migrations. */
export const SOUND_SUMS = ['characters', 'audio_ms', 'billed_characters', 'billed_audio_ms'] as const

const FIRST_SUMS = USAGE_SUMS.filter((name) => !SOUND_SUMS.some((later) => later === name))

/** Characters of a model's or an application's name. */
export const USAGE_NAME_MAX = 256
/** An upstream may report any number; larger ones are capped here, so that sums stay within 64 bits. */
export const USAGE_QUANTITY_MAX = 1_000_000_000_000
/** µCr; a billion Credits for one call. */
export const USAGE_AMOUNT_MAX = 1_000_000_000_000_000

/**
 * Adds what the log contains. `condition` continues a `where` over `call_logs`. SQLite adds row by row, because
 * grouping would keep all rows in memory; PostgreSQL must group, because a statement may change a row only once.
 */
export function fillUsage(
  engine: EngineName,
  condition: string,
  names: readonly (typeof USAGE_SUMS)[number][] = USAGE_SUMS,
): string {
  const columns = [...USAGE_KEY, 'vendor_code', ...names].join(', ')
  const [calls, lines] = loggedUsage(engine)
  const logged = `${calls} ${condition} union all ${lines} ${condition}`
  if (engine === 'postgres') {
    const sums = names.map((name) => `sum(${name})`).join(', ')
    return `insert into usage_half_hours (${columns})
      select ${USAGE_KEY.join(', ')}, min(vendor_code), ${sums} from (${logged}) logged group by ${USAGE_KEY.join(', ')}`
  }
  const added = names.map((name) => `${name} = usage_half_hours.${name} + excluded.${name}`)
  return `insert into usage_half_hours (${columns}) select ${columns} from (${logged}) where true
    on conflict (${USAGE_KEY.join(', ')}) do update set
      vendor_code = coalesce(usage_half_hours.vendor_code, excluded.vendor_code), ${added.join(', ')}`
}

/**
 * What each logged call adds, as two selects with the same columns, each ending in a `where`: the call itself, and one
 * row per line of its recipe. `began` is the call's own time.
 */
export function loggedUsage(engine: EngineName): readonly [calls: string, lines: string] {
  const read = READERS[engine]
  const half = `created_at / ${USAGE_HALF_HOUR_MS} * ${USAGE_HALF_HOUR_MS}`
  const name = (column: string) => `substr(coalesce(${column}, ''), 1, ${USAGE_NAME_MAX}) as ${column}`
  const key = `${half} as at, created_at as began, coalesce(account_id, '') as account_id,
    coalesce(key_id, '') as key_id, ${name('model')}, ${name('app_id')},
    coalesce(${read.integer(['chainId'])}, 0) as chain_id,
    coalesce(${read.text(['recipe', 'creditsPerUnit'])}, ${read.text(['recipe', 'creditsPerYuan'])}, '') as credits_per_yuan, 0 as lane`
  const plain = plainSums(read)
  const billed = billedSums(read)
  const calls = [
    ...PLAIN_SUMS.map((sum) => `${plain[sum]} as ${sum}`),
    ...BILLED_SUMS.map((sum) => `0 as ${sum}`),
  ]
  const lines = [
    ...PLAIN_SUMS.map((sum) => `0 as ${sum}`),
    ...BILLED_SUMS.map((sum) => `${billed[sum]} as ${sum}`),
  ]
  return [
    `select ${key}, ${read.text(['vendorCode'])} as vendor_code, ${calls.join(', ')} from ${read.logs} where true`,
    `select ${key}, null as vendor_code, ${lines.join(', ')}
     from ${read.logs} cross join ${read.lines} where not ${read.isTrue(['byok'])}`,
  ]
}

function plainSums(read: Reader): Record<(typeof PLAIN_SUMS)[number], string> {
  const priced = `${read.text(['recipe', 'amount'])} is not null`
  const byok = read.isTrue(['byok'])
  const count = (condition: string) => `case when ${condition} then 1 else 0 end`
  const usage = (name: string) => read.quantity(read.value(['usage', name]))
  const amount = (column: string) => read.bounded(column, USAGE_AMOUNT_MAX)
  return {
    calls: '1',
    failed: count('http_status >= 400'),
    input: usage('input'),
    cached_input: usage('cachedInput'),
    cache_write: usage('cacheWrite'),
    cache_write_1h: usage('cacheWrite1h'),
    output: usage('output'),
    reasoning: usage('reasoning'),
    images: read.quantity(read.value(['images'])),
    video_ms: read.thousandths(read.value(['secondsDeclared'])),
    amount: amount('amount'),
    deducted: amount('deducted'),
    covered: `case when ${read.isTrue(['subscriptionCovered'])} then ${amount('deducted')} else 0 end`,
    priced: count(priced),
    byok: count(`${priced} and ${byok}`),
    free: count(`${priced} and not ${byok} and deducted = 0`),
    characters: read.quantity(read.value(['characters'])),
    audio_ms: read.thousandths(read.value(['audioSeconds'])),
  }
}

function billedSums(read: Reader): Record<(typeof BILLED_SUMS)[number], string> {
  const line = (name: string, quantity: string) =>
    `case when ${read.lineClass} = '${name}' then ${quantity} else 0 end`
  const whole = read.quantity(read.lineQuantity)
  return {
    billed_input: line('input', whole),
    billed_cached_input: line('cached_input', whole),
    billed_cache_write: line('cache_write', whole),
    billed_cache_write_1h: line('cache_write_1h', whole),
    billed_output: line('output', whole),
    billed_images: line('image', whole),
    billed_video_ms: line('video_second', read.thousandths(read.lineQuantity)),
    billed_requests: line('request', whole),
    billed_characters: line('character', whole),
    billed_audio_ms: line('audio_second', read.thousandths(read.lineQuantity)),
  }
}

/** How a member of a log row's JSON is read. */
interface Reader {
  readonly logs: string
  readonly lines: string
  readonly lineClass: string
  readonly lineQuantity: string
  text(path: readonly string[]): string
  integer(path: readonly string[]): string
  isTrue(path: readonly string[]): string
  /** A number, or null. */
  value(path: readonly string[]): string
  quantity(value: string): string
  thousandths(value: string): string
  bounded(value: string, most: number): string
}

const SQLITE: Reader = {
  logs: 'call_logs',
  lines: `json_each(call_logs.detail, '$.recipe.lines') line`,
  lineClass: `(line.value ->> 'class')`,
  lineQuantity: `(line.value ->> 'quantity')`,
  text: sqliteMember,
  integer: sqliteMember,
  isTrue: (path) => `(coalesce(${sqliteMember(path)}, 0) = 1)`,
  value: sqliteMember,
  quantity: (value) => SQLITE.bounded(`cast(coalesce(${value}, 0) as integer)`, USAGE_QUANTITY_MAX),
  thousandths: (value) =>
    SQLITE.bounded(`cast(round(coalesce(${value}, 0) * 1000) as integer)`, USAGE_QUANTITY_MAX),
  bounded: (value, most) => `min(max(${value}, 0), ${most})`,
}

function sqliteMember(path: readonly string[]): string {
  return `json_extract(call_logs.detail, '$.${path.join('.')}')`
}

const POSTGRES: Reader = {
  // Parsed once per row: `offset 0` keeps the planner from parsing it for each member.
  logs: 'call_logs cross join lateral (select call_logs.detail::jsonb as body offset 0) parsed',
  lines: `lateral jsonb_array_elements(body #> '{recipe,lines}') line`,
  lineClass: `(line ->> 'class')`,
  lineQuantity: `(line ->> 'quantity')::numeric`,
  text: postgresMember,
  integer: (path) => `${postgresMember(path)}::bigint`,
  isTrue: (path) => `(coalesce(${postgresMember(path)}, 'false') = 'true')`,
  value: (path) => `${postgresMember(path)}::numeric`,
  quantity: (value) => `${POSTGRES.bounded(`trunc(coalesce(${value}, 0))`, USAGE_QUANTITY_MAX)}::bigint`,
  thousandths: (value) =>
    `${POSTGRES.bounded(`round(coalesce(${value}, 0) * 1000)`, USAGE_QUANTITY_MAX)}::bigint`,
  bounded: (value, most) => `least(greatest(${value}, 0), ${most})`,
}

function postgresMember(path: readonly string[]): string {
  return `(body #>> '{${path.join(',')}}')`
}

const READERS: Record<EngineName, Reader> = { sqlite: SQLITE, postgres: POSTGRES }
