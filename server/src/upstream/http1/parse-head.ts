/**
 * Parses the head of an HTTP/1.0 or 1.1 answer strictly (RFC 9112): ambiguous heads are refused. Nothing is accepted
 * that llhttp refuses; the tests check that.
 */
import { HttpSyntaxError } from './syntax-error.ts'

export interface AnswerHead {
  readonly status: number
  /** Lower-case names; values in Latin-1, several of one name as a list. Has no prototype. */
  readonly headers: Readonly<Record<string, string | string[]>>
  readonly framing: Framing
  /** How long the upstream keeps the connection after this answer, ms: 0: not at all; infinite: not stated. */
  readonly keepMs: number
}

export type Framing =
  | { readonly kind: 'none' }
  | { readonly kind: 'length'; readonly bytes: number }
  | { readonly kind: 'chunked' }
  | { readonly kind: 'until-close' }

const NONE: Framing = { kind: 'none' }
const CHUNKED: Framing = { kind: 'chunked' }
const UNTIL_CLOSE: Framing = { kind: 'until-close' }

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: |\r\n|$)/
/** Control characters, and a lone CR or LF. */
const FORBIDDEN = /[^\t\r\n\x20-\x7e\x80-\xff]|\r(?!\n)|(?<!\r)\n/
const TOKEN = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+$/
const UPPER_CASE = /[A-Z]/
/** Fifteen digits are exact as a number, and longer than any answer. */
const LENGTH = /^\d{1,15}$/
/** Some parsers treat a tab as part of such a value, others do not. */
const TAB_IN_FRAMING = /\r\n(?:content-length|transfer-encoding|connection):[^\r\n]*\t/i
const KEPT_FOR = /(?:^|[\s,;])timeout=(\d{1,9})/i

const SPACE = 0x20
const TAB = 0x09
const MS_PER_SECOND = 1_000
/** A connection is not used for this long before the upstream closes it: a request being sent could meet the close. */
const KEEP_MARGIN_MS = 2_000

/** @param text the head without its final empty line, one character per byte */
export function parseHead(text: string, method: string): AnswerHead {
  if (FORBIDDEN.test(text)) throw new HttpSyntaxError('a head with characters that none may hold')
  if (text.includes('\t') && TAB_IN_FRAMING.test(text))
    throw new HttpSyntaxError('a tab in what frames the answer')
  const [, minor, digits] = STATUS_LINE.exec(text) ?? []
  if (digits === undefined) throw new HttpSyntaxError('no status line of HTTP/1.1')
  const status = Number(digits)
  const headers = parseFields(text, endOfLine(text, 0) + 2)
  const framing = framingOf(status, method, headers)
  return { status, headers, framing, keepMs: keepMsOf(minor === '1', method, { headers, framing }) }
}

/** Fields of a head or of trailers: one per line, from line `start` on. */
export function parseFields(text: string, start: number): Record<string, string | string[]> {
  // Without a prototype a field may have any name.
  const headers = Object.create(null) as Record<string, string | string[]>
  for (let at = start; at < text.length; ) {
    const end = endOfLine(text, at)
    const colon = text.indexOf(':', at)
    if (colon === -1 || colon > end) throw new HttpSyntaxError('a line of a head without a colon')
    const name = lowerCaseToken(text.slice(at, colon))
    const value = trimmed(text, colon + 1, end)
    const before = headers[name]
    if (before === undefined) headers[name] = value
    else if (typeof before === 'string') headers[name] = [before, value]
    else before.push(value)
    at = end + 2
  }
  return headers
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\r\n', from)
  return end === -1 ? text.length : end
}

/** Also refuses continuation lines, and a space before the colon. */
function lowerCaseToken(name: string): string {
  if (!TOKEN.test(name)) throw new HttpSyntaxError('a field name that is not a token')
  return UPPER_CASE.test(name) ? name.toLowerCase() : name
}

function trimmed(text: string, from: number, until: number): string {
  let [start, end] = [from, until]
  while (start < end && isBlank(text.charCodeAt(start))) start += 1
  while (end > start && isBlank(text.charCodeAt(end - 1))) end -= 1
  return text.slice(start, end)
}

function isBlank(code: number): boolean {
  return code === SPACE || code === TAB
}

type Fields = AnswerHead['headers']

/** Lengths that contradict each other are refused whether or not there is a body. */
function framingOf(status: number, method: string, headers: Fields): Framing {
  const length = headers['content-length']
  const coding = headers['transfer-encoding']
  if (length !== undefined && (typeof length !== 'string' || !LENGTH.test(length)))
    throw new HttpSyntaxError('a content-length that is not one number')
  if (coding !== undefined && (typeof coding !== 'string' || coding.toLowerCase() !== 'chunked'))
    throw new HttpSyntaxError('a transfer-encoding other than chunked')
  if (length !== undefined && coding !== undefined)
    throw new HttpSyntaxError('a content-length beside a transfer-encoding')
  if (method === 'HEAD' || status < 200 || status === 204 || status === 304) return NONE
  if (coding !== undefined) return CHUNKED
  return length === undefined ? UNTIL_CLOSE : { kind: 'length', bytes: Number(length) }
}

function keepMsOf(
  isHttp11: boolean,
  method: string,
  { headers, framing }: Pick<AnswerHead, 'headers' | 'framing'>,
): number {
  // Faulty servers send a body all the same.
  if (method === 'HEAD' || framing.kind === 'until-close') return 0
  const connection = String(headers['connection'] ?? '')
  if (/close/i.test(connection)) return 0
  if (!isHttp11 && !/keep-alive/i.test(connection)) return 0
  const seconds = KEPT_FOR.exec(String(headers['keep-alive'] ?? ''))?.[1]
  if (seconds === undefined) return Number.POSITIVE_INFINITY
  return Math.max(0, Number(seconds) * MS_PER_SECOND - KEEP_MARGIN_MS)
}
