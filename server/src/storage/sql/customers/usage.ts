/** Usage by time bucket and by the requested groups, and by chain. */
import { type RawBuilder, sql } from 'kysely'
import { type AccountId, accountId, chainId } from '../../../core/ids.ts'
import { microCredits } from '../../../core/money.ts'
import type {
  ChainQuestion,
  ChainUsage,
  PayersQuestion,
  Period,
  UsageGroup,
  UsageQuestion,
  UsageRow,
  UsageStore,
} from '../../stores/customers.ts'
import type { SqlEngine } from '../engine.ts'
import { loggedUsage } from '../migrations/usage-half-hours.ts'
import type { EngineName } from '../migrations.ts'
import { readKeptSince } from '../usage/kept-since.ts'
import { recountUsage } from '../usage/recount-usage.ts'
import { halfHoursIn, isWhole, type UsageParts, usageParts } from '../usage/usage-parts.ts'
import type { UsageSum } from '../usage/usage-row.ts'

/** Every summed column costs time, so only these are read. */
const USED = [
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
  'characters',
  'audio_ms',
  'amount',
  'deducted',
  'covered',
] as const satisfies readonly UsageSum[]

const BILLED = [
  'priced',
  'byok',
  'free',
  'deducted',
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
] as const satisfies readonly UsageSum[]

/** Sums as either driver reads them. */
interface SumsRow extends Readonly<Record<(typeof USED)[number], string>> {
  readonly bucket: bigint
  readonly account_id: string | null
  readonly model: string | null
  readonly key_id: string | null
  readonly app_id: string | null
}

interface ChainRow extends Readonly<Record<(typeof BILLED)[number], string>> {
  readonly chain_id: bigint
  readonly account_id: string | null
  readonly model: string | null
  readonly vendor_code: string | null
}

interface PayerRow {
  readonly account_id: string
  readonly accounts: bigint | number
}

const COLUMNS: Readonly<Record<UsageGroup, RawBuilder<unknown>>> = {
  model: sql`nullif(model, '')`,
  key: sql`nullif(key_id, '')`,
  app: sql`nullif(app_id, '')`,
  account: sql`nullif(account_id, '')`,
}

export interface UsageStoreOptions {
  readonly engine: SqlEngine
  readonly now: () => number
}

export function createUsageStore({ engine, now }: UsageStoreOptions): UsageStore {
  const { name, bulkReader: reader } = engine
  const partsOf = async (period: Period): Promise<UsageParts> => {
    const at = now()
    const keptSince = isWhole(period, at) ? 0 : await readKeptSince(reader)
    return usageParts(period, { now: at, keptSince })
  }
  return {
    async sums(question) {
      const parts = await partsOf(question)
      if (isNothing(parts) || question.keyIds?.length === 0) return []
      const { rows } = await sumsQuery(name, question, parts).execute(reader)
      return rows.map((row) => decode(row, question))
    },

    async chains(question) {
      const parts = await partsOf(question)
      if (isNothing(parts) || question.only?.length === 0) return []
      const { rows } = await chainsQuery(name, question, parts).execute(reader)
      return rows.map(decodeChain)
    },

    async payers(question) {
      const parts = await partsOf(question)
      if (isNothing(parts)) return { accounts: [], count: 0 }
      const { rows } = await payersQuery(name, question, parts).execute(reader)
      return {
        accounts: rows.map(({ account_id: id }) => accountId(id)),
        count: Number(rows[0]?.accounts ?? 0),
      }
    },

    recount: (period) => recountUsage(engine, period),
  }
}

function isNothing({ sums, logged }: UsageParts): boolean {
  return sums === undefined && logged.length === 0
}

function sumsQuery(engine: EngineName, question: UsageQuestion, parts: UsageParts): RawBuilder<SumsRow> {
  const { from, bucketMs, groups } = question
  const chosen = (group: UsageGroup) => (groups.includes(group) ? COLUMNS[group] : sql`null`)
  const bucket = sql`(began - ${sql.lit(from)}) / ${sql.lit(bucketMs)}`
  const keys = sql.join([bucket, ...groups.map((group) => COLUMNS[group])])
  return sql<SumsRow>`
    select ${bucket} as bucket, ${chosen('model')} as model, ${chosen('key')} as key_id, ${chosen('app')} as app_id,
      ${chosen('account')} as account_id, ${sumsOf(USED)} from (${used(engine, parts, { whose: question, sums: USED })}) used
    group by ${keys} order by ${keys} limit ${question.rowsMax}`
}

const PRICED = sql`chain_id > 0 and credits_per_yuan <> ''`

function chainsQuery(
  engine: EngineName,
  { only, except }: ChainQuestion,
  parts: UsageParts,
): RawBuilder<ChainRow> {
  const account = only === undefined ? sql`null` : sql`account_id`
  const keys = only === undefined ? sql`chain_id` : sql`account_id, chain_id`
  return sql<ChainRow>`
    select chain_id, ${account} as account_id, max(case when priced > 0 then nullif(model, '') end) as model,
      max(vendor_code) as vendor_code, ${sumsOf(BILLED)}
    from (${used(engine, parts, { whose: { only, except }, sums: BILLED })}) used where ${PRICED}
    group by ${keys} order by ${keys}`
}

const PAID = ['deducted', 'priced'] as const satisfies readonly UsageSum[]

/** Sorted by the database, which keeps on disk what does not fit into its memory. */
function payersQuery(engine: EngineName, { limit }: PayersQuestion, parts: UsageParts): RawBuilder<PayerRow> {
  return sql<PayerRow>`
    select account_id, count(*) over () as accounts
    from (select account_id, sum(deducted) as deducted, sum(priced) as calls
      from (${used(engine, parts, { whose: {}, sums: PAID })}) used where ${PRICED} and account_id <> '' group by account_id) paid
    order by deducted desc, calls desc, account_id limit ${limit}`
}

/** As text, because the sum of an account's amounts may be more than 64 bits hold. */
function sumsOf(names: readonly UsageSum[]): RawBuilder<unknown> {
  return sql.join(names.map((name) => sql`cast(sum(${sql.ref(name)}) as text) as ${sql.ref(name)}`))
}

type Whose = Partial<Pick<UsageQuestion, 'accountId' | 'keyId' | 'keyIds'>> &
  Pick<ChainQuestion, 'only' | 'except'>

/** Rows with the columns of the sums, and the time at which their calls began. */
function used(
  engine: EngineName,
  { sums, logged }: UsageParts,
  { whose, sums: names }: { readonly whose: Whose; readonly sums: readonly UsageSum[] },
): RawBuilder<unknown> {
  const texts = ['credits_per_yuan', 'account_id', 'model', 'key_id', 'app_id', 'vendor_code']
  const columns = sql.raw(['chain_id', ...new Set<string>([...names, 'priced']), ...texts].join(', '))
  const selects = loggedUsage(engine).flatMap((select) =>
    logged.map(
      ({ from, until }) => sql`select began, ${columns} from (${sql.raw(select)}
        and created_at >= ${sql.lit(from)} and created_at < ${sql.lit(until)}${conditions(whose)}) logged`,
    ),
  )
  if (sums !== undefined) {
    const { from, until } = sums
    selects.unshift(sql`select at as began, ${columns} from usage_half_hours
      where at >= ${sql.lit(from)} and at < ${sql.lit(until)}${looked(engine, sums, whose)}${conditions(whose)}`)
  }
  return sql.join(selects, sql` union all `)
}

/** Each half-hour separately: the table is ordered by time, and an account has few rows in each half-hour. */
function looked(
  engine: EngineName,
  period: Period,
  { accountId, keyId, keyIds }: Whose,
): RawBuilder<unknown> {
  if (accountId === undefined && keyId === undefined && keyIds === undefined) return sql``
  const times = halfHoursIn(period)
  const each =
    engine === 'sqlite'
      ? sql` and at in (select value from json_each(${JSON.stringify(times)}))`
      : sql` and at = any(cast(${`{${times.join(',')}}`} as bigint[]))`
  if (accountId !== undefined) return each
  // The key's account is looked up first, because the table is indexed by account.
  const keys = [...(keyId === undefined ? [] : [keyId]), ...(keyIds ?? [])]
  return sql`${each} and account_id in (select account_id from api_keys where id in (${sql.join(keys)}))`
}

function conditions({ accountId, only, except, keyId, keyIds }: Whose): RawBuilder<unknown> {
  const account = accountId === undefined ? sql`` : sql` and account_id = ${accountId}`
  const key = keyId === undefined ? sql`` : sql` and key_id = ${keyId}`
  const keys = keyIds === undefined ? sql`` : sql` and key_id in (${sql.join(keyIds)})`
  const these = only === undefined ? sql`` : sql` and account_id in (${sql.join([...only])})`
  const others =
    except === undefined || except.length === 0
      ? sql``
      : sql` and coalesce(account_id, '') not in (${sql.join([...except])})`
  return sql`${account}${these}${others}${key}${keys}`
}

function decode(row: SumsRow, { from, bucketMs }: UsageQuestion): UsageRow {
  return {
    at: from + Number(row.bucket) * bucketMs,
    accountId: accountOf(row),
    model: row.model ?? undefined,
    keyId: row.key_id ?? undefined,
    appId: row.app_id ?? undefined,
    calls: Number(row.calls),
    failed: Number(row.failed),
    input: Number(row.input),
    cachedInput: Number(row.cached_input),
    cacheWrite: Number(row.cache_write),
    cacheWrite1h: Number(row.cache_write_1h),
    output: Number(row.output),
    reasoning: Number(row.reasoning),
    images: Number(row.images),
    videoSeconds: Number(row.video_ms) / 1000,
    characters: Number(row.characters),
    audioSeconds: Number(row.audio_ms) / 1000,
    amount: microCredits(BigInt(row.amount)),
    deducted: microCredits(BigInt(row.deducted)),
    covered: microCredits(BigInt(row.covered)),
  }
}

function accountOf({ account_id: id }: { readonly account_id: string | null }): AccountId | undefined {
  return id === null ? undefined : accountId(id)
}

function decodeChain(row: ChainRow): ChainUsage {
  return {
    accountId: accountOf(row),
    chainId: chainId(Number(row.chain_id)),
    model: row.model ?? undefined,
    vendorCode: row.vendor_code ?? undefined,
    calls: Number(row.priced),
    byok: Number(row.byok),
    free: Number(row.free),
    deducted: microCredits(BigInt(row.deducted)),
    billed: {
      input: Number(row.billed_input),
      cached_input: Number(row.billed_cached_input),
      cache_write: Number(row.billed_cache_write),
      cache_write_1h: Number(row.billed_cache_write_1h),
      output: Number(row.billed_output),
      image: Number(row.billed_images),
      video_second: Number(row.billed_video_ms) / 1000,
      request: Number(row.billed_requests),
      character: Number(row.billed_characters),
      audio_second: Number(row.billed_audio_ms) / 1000,
    },
  }
}
