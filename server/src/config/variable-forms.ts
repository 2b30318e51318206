/** The forms of variables: how each is parsed, and the message if it is invalid. */
import { Secret } from '../core/secret.ts'
import { isAddressRange } from './address-range.ts'
import { readBlobUrl, type S3Address } from './blob-url.ts'

export interface Variable<Value> {
  readonly name: string
  /** A second name that is common elsewhere. */
  readonly alias?: string
  /** The value if it is not set or empty. */
  readonly fallback: Value
  /** The default, for readers. */
  readonly shownDefault: string
  /** The allowed form, for readers. */
  readonly form: string
  /** What it is for. */
  readonly meaning: string
  /** Throws `UnusableValue` if the text is invalid. */
  readonly parse: (text: string, workingDirectory: string) => Value
  /** It may contain a password, so it is never shown. */
  readonly secret?: true
}

/** The value of one variable is invalid; `message` completes the sentence "NAME must be …". */
export class UnusableValue extends Error {
  constructor(mustBe: string) {
    super(mustBe)
    this.name = 'UnusableValue'
  }
}

interface WholeNumber extends Pick<Variable<number>, 'name' | 'meaning'> {
  readonly usual: number
  readonly least: number
  readonly most: number
  readonly unit?: 'milliseconds' | 'bytes'
  /** Set if the number alone is not clear enough. */
  readonly shownDefault?: string
  readonly form?: string
}

export function wholeNumber({ usual, least, most, unit, ...row }: WholeNumber): Variable<number> {
  const form = unit === undefined ? `a whole number from ${least} to ${most}` : `${unit}, ${least} to ${most}`
  return {
    fallback: usual,
    shownDefault: String(usual),
    form,
    parse: (text) => wholeNumberOf(text, { least, most }),
    ...row,
  }
}

export function port(row: Pick<WholeNumber, 'name' | 'usual' | 'meaning'>): Variable<number> {
  return wholeNumber({ ...row, least: 0, most: 65_535, form: 'a port; 0 takes any free one' })
}

interface OneWord<Word extends string> extends Pick<Variable<Word>, 'name' | 'meaning'> {
  readonly words: readonly Word[]
  readonly usual: NoInfer<Word>
}

export function word<Word extends string>({ words, usual, ...row }: OneWord<Word>): Variable<Word> {
  return {
    fallback: usual,
    shownDefault: usual,
    form: words.join(', '),
    parse: (text) => wordOf(text, words),
    ...row,
  }
}

export function senderOf(text: string): string {
  if (!/^[^<>@\r\n]*<[^<>@\s]+@[^<>@\s]+>$|^[^<>@\s]+@[^<>@\s]+$/.test(text))
    throw new UnusableValue('an e-mail address, or a name and the address in angle brackets')
  return text
}

export function regionOf(text: string): string {
  if (!/^[A-Za-z]{2}$/.test(text)) throw new UnusableValue('a country code of two letters')
  return text.toUpperCase()
}

/** ISO 3166 country codes in capitals, or prefixes of numbers, with their +. */
export function placesOf(text: string): readonly string[] {
  const places = text.split(/[\s,]+/).filter((place) => place !== '')
  return places.map((place) => {
    if (!/^(?:[A-Za-z]{2}|\+[1-9]\d{0,14})$/.test(place))
      throw new UnusableValue(
        `country codes of two letters or prefixes like +86, separated by commas; ${place} is none`,
      )
    return place.toUpperCase()
  })
}

/** A publishable key is the other one of the pair, and cannot be used for requests. */
export function stripeKeyOf(text: string): Secret {
  if (/\s/.test(text) || text.startsWith('pk_'))
    throw new UnusableValue('a secret key (sk_…) or a restricted one (rk_…), not a publishable one')
  return new Secret(text)
}

/** Each is parsed by its service. */
export function secretsOf(text: string): readonly Secret[] {
  return text
    .split(/\s+/)
    .filter((part) => part !== '')
    .map((part) => new Secret(part))
}

function wholeNumberOf(text: string, bounds: { readonly least: number; readonly most: number }): number {
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN
  if (!(value >= bounds.least && value <= bounds.most)) {
    throw new UnusableValue(`a whole number from ${bounds.least} to ${bounds.most}`)
  }
  return value
}

export function hostOf(text: string): string {
  if (/[\s/]/.test(text)) throw new UnusableValue('an IP address or a host name, without scheme or path')
  return text
}

function wordOf<Word extends string>(text: string, words: readonly Word[]): Word {
  const word = words.find((candidate) => candidate === text.toLowerCase())
  if (word === undefined) throw new UnusableValue(`one of ${words.join(', ')}`)
  return word
}

function urlOf(text: string, schemes: readonly string[]): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !schemes.includes(url.protocol)) {
    throw new UnusableValue(
      `an address that begins with ${schemes.map((scheme) => `${scheme}//`).join(' or ')}`,
    )
  }
  return url
}

/** Kept unchanged: it may contain a password, and its reader parses it again. */
export function secretUrlOf(text: string, schemes: readonly string[]): Secret {
  urlOf(text, schemes)
  return new Secret(text)
}

/** It is often written without a scheme. */
export function proxyOf(text: string): Secret {
  return secretUrlOf(text.includes('://') ? text : `http://${text}`, ['http:', 'https:'])
}

export function hostsOf(text: string): readonly string[] {
  const hosts = text.split(/[\s,]+/).filter((host) => host !== '')
  const wrong = hosts.find((host) => host.includes('://') || (host.includes('/') && !isAddressRange(host)))
  if (wrong !== undefined) {
    throw new UnusableValue(`hosts, domains or CIDR networks separated by commas; ${wrong} is none`)
  }
  return hosts
}

export function blobUrlOf(text: string): S3Address {
  const address = readBlobUrl(urlOf(text, ['s3:']))
  if (isMistakes(address)) throw new UnusableValue(`an address of an S3 store: ${address.join('; ')}`)
  return address
}

function isMistakes(address: S3Address | readonly string[]): address is readonly string[] {
  return Array.isArray(address)
}

/** Without a trailing slash, so that a path can be appended. */
export function addressOf(text: string): string {
  const url = urlOf(text, ['http:', 'https:'])
  if (url.search !== '' || url.hash !== '') throw new UnusableValue('an address without query and fragment')
  return url.href.replace(/\/+$/, '')
}

export function secretKeyOf(text: string): Secret {
  if (text.length < 16)
    throw new UnusableValue('32 bytes as base64 or hex, or at least 16 characters of text')
  return new Secret(text)
}

/** As browsers write them: lower case, without a path and without the default port. */
export function originsOf(text: string): readonly string[] {
  const origins = text.split(/[\s,]+/).filter((origin) => origin !== '')
  return origins.map((origin) => {
    if (origin === '*') return origin
    // Pages of apps have their own schemes, for which URL returns no origin.
    if (!/^[a-z][a-z0-9+.-]*:\/\/[^\s/?#@]+$/i.test(origin) || !URL.canParse(origin))
      throw new UnusableValue(
        `origins separated by commas (https://app.example.com), or *; ${origin} is none`,
      )
    return /^https?:/i.test(origin) ? new URL(origin).origin : origin.toLowerCase()
  })
}

export function rangesOf(text: string): readonly string[] {
  const ranges = text.split(/[\s,]+/).filter((range) => range !== '')
  const wrong = ranges.find((range) => !isAddressRange(range))
  if (wrong !== undefined) {
    throw new UnusableValue(`CIDR ranges separated by commas (10.0.0.0/8, fd00::/8); ${wrong} is none`)
  }
  return ranges
}
