/**
 * Parses the head of an HTTP/1.0 or 1.1 answer strictly (RFC 9112): ambiguous heads are refused. Nothing is accepted
 * that llhttp refuses; the tests check that.
 */
import { endOfLine, FORBIDDEN, LENGTH, parseFields } from '../../core/http1/fields.ts'
import { HttpSyntaxError } from '../../core/http1/syntax-error.ts'

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
/** Some parsers treat a tab as part of such a value, others do not. */
const TAB_IN_FRAMING = /\r\n(?:content-length|transfer-encoding|connection):[^\r\n]*\t/i
const KEPT_FOR = /(?:^|[\s,;])timeout=(\d{1,9})/i

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
  const { headers } = parseFields(text, endOfLine(text, 0) + 2)
  const framing = framingOf(status, method, headers)
  return { status, headers, framing, keepMs: keepMsOf(minor === '1', method, { headers, framing }) }
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
