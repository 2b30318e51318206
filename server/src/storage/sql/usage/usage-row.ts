/** One row of the sums by half-hours, and what a logged call adds to it. */
import type { CallLogRow } from '../../../core/ledger/log-row.ts'
import {
  USAGE_AMOUNT_MAX,
  USAGE_HALF_HOUR_MS,
  USAGE_KEY,
  USAGE_QUANTITY_MAX,
  USAGE_SUMS,
} from '../migrations/usage-half-hours.ts'
import type { Cell, Table } from '../table.ts'
import type { RecipeLine } from '../../../core/ledger/recipe.ts'

export type UsageSum = (typeof USAGE_SUMS)[number]

/** Calls with equal values in all of these share a row. Empty text and 0: none. */
export interface UsageKey {
  /** Begin of the half-hour, epoch ms. */
  readonly at: number
  readonly accountId: string
  readonly keyId: string
  readonly model: string
  readonly appId: string
  readonly chainId: number
  /** The rate used in the price formula; empty: the call has no price. */
  readonly creditsPerUnit: string
  readonly lane: number
}

export interface UsageRow {
  readonly key: UsageKey
  /** Determined by the chain. */
  readonly vendorCode: string | undefined
  /** In the order of `USAGE_SUMS`. */
  readonly sums: readonly bigint[]
}

export const usageHalfHours: Table<UsageRow> = {
  name: 'usage_half_hours',
  columns: {
    at: 'integer',
    account_id: 'text',
    key_id: 'text',
    model: 'text',
    app_id: 'text',
    chain_id: 'integer',
    credits_per_yuan: 'text',
    lane: 'integer',
    vendor_code: 'text',
    ...sumColumns(),
  },
  encode: ({ key, vendorCode, sums }): readonly Cell[] => [
    key.at,
    key.accountId,
    key.keyId,
    key.model,
    key.appId,
    key.chainId,
    key.creditsPerUnit,
    key.lane,
    vendorCode ?? null,
    ...sums,
  ],
}

function sumColumns(): Readonly<Record<string, 'integer'>> {
  return Object.fromEntries(USAGE_SUMS.map((name) => [name, 'integer']))
}

/** The `on conflict` clause: an existing row is increased. */
export const ADD_TO_USAGE = `on conflict (${USAGE_KEY.join(', ')}) do update set ${USAGE_SUMS.map(
  (name) => `${name} = usage_half_hours.${name} + excluded.${name}`,
).join(', ')}`

/** First moment of the half-hour. */
export function halfHourOf(at: number): number {
  return at - (at % USAGE_HALF_HOUR_MS)
}

/** What one call adds to each sum, in the order of `USAGE_SUMS`. */
export function usageOf(log: CallLogRow): bigint[] {
  return SUMS.map((sum) => sum(log))
}

const count = (condition: boolean): bigint => (condition ? 1n : 0n)

const ADDED: Readonly<Record<UsageSum, (log: CallLogRow) => bigint>> = {
  calls: () => 1n,
  failed: (log) => count(log.httpStatus >= 400),
  input: (log) => quantity(log.usage.input),
  cached_input: (log) => quantity(log.usage.cachedInput),
  cache_write: (log) => quantity(log.usage.cacheWrite),
  cache_write_1h: (log) => quantity(log.usage.cacheWrite1h),
  output: (log) => quantity(log.usage.output),
  reasoning: (log) => quantity(log.usage.reasoning),
  images: (log) => quantity(log.images),
  video_ms: (log) => thousandths(log.secondsDeclared),
  characters: (log) => quantity(log.characters),
  audio_ms: (log) => thousandths(log.audioSeconds),
  amount: (log) => amount(log.amount),
  deducted: (log) => amount(log.deducted),
  covered: (log) => (log.subscriptionCovered ? amount(log.deducted) : 0n),
  priced: (log) => count(log.recipe !== undefined),
  byok: (log) => count(log.recipe !== undefined && log.byok),
  free: (log) => count(log.recipe !== undefined && !log.byok && log.deducted === 0n),
  billed_input: (log) => quantity(billed(log, 'input')),
  billed_cached_input: (log) => quantity(billed(log, 'cached_input')),
  billed_cache_write: (log) => quantity(billed(log, 'cache_write')),
  billed_cache_write_1h: (log) => quantity(billed(log, 'cache_write_1h')),
  billed_output: (log) => quantity(billed(log, 'output')),
  billed_images: (log) => quantity(billed(log, 'image')),
  billed_video_ms: (log) => thousandths(billed(log, 'video_second')),
  billed_requests: (log) => quantity(billed(log, 'request')),
  billed_characters: (log) => quantity(billed(log, 'character')),
  billed_audio_ms: (log) => thousandths(billed(log, 'audio_second')),
}

const SUMS = USAGE_SUMS.map((name) => ADDED[name])

function billed({ byok, recipe }: CallLogRow, part: RecipeLine['class']): number {
  if (byok || recipe === undefined) return 0
  let sum = 0
  for (const line of recipe.lines) if (line.class === part) sum += line.quantity
  return sum
}

function quantity(value: number | undefined): bigint {
  if (value === undefined || value <= 0 || !Number.isFinite(value)) return 0n
  return BigInt(Math.min(Math.trunc(value), USAGE_QUANTITY_MAX))
}

function thousandths(value: number | undefined): bigint {
  return value === undefined ? 0n : quantity(Math.round(value * 1000))
}

const AMOUNT_MAX = BigInt(USAGE_AMOUNT_MAX)

function amount(value: bigint): bigint {
  if (value <= 0n) return 0n
  return value > AMOUNT_MAX ? AMOUNT_MAX : value
}
