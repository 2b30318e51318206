import { say } from '../../core/sentences/say.ts'
import type { Currency, DecimalText } from '../../core/catalogue.ts'
import { normalEmail } from '../../core/identity/email-address.ts'
import { vendorCode } from '../../core/ids.ts'
import { normalPhone } from '../phone-number.ts'
import type { FileNode, Report } from './file-node.ts'
import type {
  AccountFileRow,
  AutoExchangeRow,
  ByokRow,
  KeyRow,
  PlanRow,
  SettingsRow,
  SubscriptionRow,
} from './gateway-file.ts'
import { type MapReader, memberPlace, openMap, type Read } from './map-reader.ts'
import { modelName, named } from './read-models.ts'
import { readCredentialSecret } from './read-vendors.ts'
import {
  addressRange,
  boolean,
  CURRENCY,
  CURRENCY_FORM,
  currencyCode,
  decimal,
  converted,
  formed,
  instant,
  integer,
  list,
  placed,
  policy,
  secret,
  shortText,
  timezone,
  word,
} from './values.ts'

/** Levels of the plans the contract names (docs/reference/contract.md#5-41). */
const PLAN_LEVELS: ReadonlyMap<string, number> = new Map([
  ['PLUS', 1],
  ['PRO', 2],
  ['PROMAX', 3],
])
const DAYS = integer({ least: 1, most: 36_500 })
/** Amounts in files have at most six decimals (docs/reference/contract.md#D-names-02). */
const AMOUNT = decimal({ decimalsMax: 6, most: '1000000000000' })
/** Derived from µCr at any rate, so it may need more. */
const EXACT_AMOUNT = decimal({ most: '1000000000' })
const RATE = decimal({ above: '0', decimalsMax: 6, most: '1000000' })
const EMAIL = converted(normalEmail, say('must-be-an-email'))

export const readSettings: Read<SettingsRow> = (node, report) => {
  const map = openMap(node, report)
  if (map === undefined) return undefined
  const row: SettingsRow = {
    currency: map.optional('currency', currencyCode),
    currencyPlace: memberPlace(map, 'currency'),
    currencies: readRates(map, report),
    ratePlace: memberPlace(map, map.has('currencies') ? 'currencies' : 'credits_per_yuan'),
    timezone: map.optional('timezone', timezone),
    keyPrefix: map.optional('key_prefix', formed(/^[A-Za-z0-9_-]{1,40}$/, say('must-be-a-key-prefix'))),
    limits: map.optional('limits', policy),
  }
  map.close()
  return row
}

/** `credits_per_yuan` is an abbreviation for the rate of CNY. */
function readRates(map: MapReader, report: Report): Readonly<Record<Currency, DecimalText>> | undefined {
  const written = map.optional('currencies', readCurrencies)
  const yuan = map.optional('credits_per_yuan', RATE)
  if (yuan === undefined) return written
  const other = written?.['CNY']
  if (other !== undefined && other !== yuan)
    report(map.placeOf('credits_per_yuan'), say('two-rates', { yuan, other }))
  return { ...written, CNY: yuan }
}

/** More currencies than any platform uses. */
const CURRENCIES_MAX = 50

/** `{CNY: 1000, USD: 7200}`: Credits for one unit. */
const readCurrencies: Read<Readonly<Record<Currency, DecimalText>>> = (node, report) => {
  if (node.kind !== 'map') {
    report(node.place, say('map-of-currencies'))
    return undefined
  }
  if (node.entries.size > CURRENCIES_MAX) report(node.place, say('at-most-entries', { most: CURRENCIES_MAX }))
  const rates: Record<Currency, DecimalText> = {}
  for (const [code, entry] of node.entries) {
    if (!CURRENCY.test(code)) report(entry.keyPlace, CURRENCY_FORM)
    const rate = RATE(entry.value, report)
    if (rate !== undefined) rates[code] = rate
  }
  return rates
}

export const readPlan: Read<PlanRow> = (node, report) => {
  const map = openMap(node, report)
  if (map === undefined) return undefined
  const code = map.required('code', formed(/^[A-Za-z0-9._-]{1,64}$/, say('must-be-a-plan-code')))
  const level = map.optional('level', integer({ least: 1, most: 3 }))
  const row = {
    place: map.place,
    price: map.optional('price', AMOUNT),
    currency: map.optional('currency', currencyCode),
    currencyPlace: memberPlace(map, 'currency'),
    periodDays: map.optional('period_days', DAYS),
    quota: map.optional('quota', list(placed(readTier))),
  }
  map.close()
  reportRepeatedTiers(row.quota ?? [], report)
  if (code === undefined) return undefined
  const own = PLAN_LEVELS.get(code)
  if (own !== undefined && level !== undefined && level !== own) {
    report(map.placeOf('level'), say('level-of-plan', { own, code }))
  }
  return { ...row, code, level: level ?? own, quota: row.quota?.map((tier) => tier.value) }
}

interface Tier {
  readonly credits: string
  readonly seconds: number
}

const readTier: Read<Tier> = (node, report) => {
  const map = openMap(node, report)
  if (map === undefined) return undefined
  const credits = map.required('credits', AMOUNT)
  const seconds = map.required('seconds', integer({ least: 1, most: 315_360_000 }))
  map.close()
  return credits === undefined || seconds === undefined ? undefined : { credits, seconds }
}

function reportRepeatedTiers(
  tiers: readonly { readonly node: { readonly place: KeyRow['place'] }; readonly value: Tier }[],
  report: Report,
): void {
  const lines = new Map<number, number>()
  for (const { node, value } of tiers) {
    const first = lines.get(value.seconds)
    if (first === undefined) lines.set(value.seconds, node.place.line)
    else
      report(
        node.place,
        say('first-in-line', { sentence: say('second-quota', { seconds: value.seconds }), line: first }),
      )
  }
}

export function readAccount(phoneRegion: string | undefined): Read<AccountFileRow> {
  const phone = converted((text) => normalPhone(text, phoneRegion), say('must-be-a-phone-number'))
  return (node, report) => readAccountRow(node, report, phone)
}

function readAccountRow(node: FileNode, report: Report, readPhone: Read<string>): AccountFileRow | undefined {
  const map = openMap(node, report)
  if (map === undefined) return undefined
  const email = map.nullable('email', EMAIL)
  const phone = map.nullable('phone', readPhone)
  const row = {
    place: map.place,
    email: email ?? undefined,
    phone: phone ?? undefined,
    password: map.optional('password', secret),
    role: map.optional('role', word(['admin', 'user'])),
    status: map.optional('status', word(['active', 'suspended'])),
    verification: map.optional('verification', word(['none', 'personal', 'enterprise'])),
    userRate: map.optional('user_rate', decimal({ decimalsMax: 6 })),
    credits: map.optional('credits', AMOUNT),
    balance: map.optional('balance', EXACT_AMOUNT),
    apiDeduction: map.optional('api_deduction', boolean),
    monthlyCapYuan: zeroWhenNull(map.nullable('monthly_cap_yuan', EXACT_AMOUNT)),
    autoExchange: map.optional('auto_exchange', readAutoExchange),
    subscription: map.nullable('subscription', readSubscription),
    fallbackModel: map.nullable('fallback_model', modelName),
    limits: map.optional('limits', policy),
    byok: map.optional('byok', list(readByok)),
    keys: map.optional('keys', list(readKey)),
  } as const satisfies AccountFileRow
  map.close()
  const nameless = (email === null || !map.has('email')) && (phone === null || !map.has('phone'))
  if (nameless) report(map.place, say('email-or-phone-needed'))
  return row.email === undefined && row.phone === undefined ? undefined : row
}

function zeroWhenNull(amount: string | null | undefined): string | undefined {
  return amount === null ? '0' : amount
}

const readAutoExchange: Read<AutoExchangeRow> = (node, report) => {
  const map = openMap(node, report)
  if (map === undefined) return undefined
  const row: AutoExchangeRow = {
    enabled: map.optional('enabled', boolean),
    belowCredits: map.optional('below_credits', AMOUNT),
    stepYuan: map.optional('step_yuan', EXACT_AMOUNT),
  }
  map.close()
  return row
}

const readSubscription: Read<SubscriptionRow> = (node, report) => {
  const map = openMap(node, report)
  if (map === undefined) return undefined
  const plan = map.required('plan', named)
  const days = map.optional('days', DAYS)
  map.close()
  return plan === undefined ? undefined : { plan, days }
}

const readByok: Read<ByokRow> = (node, report) => {
  const map = openMap(node, report)
  if (map === undefined) return undefined
  const vendor = map.required('vendor', named)
  const row = {
    place: map.place,
    secret: readCredentialSecret(map),
    enabled: map.optional('enabled', boolean) ?? true,
  }
  map.close()
  return vendor === undefined ? undefined : { ...row, vendor: { ...vendor, name: vendorCode(vendor.name) } }
}

const readKey: Read<KeyRow> = (node, report) => {
  const map = openMap(node, report)
  if (map === undefined) return undefined
  const name = map.required('name', shortText(100))
  const fixed = map.optional('secret', placed(secret))
  const row = {
    place: map.place,
    secret: fixed === undefined ? undefined : { value: fixed.value, place: fixed.node.place },
    status: map.optional('status', word(['enabled', 'disabled'])),
    expiresAt: map.nullable('expires_at', instant),
    group: map.nullable('group', named),
    models: map.optional('models', list(modelName)),
    ipAllow: map.optional('ip_allow', list(addressRange)),
    policy: map.nullable('policy', policy),
  } as const
  map.close()
  return name === undefined ? undefined : { ...row, name }
}
