/** Numbers, money and moments in the person's language and time zone. Decimals are texts and stay exact. */
import { createContext, useContext } from 'react'
import { useTranslation } from '../../texts/use-translation.ts'

/** The person's own time zone; undefined: the browser's. */
export const TimeZone = createContext<string | undefined>(undefined)

/** A decimal number as text, as the gateway writes amounts. */
type Numeral = `${number}`

export interface Format {
  readonly language: string
  readonly timeZone: string | undefined
  /** Grouped, with at most `digits` decimals (0 when absent). */
  number(value: number | string, digits?: number): string
  /** 2.94 M, 294 万. */
  short(value: number): string
  /** `share` from 0 to 1. */
  percent(share: number, digits?: number): string
  /** A decimal split at the point, rounded to `digits` decimals. */
  split(value: string, digits: number): { readonly whole: string; readonly fraction: string }
  /** 22 Nov 2026 */
  date(moment: Moment): string
  /** 22 Nov; with the year where it is another one. */
  day(moment: Moment): string
  /** November 2026, of 2026-11. */
  month(month: string): string
  /** 22 Nov, 14:00 */
  hour(moment: Moment): string
  /** 14:32:07 */
  time(moment: Moment): string
  /** 22 Nov 2026, 14:32:07 */
  moment(moment: Moment): string
  /** 14:32:07 today, else with the day. */
  recent(moment: Moment, now?: number): string
  /** 9 s ago, 3 days ago; the day itself when it is longer ago than a week. */
  ago(moment: Moment, now?: number): string
  /** 410 ms, 11.48 s, 1 m 04 s. */
  duration(ms: number): string
  /** 60 s, 5 h, 30 d: how long a window is. */
  period(seconds: number): string
  bytes(count: number): string
  /** ¥, $: what stands before an amount of this currency, ISO 4217. */
  sign(currency: string): string
  /** A list of texts. */
  list(items: readonly string[]): string
}

/** ISO 8601 or epoch ms. */
export type Moment = string | number

const DAY_MS = 86_400_000
const UNITS_OF_AGO = [
  ['second', 1_000],
  ['minute', 60_000],
  ['hour', 3_600_000],
  ['day', DAY_MS],
] as const
const PERIODS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const

export function useFormat(): Format {
  const { language } = useTranslation()
  const timeZone = useContext(TimeZone)
  return formatOf(language, timeZone)
}

/** Cached by language and zone: creating the formatters takes longer than rendering a row. */
const formats = new Map<string, Format>()

export function formatOf(language: string, timeZone: string | undefined): Format {
  const name = `${language} ${timeZone ?? ''}`
  const format = formats.get(name) ?? createFormat(language, timeZone)
  formats.set(name, format)
  return format
}

function createFormat(language: string, timeZone: string | undefined): Format {
  const made = new Map<string, Intl.NumberFormat>()
  const numbers = (options: Intl.NumberFormatOptions): Intl.NumberFormat => {
    const name = JSON.stringify(options)
    const known = made.get(name) ?? new Intl.NumberFormat(language, options)
    made.set(name, known)
    return known
  }
  const dates = (options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat =>
    new Intl.DateTimeFormat(language === 'en' ? 'en-GB' : language, { timeZone, ...options })
  const dateFormat = dates({ day: 'numeric', month: 'short', year: 'numeric' })
  const dayFormat = dates({ day: 'numeric', month: 'short' })
  const monthFormat = new Intl.DateTimeFormat(language, { month: 'long', year: 'numeric', timeZone: 'UTC' })
  const timeFormat = dates({ hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' })
  /** Day and time stand together without a sign in Chinese. */
  const between = language.startsWith('zh') ? ' ' : ', '
  const agoFormat = new Intl.RelativeTimeFormat(language, { style: 'narrow', numeric: 'auto' })
  const unit = (value: number, name: string, digits = 0): string =>
    numbers({
      style: 'unit',
      unit: name,
      unitDisplay: language === 'en' ? 'narrow' : 'short',
      minimumFractionDigits: digits,
      maximumFractionDigits: digits,
    }).format(value)

  const format: Format = {
    language,
    timeZone,
    number: (value, digits = 0) => numbers({ maximumFractionDigits: digits }).format(numeral(value)),
    short: (value) =>
      numbers({ notation: 'compact', maximumSignificantDigits: 3 })
        .formatToParts(value)
        .map(({ type, value: part }) =>
          type === 'compact' && language === 'en' ? ` ${shortSign(part)}` : part,
        )
        .join(''),
    // A space that does not break: the sign stays with its number.
    percent: (share, digits = 0) =>
      numbers({ style: 'percent', maximumFractionDigits: digits }).format(share).replace(/\s*%/, '\u00a0%'),
    split(value, digits) {
      const options = { minimumFractionDigits: digits, maximumFractionDigits: digits }
      const parts = numbers(options).formatToParts(numeral(value))
      const at = parts.findIndex(({ type }) => type === 'decimal')
      const text = (some: readonly Intl.NumberFormatPart[]): string => some.map((part) => part.value).join('')
      return at < 0
        ? { whole: text(parts), fraction: '' }
        : { whole: text(parts.slice(0, at)), fraction: text(parts.slice(at)) }
    },
    date: (moment) => dateFormat.format(new Date(moment)),
    day: (moment) => (isThisYear(moment) ? dayFormat : dateFormat).format(new Date(moment)),
    month: (month) => monthFormat.format(new Date(`${month}-15T00:00:00Z`)),
    hour: (moment) => `${format.day(moment)}${between}${format.time(moment).slice(0, 2)}:00`,
    time: (moment) => timeFormat.format(new Date(moment)),
    moment: (moment) => `${format.date(moment)}${between}${format.time(moment)}`,
    recent: (moment, now = Date.now()) =>
      format.date(moment) === format.date(now)
        ? format.time(moment)
        : `${format.day(moment)}${between}${format.time(moment)}`,
    ago(moment, now = Date.now()) {
      const ms = now - new Date(moment).getTime()
      if (ms > 7 * DAY_MS) return format.day(moment)
      const [name, size] = UNITS_OF_AGO.findLast(([, each]) => ms >= each) ?? UNITS_OF_AGO[0]
      return apart(agoFormat.format(-Math.max(0, Math.floor(ms / size)), name))
    },
    duration: durationOf,
    period: (seconds) => apart(unit(...lengthOf(seconds))),
    bytes: (count) => apart(unit(...sizeOf(count))),
    list: (items) => items.join(language.startsWith('zh') ? '，' : ', '),
    sign: (currency) =>
      signOf(currency, numbers({ style: 'currency', currency, currencyDisplay: 'narrowSymbol' })),
  }
  return format
}

/** Converts seconds to the largest fitting unit. */
function lengthOf(seconds: number): readonly [number, string] {
  const [name, size] = PERIODS.find(([, each]) => seconds % each === 0 && seconds >= each) ?? ['second', 1]
  return [seconds / size, name]
}

/** Converts bytes to the largest fitting unit, with the digits to show. */
function sizeOf(count: number): readonly [number, string, number] {
  if (count < 1_000) return [count, 'byte', 0]
  return count < 1_000_000 ? [count / 1_000, 'kilobyte', 0] : [count / 1_000_000, 'megabyte', 1]
}

/** A space before the unit, and minutes not so short that they read as months or metres. */
function apart(text: string): string {
  return text.replace(/(\d)(\p{L})/u, '$1 $2').replace(/(\d) m\b/, '$1 min')
}

function durationOf(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1_000).toFixed(2)} s`
  const seconds = Math.round(ms / 1_000)
  return `${Math.floor(seconds / 60)} m ${String(seconds % 60).padStart(2, '0')} s`
}

function signOf(currency: string, amounts: Intl.NumberFormat): string {
  return amounts.formatToParts(0).find(({ type }) => type === 'currency')?.value ?? currency
}

/** Lower case k for thousands, as elsewhere. */
function shortSign(sign: string): string {
  return sign === 'K' ? 'k' : sign
}

function isThisYear(moment: Moment): boolean {
  return new Date(moment).getFullYear() === new Date().getFullYear()
}

/** Decimals are passed as text: a number would lose digits. */
function numeral(value: number | string): number | Numeral {
  if (typeof value === 'number') return value
  if (isNumeral(value)) return value
  throw new Error(`${value} is not a decimal number`)
}

function isNumeral(text: string): text is Numeral {
  return /^-?\d+(\.\d+)?$/.test(text)
}
