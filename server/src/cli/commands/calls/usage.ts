import { DAY_MS, HALF_HOUR_MS } from '../../../core/durations.ts'
import { instant, timezone, word } from '../../../config/gateway-file/values.ts'
import type { JsonObject } from '../../../core/json.ts'
import {
  readUsage,
  USAGE_INTERVALS,
  type AccountUsageView,
  type UsageSums,
} from '../../../management/money/usage.ts'
import { USAGE_GROUPS } from '../../../storage/stores/customers.ts'
import { type Cell, type Console, jsonText, plural, tableText } from '../../console.ts'
import { CommandFailure } from '../../exit-codes.ts'
import { requireAccount, requireKey } from '../../find-rows.ts'
import { optionValue } from '../../option-value.ts'
import { withStorage } from '../../with-storage.ts'

export interface UsageFlags {
  readonly account?: string
  readonly key?: string
  readonly from?: string
  readonly to?: string
  readonly interval?: string
  readonly by?: readonly string[]
  readonly timeZone?: string
  readonly recount?: boolean
  readonly json?: boolean
}

const DAYS_DEFAULT = 30
const HOURS_DAYS_DEFAULT = 1

/** The totals are those of the log. */
export async function usage(io: Console, flags: UsageFlags): Promise<void> {
  if (flags.recount === true) return recount(io, flags)
  const interval = optionValue('--interval', flags.interval, word(USAGE_INTERVALS)) ?? 'day'
  const zone = optionValue('--time-zone', flags.timeZone, timezone)
  const until = optionValue('--to', flags.to, instant) ?? io.now()
  const days = interval === 'hour' ? HOURS_DAYS_DEFAULT : DAYS_DEFAULT
  const from = optionValue('--from', flags.from, instant) ?? until - days * DAY_MS
  const groups = (flags.by ?? []).map((text) => groupOf(text))
  const { answer, timezone: used } = await withStorage(io, 'refuse', async (storage) => {
    const account = flags.account === undefined ? undefined : await requireAccount(io, storage, flags.account)
    const key = flags.key === undefined ? undefined : await requireKey(storage, flags.key)
    const shownZone = zone ?? (await storage.catalogue.read()).settings.timezone
    const question = { accountId: account?.id, keyId: key?.id, interval, groups, from, until: until + 1 }
    return { answer: await readUsage(storage, { ...question, timezone: shownZone }), timezone: shownZone }
  })
  if (answer.kind === 'refused') {
    throw new CommandFailure('mistakes', `--${answer.path.replace('group_by', 'by')} ${answer.message.text}`)
  }
  if (flags.json === true) {
    io.out(
      jsonText({
        from: new Date(from).toISOString(),
        to: new Date(until).toISOString(),
        interval,
        time_zone: used,
        rows: answer.rows.map((row): JsonObject => ({ ...row, usage: { ...row.usage } })),
        totals: { ...answer.totals, usage: { ...answer.totals.usage } },
      }),
    )
    return
  }
  const keys = groups.map((group) => GROUPS[group])
  const head = ['FROM', ...keys.map(({ title }) => title), ...SUM_TITLES]
  const rows = answer.rows.map((row) => [row.at, ...keys.map(({ of }) => of(row)), ...sumCells(row)])
  const totals = ['all', ...keys.map(() => ''), ...sumCells(answer.totals)]
  io.out(tableText(head, [...rows, totals]))
}

/** Recomputing affects all accounts permanently, so only a period can be given. */
async function recount(io: Console, flags: UsageFlags): Promise<void> {
  for (const option of ['account', 'key', 'by'] as const) {
    if (flags[option] !== undefined)
      throw new CommandFailure('mistakes', `--${option} cannot be combined with --recount`)
  }
  // The current half-hour is included.
  const until = optionValue('--to', flags.to, instant) ?? io.now() + HALF_HOUR_MS
  const from = optionValue('--from', flags.from, instant) ?? until - DAYS_DEFAULT * DAY_MS
  const halfHours = await withStorage(io, 'refuse', (storage) =>
    storage.customers.usage.recount({ from, until }),
  )
  if (flags.json === true) io.out(jsonText({ half_hours: halfHours }))
  else io.out(`counted ${plural(halfHours, 'half-hour')} again from the log\n`)
}

type Group = (typeof USAGE_GROUPS)[number]

const GROUPS: Readonly<
  Record<Group, { readonly title: string; readonly of: (row: AccountUsageView) => Cell }>
> = {
  model: { title: 'MODEL', of: (row) => row.model ?? undefined },
  key: { title: 'KEY', of: (row) => row.key_id ?? undefined },
  app: { title: 'APP', of: (row) => row.app_id ?? undefined },
  account: { title: 'ACCOUNT', of: (row) => row.account_id ?? undefined },
}

function groupOf(text: string): Group {
  const group = USAGE_GROUPS.find((name) => name === text)
  if (group !== undefined) return group
  throw new CommandFailure('mistakes', `--by must be some of ${USAGE_GROUPS.join(', ')}`)
}

const SUM_TITLES = [
  'CALLS',
  'FAILED',
  'TOKENS IN/OUT',
  'IMAGES',
  'SECONDS',
  'CHARACTERS',
  'SOUND',
  'CREDITS',
  'BY SUBSCRIPTION',
]

function sumCells({ calls, failed, usage: tokens, ...sums }: UsageSums): readonly Cell[] {
  const input = tokens.input + tokens.cached_input + tokens.cache_write + tokens.cache_write_1h
  const { images, video_seconds: seconds, characters, audio_seconds: sound } = sums
  const { deducted, subscription_covered: covered } = sums
  return [calls, failed, `${input}/${tokens.output}`, images, seconds, characters, sound, deducted, covered]
}
