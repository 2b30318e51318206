/** What an account used, summed from its call log. */
import { DAY_MS, HALF_HOUR_MS, HOUR_MS } from '../../core/durations.ts'
import type { AccountId, KeyId } from '../../core/ids.ts'
import { type MicroCredits, microCredits } from '../../core/money.ts'
import type { Period, UsageGroup, UsageRow } from '../../storage/stores/customers.ts'
import type { Storage } from '../../storage/storage.ts'
import { creditsText } from './amounts.ts'
import { nextDay } from '../../core/calendar.ts'

export const USAGE_INTERVALS = ['hour', 'day', 'total'] as const
export type UsageInterval = (typeof USAGE_INTERVALS)[number]

/** Longest period per interval: as many buckets as a chart can show, and as much log as one answer may read. */
const PERIOD_MS_MAX: Record<UsageInterval, number> = {
  hour: 32 * DAY_MS,
  day: 366 * DAY_MS,
  total: 366 * DAY_MS,
}
/** Rows of one answer. */
const ROWS_MAX = 10_000

/** Where a period that names no end ends, by the buckets that sums are kept in: the same all through a half-hour, so that an unchanged answer stays unchanged. */
export function openEnd(at: number): number {
  return at - (at % HALF_HOUR_MS) + HALF_HOUR_MS
}

export interface UsageQuestion extends Period {
  /** undefined: every account's. */
  readonly accountId: AccountId | undefined
  readonly keyId: KeyId | undefined
  /** Only calls of these; absent: of every key. */
  readonly keyIds?: readonly KeyId[] | undefined
  readonly interval: UsageInterval
  readonly groups: readonly UsageGroup[]
  /** Whose midnight ends a day. */
  readonly timezone: string
}

export type UsageAnswer =
  | { readonly kind: 'usage'; readonly rows: readonly UsageView[]; readonly totals: UsageSums }
  | UsageRefusal

/** The period or the answer would be too large; what to do about it. */
export interface UsageRefusal {
  readonly kind: 'refused'
  readonly path: string
  readonly message: string
}

export interface UsageSums {
  readonly calls: number
  readonly failed: number
  readonly usage: {
    readonly input: number
    readonly cached_input: number
    readonly cache_write: number
    readonly cache_write_1h: number
    readonly output: number
    readonly reasoning: number
  }
  readonly images: number
  readonly video_seconds: number
  readonly characters: number
  readonly audio_seconds: number
  readonly amount: string
  readonly deducted: string
  /** Of `deducted`, what the subscription paid. */
  readonly subscription_covered: string
}

export interface UsageView extends UsageSums {
  /** First moment of the bucket. */
  readonly at: string
  readonly model: string | null
  readonly key_id: string | null
  readonly app_id: string | null
}

export async function readUsage(
  storage: Pick<Storage, 'customers'>,
  question: UsageQuestion,
): Promise<UsageAnswer> {
  const summed = await sumUsage(storage, question)
  if (summed.kind === 'refused') return summed
  return { kind: 'usage', rows: summed.rows.map(viewRow), totals: viewSums(summed.rows) }
}

/** Read a day at a time, so that no question holds a database for long, whatever it asks for. */
export async function sumUsage(
  storage: Pick<Storage, 'customers'>,
  question: UsageQuestion,
): Promise<{ readonly kind: 'sums'; readonly rows: readonly UsageRow[] } | UsageRefusal> {
  const lengthMs = question.until - question.from
  if (lengthMs <= 0) return { kind: 'refused', path: 'to', message: 'must not lie before from' }
  if (lengthMs > PERIOD_MS_MAX[question.interval]) {
    const days = PERIOD_MS_MAX[question.interval] / DAY_MS
    return {
      kind: 'refused',
      path: 'from',
      message: `must lie at most ${days} days before to for this interval`,
    }
  }
  const rows = new Map<string, UsageRow>()
  for (const period of daysOf(question)) {
    for (const row of await readPart(storage, question, period)) {
      const at = question.interval === 'total' ? question.from : row.at
      const key = JSON.stringify([at, row.model, row.keyId, row.appId])
      const before = rows.get(key)
      rows.set(key, before === undefined ? { ...row, at } : addRows(before, row))
    }
    if (rows.size > ROWS_MAX) {
      const message = `splits this period into more than ${ROWS_MAX} rows: group by less, or ask for a shorter one`
      return { kind: 'refused', path: 'group_by', message }
    }
  }
  return { kind: 'sums', rows: [...rows.values()] }
}

/** One stretch of it. */
async function readPart(
  storage: Pick<Storage, 'customers'>,
  { accountId, keyId, keyIds, groups, interval }: UsageQuestion,
  { from, until }: Period,
): Promise<readonly UsageRow[]> {
  return storage.customers.usage.sums({
    accountId,
    keyId,
    keyIds,
    groups,
    from,
    until,
    bucketMs: interval === 'hour' ? HOUR_MS : until - from,
    rowsMax: ROWS_MAX + 1,
  })
}

/** Stretches of at most a day whose borders are borders of buckets too. */
function* daysOf({ from, until, interval, timezone }: UsageQuestion): Generator<Period> {
  let at = from
  while (at < until) {
    const next = Math.min(until, interval === 'hour' ? nextHourOrDay(at) : nextDay(at, timezone))
    yield { from: at, until: next }
    at = next
  }
}

/** Up to the next full hour; from a full hour on, a day of them. */
function nextHourOrDay(at: number): number {
  return at % HOUR_MS === 0 ? at + DAY_MS : at - (at % HOUR_MS) + HOUR_MS
}

const NOTHING_USED: UsageRow = {
  at: 0,
  model: undefined,
  keyId: undefined,
  appId: undefined,
  calls: 0,
  failed: 0,
  input: 0,
  cachedInput: 0,
  cacheWrite: 0,
  cacheWrite1h: 0,
  output: 0,
  reasoning: 0,
  images: 0,
  videoSeconds: 0,
  characters: 0,
  audioSeconds: 0,
  amount: microCredits(0n),
  deducted: microCredits(0n),
  covered: microCredits(0n),
}

export function addRows(left: UsageRow, right: UsageRow): UsageRow {
  const money = (one: MicroCredits, other: MicroCredits) => microCredits(one + other)
  return {
    at: left.at,
    model: left.model,
    keyId: left.keyId,
    appId: left.appId,
    calls: left.calls + right.calls,
    failed: left.failed + right.failed,
    input: left.input + right.input,
    cachedInput: left.cachedInput + right.cachedInput,
    cacheWrite: left.cacheWrite + right.cacheWrite,
    cacheWrite1h: left.cacheWrite1h + right.cacheWrite1h,
    output: left.output + right.output,
    reasoning: left.reasoning + right.reasoning,
    images: left.images + right.images,
    videoSeconds: left.videoSeconds + right.videoSeconds,
    characters: left.characters + right.characters,
    audioSeconds: left.audioSeconds + right.audioSeconds,
    amount: money(left.amount, right.amount),
    deducted: money(left.deducted, right.deducted),
    covered: money(left.covered, right.covered),
  }
}

export function viewRow(row: UsageRow): UsageView {
  return {
    at: new Date(row.at).toISOString(),
    model: row.model ?? null,
    key_id: row.keyId ?? null,
    app_id: row.appId ?? null,
    ...viewSums([row]),
  }
}

export function viewSums(rows: readonly UsageRow[]): UsageSums {
  const row = rows.reduce(addRows, NOTHING_USED)
  return {
    calls: row.calls,
    failed: row.failed,
    usage: {
      input: row.input,
      cached_input: row.cachedInput,
      cache_write: row.cacheWrite,
      cache_write_1h: row.cacheWrite1h,
      output: row.output,
      reasoning: row.reasoning,
    },
    images: row.images,
    video_seconds: row.videoSeconds,
    characters: row.characters,
    audio_seconds: row.audioSeconds,
    amount: creditsText(row.amount),
    deducted: creditsText(row.deducted),
    subscription_covered: creditsText(row.covered),
  }
}
