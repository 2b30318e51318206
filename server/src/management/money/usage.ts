/** An account's usage, summed from its call log. */
import { say, type Sentence } from '../../core/sentences/say.ts'
import { DAY_MS, HALF_HOUR_MS, HOUR_MS } from '../../core/durations.ts'
import { type AccountId, accountId, type KeyId, keyId } from '../../core/ids.ts'
import { type MicroCredits, microCredits } from '../../core/money.ts'
import type { Period, UsageGroup, UsageRow } from '../../storage/stores/customers.ts'
import type { Storage } from '../../storage/storage.ts'
import { creditsText } from './amounts.ts'
import { nextDay } from '../../core/calendar.ts'

export const USAGE_INTERVALS = ['hour', 'day', 'total'] as const
export type UsageInterval = (typeof USAGE_INTERVALS)[number]

/** Longest period per interval: limited by the buckets a chart can show, and by the log that one answer may read. */
const PERIOD_MS_MAX: Record<UsageInterval, number> = {
  hour: 32 * DAY_MS,
  day: 366 * DAY_MS,
  total: 366 * DAY_MS,
}
/** Rows of one answer. */
const ROWS_MAX = 10_000
/** Rows read per day if only the largest groups are listed. */
const DAY_ROWS_MAX = 50_000
/** Replaces the group's name in the row that sums the groups not listed individually. */
export const OTHER_GROUPS = '(other)'

/**
 * End of a period without one, aligned to the half-hours of the sums: constant during a half-hour, so that an unchanged
 * answer keeps its ETag.
 */
export function openEnd(at: number): number {
  return at - (at % HALF_HOUR_MS) + HALF_HOUR_MS
}

export interface UsageQuestion extends Period {
  /** undefined: all accounts. */
  readonly accountId: AccountId | undefined
  readonly keyId: KeyId | undefined
  /** Only calls of these keys; absent: of all keys. */
  readonly keyIds?: readonly KeyId[] | undefined
  readonly interval: UsageInterval
  readonly groups: readonly UsageGroup[]
  /** Number of groups listed, by largest payment, then by most calls; the others are summed as one. Absent: all. */
  readonly largest?: number | undefined
  /** Time zone of the days. */
  readonly timezone: string
  /** Once aborted, nothing more is read: nobody waits for the sums, and they lack the rest. */
  readonly signal?: AbortSignal | undefined
}

export type UsageAnswer =
  | { readonly kind: 'usage'; readonly rows: readonly AccountUsageView[]; readonly totals: UsageSums }
  | UsageRefusal

/** The period or the answer would be too large; what to do about it. */
export interface UsageRefusal {
  readonly kind: 'refused'
  readonly path: string
  readonly message: Sentence
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
  /** The part of `deducted` that the subscription paid. */
  readonly subscription_covered: string
}

export interface UsageView extends UsageSums {
  /** First moment of the bucket. */
  readonly at: string
  readonly model: string | null
  readonly key_id: string | null
  readonly app_id: string | null
}

export interface AccountUsageView extends UsageView {
  /** null: not grouped by it, or there is no account. */
  readonly account_id: string | null
}

export async function readUsage(
  storage: Pick<Storage, 'customers'>,
  question: UsageQuestion,
): Promise<UsageAnswer> {
  const summed = await sumUsage(storage, question)
  if (summed.kind === 'refused') return summed
  return {
    kind: 'usage',
    rows: summed.rows.map((row) => ({ ...viewRow(row), account_id: row.accountId ?? null })),
    totals: viewSums(summed.rows),
  }
}

/** Read a day at a time, so that no query occupies the database for long. */
export async function sumUsage(
  storage: Pick<Storage, 'customers'>,
  question: UsageQuestion,
): Promise<{ readonly kind: 'sums'; readonly rows: readonly UsageRow[] } | UsageRefusal> {
  const lengthMs = question.until - question.from
  if (lengthMs <= 0) return { kind: 'refused', path: 'to', message: say('must-not-lie-before-from') }
  if (lengthMs > PERIOD_MS_MAX[question.interval]) {
    const days = PERIOD_MS_MAX[question.interval] / DAY_MS
    return {
      kind: 'refused',
      path: 'from',
      message: say('at-most-days-before-to', { days }),
    }
  }
  const rows = new Map<string, UsageRow>()
  for (const period of daysOf(question)) {
    if (question.signal?.aborted === true) break
    const part = await readPart(storage, question, period)
    if (part.length > rowsMaxOf(question)) return tooMany(question)
    for (const row of part) {
      const at = question.interval === 'total' ? question.from : row.at
      addTo(rows, { ...row, at })
    }
    if (question.largest === undefined && rows.size > ROWS_MAX) return tooMany(question)
  }
  const all = [...rows.values()]
  const told = question.largest === undefined ? all : withOthersSummed(all, question.largest, question.groups)
  return told.length > ROWS_MAX ? tooMany(question) : { kind: 'sums', rows: told }
}

function rowsMaxOf({ largest }: UsageQuestion): number {
  return largest === undefined ? ROWS_MAX : DAY_ROWS_MAX
}

function tooMany(question: UsageQuestion): UsageRefusal {
  const message = say('too-many-rows', { most: rowsMaxOf(question) })
  return { kind: 'refused', path: 'group_by', message }
}

function addTo(rows: Map<string, UsageRow>, row: UsageRow): void {
  const key = JSON.stringify([row.at, ...groupOf(row)])
  const before = rows.get(key)
  rows.set(key, before === undefined ? row : addRows(before, row))
}

function groupOf({ accountId, model, keyId, appId }: UsageRow): readonly (string | undefined)[] {
  return [accountId, model, keyId, appId]
}

/** A group is listed for the whole period or not at all, whatever its use in a bucket. */
function withOthersSummed(
  rows: readonly UsageRow[],
  count: number,
  groups: readonly UsageGroup[],
): readonly UsageRow[] {
  const wholes = new Map<string, UsageRow>()
  for (const row of rows) addTo(wholes, { ...row, at: 0 })
  const largest = [...wholes.values()].sort(byWhatWasPaid).slice(0, count)
  const told = new Set(largest.map((row) => JSON.stringify(groupOf(row))))
  const shown = new Map<string, UsageRow>()
  for (const row of rows)
    addTo(shown, told.has(JSON.stringify(groupOf(row))) ? row : { ...row, ...othersOf(groups) })
  return [...shown.values()]
}

function byWhatWasPaid(one: UsageRow, other: UsageRow): number {
  if (one.deducted !== other.deducted) return one.deducted > other.deducted ? -1 : 1
  return other.calls - one.calls
}

function othersOf(groups: readonly UsageGroup[]): Partial<UsageRow> {
  return {
    ...(groups.includes('account') && { accountId: accountId(OTHER_GROUPS) }),
    ...(groups.includes('model') && { model: OTHER_GROUPS }),
    ...(groups.includes('key') && { keyId: keyId(OTHER_GROUPS) }),
    ...(groups.includes('app') && { appId: OTHER_GROUPS }),
  }
}

/** Reads one part of the period. */
async function readPart(
  storage: Pick<Storage, 'customers'>,
  question: UsageQuestion,
  { from, until }: Period,
): Promise<readonly UsageRow[]> {
  return storage.customers.usage.sums({
    accountId: question.accountId,
    keyId: question.keyId,
    keyIds: question.keyIds,
    groups: question.groups,
    from,
    until,
    bucketMs: question.interval === 'hour' ? HOUR_MS : until - from,
    rowsMax: rowsMaxOf(question) + 1,
  })
}

/** Parts of at most a day whose boundaries are also boundaries of buckets. */
function* daysOf({ from, until, interval, timezone }: UsageQuestion): Generator<Period> {
  let at = from
  while (at < until) {
    const next = Math.min(until, interval === 'hour' ? nextHourOrDay(at) : nextDay(at, timezone))
    yield { from: at, until: next }
    at = next
  }
}

/** The next full hour; from a full hour on, a day later. */
function nextHourOrDay(at: number): number {
  return at % HOUR_MS === 0 ? at + DAY_MS : at - (at % HOUR_MS) + HOUR_MS
}

const NOTHING_USED: UsageRow = {
  at: 0,
  accountId: undefined,
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
    accountId: left.accountId,
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
