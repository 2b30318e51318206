/** Converts the filters of the log between search parameters and query parameters. */
import type { CallFilter } from '../../api/calls.ts'
import { choiceField, present, textField } from '../lists/search-fields.ts'
import { dayOf, dayStart } from '../values/zoned-days.ts'

/** The period. */
export const PERIODS = ['today', '24h', '7d', '30d', 'all'] as const
export type Period = (typeof PERIODS)[number]
export const DEFAULT_PERIOD: Period = '7d'
const HOUR_MS = 3_600_000
const LENGTH_MS = { '24h': 24 * HOUR_MS, '7d': 7 * 24 * HOUR_MS, '30d': 30 * 24 * HOUR_MS } as const

export const ENDINGS = ['complete', 'failed'] as const
/** Rarely used filters: texts that were sent with the call, and numbers. */
export const FURTHER = [
  'request_id',
  'app_id',
  'custom_id',
  'user',
  'status',
  'cost_from',
  'cost_to',
] as const

export function readSearch(search: Record<string, unknown>) {
  return present({
    period: choiceField(search['period'], PERIODS),
    model: textField(search['model']),
    key_id: textField(search['key_id']),
    ending: choiceField(search['ending'], ENDINGS),
    request_id: textField(search['request_id']),
    app_id: textField(search['app_id']),
    custom_id: textField(search['custom_id']),
    user: textField(search['user']),
    status: textField(search['status']),
    cost_from: textField(search['cost_from']),
    cost_to: textField(search['cost_to']),
    /** The cursor of a later page. */
    before: textField(search['before']),
    /** The call whose details are open. */
    call: textField(search['call']),
    tail: search['tail'] === true ? true : undefined,
  })
}

export type CallsSearch = ReturnType<typeof readSearch>

/** `openedAt`: fixes the start; with a moving start every request would have another query key. */
export function filterOf(
  search: CallsSearch,
  { openedAt, timeZone }: { readonly openedAt: number; readonly timeZone: string | undefined },
): CallFilter {
  const {
    period = DEFAULT_PERIOD,
    ending,
    before: _before,
    call: _call,
    tail: _tail,
    status,
    ...others
  } = search
  const from =
    period === 'all'
      ? undefined
      : period === 'today'
        ? dayStart(dayOf(openedAt, timeZone), timeZone)
        : Math.floor((openedAt - LENGTH_MS[period]) / HOUR_MS) * HOUR_MS
  return present({
    ...others,
    from: from === undefined ? undefined : new Date(from).toISOString(),
    status: status === undefined ? undefined : Number(status),
    failed: ending === undefined ? undefined : ending === 'failed' ? ('true' as const) : ('false' as const),
  })
}
