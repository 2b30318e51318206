/** Limits for messages to phones: countries, kinds of numbers, and how many per day and month. */
import { DAY_MS } from '../../../core/durations.ts'
import { parsePhoneNumberFromString } from 'libphonenumber-js/max'
import type { Budget } from '../../../storage/stores/identity.ts'
import type { Identity } from '../identity.ts'
import { textBudgetText } from './message-texts.ts'
import type { TextMessageRules } from './text-message-rules.ts'

/** Satellite networks, international networks, premium and corporate numbers of no country (ITU-T E.164). */
const EXPENSIVE_PREFIXES = ['+870', '+878', '+881', '+882', '+883', '+888', '+979']
/** Numbers that cost more, or that cannot receive messages. */
const EXPENSIVE_KINDS = ['PREMIUM_RATE', 'SHARED_COST', 'PAGER', 'UAN', 'VOICEMAIL', 'TOLL_FREE'] as const

/**
 * Whether a number gets messages, by the number alone: the answer reveals nothing about an account.
 * @param phone in E.164
 */
export function mayBeTexted(phone: string, { countries, refused }: TextMessageRules): boolean {
  const number = parsePhoneNumberFromString(phone)
  const covers = (place: string): boolean =>
    place.startsWith('+') ? phone.startsWith(place) : number?.country === place
  if (refused.some(covers)) return false
  if (countries.some((place) => place.startsWith('+') && covers(place))) return true
  if (EXPENSIVE_PREFIXES.some((prefix) => phone.startsWith(prefix))) return false
  const kind = number?.getType()
  // Numbers that are invalid in their country are not tried: messages would cost money and their destination is
  // unknown.
  if (kind === undefined || EXPENSIVE_KINDS.some((one) => one === kind)) return false
  return countries.length === 0 || countries.some(covers)
}

/** Who requests the message: a stranger, an account from a new network, an account from a known network. */
export type TextAsker = 'stranger' | 'account' | 'known-place'

/**
 * The share of a budget that each may use. Mass registrations leave half of it to existing accounts, and attackers who
 * know accounts' numbers leave a fifth to sign-ins from known networks.
 */
const SHARES: Readonly<Record<TextAsker, number>> = { stranger: 0.5, account: 0.8, 'known-place': 1 }
/** Share at which administrators are notified. */
const WARN_SHARE = 0.8

export function textBudgets(
  { dayLimit, monthLimit }: TextMessageRules,
  asker: TextAsker,
  at: number,
): readonly [day: Budget, month: Budget] {
  const date = new Date(at)
  const share = SHARES[asker]
  const dayEnd = Math.floor(at / DAY_MS) * DAY_MS + DAY_MS
  const monthEnd = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1)
  return [
    {
      subject: `sms/day/${date.toISOString().slice(0, 10)}`,
      limit: Math.floor(dayLimit * share),
      endsAt: dayEnd,
    },
    {
      subject: `sms/month/${date.toISOString().slice(0, 7)}`,
      limit: Math.floor(monthLimit * share),
      endsAt: monthEnd,
    },
  ]
}

/** Time until a message may be sent; undefined: it may be sent now. Takes nothing. */
export async function textWaitMs(identity: Identity, asker: TextAsker): Promise<number | undefined> {
  if (!identity.messenger.leaves('phone')) return undefined
  const at = identity.now()
  const budgets = textBudgets(identity.textMessages, asker, at)
  const used = await identity.storage.identity.budgets.used(budgets.map(({ subject }) => subject))
  const waits = budgets.flatMap(({ limit, endsAt }, place) =>
    (used[place] ?? 0) < limit ? [] : [endsAt - at],
  )
  return waits.length === 0 ? undefined : Math.max(...waits)
}

/** Takes one from each budget. False: it is used up, and nothing may be sent. */
export async function takeText(identity: Identity, asker: TextAsker): Promise<boolean> {
  if (!identity.messenger.leaves('phone')) return true
  const { textMessages: rules, security } = identity
  const budgets = textBudgets(rules, asker, identity.now())
  const used = await identity.storage.identity.budgets.take(budgets)
  if (used === undefined) {
    security.note('message.refused', { why: 'budget', asker })
    return false
  }
  const whole = { day: rules.dayLimit, month: rules.monthLimit }
  for (const [place, period] of (['day', 'month'] as const).entries())
    watch(identity, { period, used: used[place] ?? 0, limit: whole[period] })
  return true
}

/** Exactly one message reaches a threshold, so that administrators are notified once per period. */
function watch(
  identity: Identity,
  {
    period,
    used,
    limit,
  }: { readonly period: 'day' | 'month'; readonly used: number; readonly limit: number },
): void {
  if (used !== Math.ceil(limit * WARN_SHARE) && used !== limit) return
  identity.security.note('message.budget', { period, used, limit })
  identity.background.track(notifyAdministrators(identity, { period, used, limit }), 'tell of text messages')
}

/** Most administrators notified; more would be a mailing list. */
const TOLD_MAX = 20

async function notifyAdministrators(
  { storage, messenger }: Identity,
  facts: { readonly period: 'day' | 'month'; readonly used: number; readonly limit: number },
): Promise<void> {
  if (!messenger.leaves('email')) return
  const admins = await storage.accounts.list({
    limit: TOLD_MAX,
    after: undefined,
    role: 'admin',
    status: 'active',
  })
  for (const { email } of admins)
    if (email !== undefined) await messenger.send({ channel: 'email', to: email, ...textBudgetText(facts) })
}
