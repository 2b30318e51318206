/** Readers of single values: each reports a mistake in one sentence. */
import { say, type Sentence } from '../../core/sentences/say.ts'
import type { DecimalText } from '../../core/catalogue.ts'
import { DIMENSIONS, type Policy, type WindowLimit } from '../../core/limits/policy.ts'
import { type Decimal, parseDecimal, printDecimal } from '../../core/pricing/decimal.ts'
import { Secret } from '../../core/secret.ts'
import { isAddressRange } from '../address-range.ts'
import { nearestName } from '../../core/nearest-name.ts'
import type { FileNode, Report } from './file-node.ts'
import { openMap, type Read } from './map-reader.ts'

/** Non-empty text. Unquoted digits are accepted as text: a phone number, a model named 4.0. */
export const text: Read<string> = (node, report) => {
  if (node.kind !== 'scalar' || !isTextual(node)) return refuse(node, report, say('must-be-text'))
  return node.text.trim() === '' ? refuse(node, report, say('must-not-be-empty')) : node.text
}

/** At most this many characters, and no control characters. */
export function shortText(charactersMax: number): Read<string> {
  return (node, report) => {
    const value = text(node, report)
    if (value === undefined) return undefined
    if (value.length > charactersMax)
      return refuse(node, report, say('at-most-characters', { most: charactersMax }))
    return /\p{Cc}/u.test(value) ? refuse(node, report, say('no-control-characters')) : value
  }
}

/** Text that matches a pattern; `mustBe` describes it. */
export function formed(form: RegExp, otherwise: Sentence): Read<string> {
  return (node, report) => {
    const value = text(node, report)
    return value === undefined || form.test(value) ? value : refuse(node, report, otherwise)
  }
}

/** ISO 4217; the settings define which currencies exist. */
export const CURRENCY = /^[A-Z]{3}$/
export const CURRENCY_FORM = say('must-be-a-currency')
export const currencyCode: Read<string> = formed(CURRENCY, CURRENCY_FORM)

/** Text that is stored in another form than it may be written in. */
export function converted(convert: (text: string) => string | undefined, otherwise: Sentence): Read<string> {
  return (node, report) => {
    const value = text(node, report)
    if (value === undefined) return undefined
    return convert(value) ?? refuse(node, report, otherwise)
  }
}

export const secret: Read<Secret> = (node, report) => {
  const value = text(node, report)
  return value === undefined ? undefined : new Secret(value)
}

export const boolean: Read<boolean> = (node, report) => {
  if (node.kind === 'scalar' && (node.meaning === 'true' || node.meaning === 'false'))
    return node.meaning === 'true'
  return refuse(node, report, say('must-be-true-or-false'))
}

/** One of a closed list; for other values the nearest one is suggested. */
export function word<const Word extends string>(words: readonly Word[]): Read<Word> {
  return (node, report) => {
    const value = node.kind === 'scalar' && isTextual(node) ? node.text : undefined
    const found = words.find((candidate) => candidate === value)
    if (found !== undefined) return found
    const nearest = value === undefined ? undefined : nearestName(value, words)
    return refuse(node, report, withNearest(say('must-be-one-of', { words: words.join(', ') }), nearest))
  }
}

/** A whole number within bounds. */
export function integer(bounds: { readonly least: number; readonly most: number }): Read<number> {
  return (node, report) => {
    const value = decimalOf(node)
    const whole = value?.scale === 0 ? Number(value.units) : Number.NaN
    if (whole >= bounds.least && whole <= bounds.most) return whole
    return refuse(node, report, wholeNumberIn(bounds))
  }
}

function wholeNumberIn({ least, most }: { readonly least: number; readonly most: number }): Sentence {
  if (most === Number.MAX_SAFE_INTEGER) return say('whole-number-at-least', { least })
  if (least === Number.MIN_SAFE_INTEGER) return say('whole-number-at-most', { most })
  return say('whole-number-from-to', { least, most })
}

/** With the nearest of the names there are, where one is near. */
export function withNearest(sentence: Sentence, name: string | undefined): Sentence {
  return name === undefined ? sentence : say('did-you-mean', { sentence, name })
}

/** A decimal number, exactly as written; plain or quoted. */
export function decimal(
  rule: { readonly above?: '0'; readonly decimalsMax?: number; readonly most?: DecimalText } = {},
): Read<DecimalText> {
  return (node, report) => {
    const value = decimalOf(node)
    if (value === undefined) return refuse(node, report, say('must-be-a-decimal'))
    if (rule.above !== undefined && value.units <= 0n) return refuse(node, report, say('must-be-above-0'))
    if (value.units < 0n) return refuse(node, report, say('must-not-be-negative'))
    if (rule.decimalsMax !== undefined && value.scale > rule.decimalsMax) {
      return refuse(node, report, say('at-most-decimals', { most: rule.decimalsMax }))
    }
    // Compared as floating-point numbers: exactness does not matter at the limit.
    if (rule.most !== undefined && Number(printDecimal(value)) > Number(rule.most)) {
      return refuse(node, report, say('at-most', { most: rule.most }))
    }
    return printDecimal(value)
  }
}

/** The same for an amount that may be negative. */
export function signedDecimal(rule: { readonly decimalsMax: number }): Read<DecimalText> {
  return (node, report) => {
    const value = decimalOf(node)
    if (value === undefined) return refuse(node, report, say('must-be-a-decimal'))
    if (value.scale > rule.decimalsMax) {
      return refuse(node, report, say('at-most-decimals', { most: rule.decimalsMax }))
    }
    return printDecimal(value)
  }
}

export function list<Item>(read: Read<Item>): Read<readonly Item[]> {
  return (node, report) => {
    if (node.kind !== 'list') return refuse(node, report, say('must-be-a-list'))
    return node.items.flatMap((item) => {
      const value = read(item, report)
      return value === undefined ? [] : [value]
    })
  }
}

/** A list whose items keep their positions, for later checks. */
export interface Placed<Value> {
  readonly node: FileNode
  readonly value: Value
}

export function placed<Value>(read: Read<Value>): Read<Placed<Value>> {
  return (node, report) => {
    const value = read(node, report)
    return value === undefined ? undefined : { node, value }
  }
}

/** An instant: RFC 3339 with a zone, a day (its first moment, UTC), or Unix seconds. Returns epoch ms. */
export const instant: Read<number> = (node, report) => {
  const message = say('must-be-a-date')
  if (node.kind !== 'scalar') return refuse(node, report, message)
  if (/^\d{9,10}$/.test(node.text)) return Number(node.text) * 1000
  if (/^\d{12,13}$/.test(node.text)) return Number(node.text)
  const day = /^\d{4}-\d{2}-\d{2}$/.test(node.text)
  const moment = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?([Zz]|[+-]\d{2}:\d{2})$/.test(node.text)
  const at = day || moment ? Date.parse(node.text.replace(' ', 'T')) : Number.NaN
  return Number.isNaN(at) || (day && !new Date(at).toISOString().startsWith(node.text))
    ? refuse(node, report, message)
    : at
}

export const addressRange: Read<string> = (node, report) => {
  const value = text(node, report)
  if (value === undefined || isAddressRange(value)) return value
  return refuse(node, report, say('must-be-a-cidr-range', { value }))
}

export const timezone: Read<string> = (node, report) => {
  const value = text(node, report)
  if (value === undefined || isTimezone(value)) return value
  const nearest = nearestName(value, Intl.supportedValuesOf('timeZone'))
  return refuse(node, report, withNearest(say('must-be-a-time-zone'), nearest))
}

/**
 * An http or https address, without query and fragment; without a trailing slash. `{region}` is filled in per
 * credential.
 */
export const address: Read<string> = (node, report) => {
  const value = text(node, report)
  if (value === undefined) return undefined
  const filled = value.replace(/\{[a-z_]+\}/g, 'x')
  const url = URL.canParse(filled) ? new URL(filled) : undefined
  const fits = url !== undefined && /^https?:$/.test(url.protocol) && url.search === '' && url.hash === ''
  return fits ? value.replace(/\/+$/, '') : refuse(node, report, say('must-be-an-api-address'))
}

/** Longest window: ten years, so that typing errors are detected. */
const WINDOW_SECONDS_MAX = 315_360_000

/** Limits, in the form of keys[].policy. */
export const policy: Read<Policy> = (node, report) => {
  const map = openMap(node, report)
  if (map === undefined) return undefined
  const concurrency = map.optional('concurrency', (value, tell) =>
    integer({ least: 1, most: 1_000_000 })(value, (place, message) =>
      tell(place, say('or-left-out', { sentence: message })),
    ),
  )
  const windows = map.optional('windows', list(placed(window))) ?? []
  map.close()
  const tiers = new Map<string, number>()
  for (const { node: at, value } of windows) {
    const tier = `${value.dimension}:${value.seconds}`
    const first = tiers.get(tier)
    if (first === undefined) tiers.set(tier, at.place.line)
    else
      report(
        at.place,
        say('first-in-line', {
          sentence: say('second-window', { dimension: value.dimension, seconds: value.seconds }),
          line: first,
        }),
      )
  }
  return { concurrency, windows: windows.map((one) => one.value) }
}

const window: Read<WindowLimit> = (node, report) => {
  const map = openMap(node, report)
  if (map === undefined) return undefined
  const dimension = map.required('dimension', word(DIMENSIONS))
  const whole = integer({ least: 0, most: Number.MAX_SAFE_INTEGER })
  const limit = map.required('limit', dimension === 'amount' ? creditsLimit : whole)
  const seconds = map.required('seconds', integer({ least: 1, most: WINDOW_SECONDS_MAX }))
  map.close()
  return dimension === undefined || limit === undefined || seconds === undefined
    ? undefined
    : { dimension, limit, seconds }
}

/** Credits, exact to the µCr as far as a number can represent them. */
const creditsLimit: Read<number> = (node, report) => {
  const value = decimal({ decimalsMax: 6 })(node, report)
  if (value === undefined) return undefined
  return Number(value) <= 1e9 ? Number(value) : refuse(node, report, say('at-most-credits'))
}

function decimalOf(node: FileNode): Decimal | undefined {
  if (node.kind !== 'scalar') return undefined
  const result = parseDecimal(node.text)
  return result.kind === 'decimal' ? result.value : undefined
}

function isTextual(node: { readonly meaning: string; readonly expanded: boolean }): boolean {
  return node.meaning === 'text' || node.meaning === 'number' || node.expanded
}

function isTimezone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return !/^[+-]/.test(name)
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}

function refuse(node: FileNode, report: Report, message: Sentence): undefined {
  report(node.place, message)
  return undefined
}
