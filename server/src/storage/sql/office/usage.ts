/** Sums over the call log, by bucket of time and what was asked for. */
import { type RawBuilder, sql } from 'kysely'
import { microCredits } from '../../../core/money.ts'
import type { UsageGroup, UsageQuestion, UsageRow, UsageStore } from '../../office.ts'
import type { SqlEngine } from '../engine.ts'
import type { EngineName } from '../migrations.ts'

/** A column of sums as either driver reads it. */
interface SumsRow {
  readonly bucket: bigint
  readonly model: string | null
  readonly key_id: string | null
  readonly app_id: string | null
  readonly calls: bigint
  readonly failed: bigint
  readonly input: bigint
  readonly cached_input: bigint
  readonly cache_write: bigint
  readonly cache_write_1h: bigint
  readonly output: bigint
  readonly reasoning: bigint
  readonly images: bigint
  readonly video_seconds: string
  readonly amount: string
  readonly deducted: string
  readonly covered: string
}

const COLUMNS: Readonly<Record<UsageGroup, RawBuilder<unknown>>> = {
  model: sql.ref('model'),
  key: sql.ref('key_id'),
  app: sql.ref('app_id'),
}

export function createUsageStore(engine: SqlEngine): UsageStore {
  return {
    async sums(question) {
      const { rows } = await sumsQuery(engine.name, question).execute(engine.reader)
      return rows.map((row) => decode(row, question))
    },
  }
}

function sumsQuery(engine: EngineName, question: UsageQuestion): RawBuilder<SumsRow> {
  const { from, until, bucketMs, groups } = question
  const chosen = (group: UsageGroup) => (groups.includes(group) ? COLUMNS[group] : sql`null`)
  const bucket = sql`(created_at - ${sql.lit(from)}) / ${sql.lit(bucketMs)}`
  const usage = (member: string) => whole(sql`coalesce(${detailInteger(engine, `usage.${member}`)}, 0)`)
  const keys = sql.join([bucket, ...groups.map((group) => COLUMNS[group])])
  return sql<SumsRow>`
    select ${bucket} as bucket, ${chosen('model')} as model, ${chosen('key')} as key_id, ${chosen('app')} as app_id,
      count(*) as calls,
      ${whole(sql`case when http_status >= 400 then 1 else 0 end`)} as failed,
      ${usage('input')} as input, ${usage('cachedInput')} as cached_input,
      ${usage('cacheWrite')} as cache_write, ${usage('cacheWrite1h')} as cache_write_1h,
      ${usage('output')} as output, ${usage('reasoning')} as reasoning,
      ${whole(sql`coalesce(${detailInteger(engine, 'images')}, 0)`)} as images,
      cast(sum(coalesce(${detailDecimal(engine, 'secondsDeclared')}, 0)) as text) as video_seconds,
      cast(sum(amount) as text) as amount, cast(sum(deducted) as text) as deducted,
      cast(sum(case when ${isCovered(engine)} then deducted else 0 end) as text) as covered
    from call_logs
    where created_at >= ${from} and created_at < ${until}${whose(question)}
    group by ${keys} order by ${keys} limit ${question.rowsMax}`
}

function whose({ accountId, keyId, keyIds }: UsageQuestion): RawBuilder<unknown> {
  const account = accountId === undefined ? sql`` : sql` and account_id = ${accountId}`
  const key = keyId === undefined ? sql`` : sql` and key_id = ${keyId}`
  if (keyIds === undefined) return sql`${account}${key}`
  return keyIds.length === 0 ? sql` and 1 = 0` : sql`${account}${key} and key_id in (${sql.join(keyIds)})`
}

const whole = (value: RawBuilder<unknown>): RawBuilder<unknown> => sql`cast(sum(${value}) as bigint)`

function detailInteger(engine: EngineName, path: string): RawBuilder<unknown> {
  if (engine === 'sqlite') return sql`json_extract(detail, ${sql.lit(`$.${path}`)})`
  return sql`(detail::json #>> ${sql.lit(`{${path.replace('.', ',')}}`)})::bigint`
}

function detailDecimal(engine: EngineName, path: string): RawBuilder<unknown> {
  if (engine === 'sqlite') return sql`json_extract(detail, ${sql.lit(`$.${path}`)})`
  return sql`(detail::json ->> ${sql.lit(path)})::numeric`
}

function isCovered(engine: EngineName): RawBuilder<unknown> {
  if (engine === 'sqlite') return sql`json_extract(detail, '$.subscriptionCovered') = 1`
  return sql`(detail::json ->> 'subscriptionCovered') = 'true'`
}

function decode(row: SumsRow, { from, bucketMs }: UsageQuestion): UsageRow {
  return {
    at: from + Number(row.bucket) * bucketMs,
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
    videoSeconds: Number(row.video_seconds),
    amount: microCredits(BigInt(row.amount)),
    deducted: microCredits(BigInt(row.deducted)),
    covered: microCredits(BigInt(row.covered)),
  }
}
