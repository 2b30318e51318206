/** Header fields of HTTP/1.1 (RFC 9112 §5), read and written strictly, on the side of clients and of upstreams. */
import { HttpSyntaxError } from './syntax-error.ts'

/** Control characters, and a lone CR or LF. */
export const FORBIDDEN = /[^\t\r\n\x20-\x7e\x80-\xff]|\r(?!\n)|(?<!\r)\n/
/** A Content-Length: fifteen digits are exact as a number, and longer than any body. */
export const LENGTH = /^\d{1,15}$/
const TOKEN = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+$/
const UPPER_CASE = /[A-Z]/
/** Names that most heads have, as they are usually written, in lower case: found, they need not be checked. */
const USUAL: ReadonlyMap<string, string> = new Map(
  [
    ['Host', 'Connection', 'Keep-Alive', 'Content-Length', 'Content-Type', 'Transfer-Encoding', 'Date'],
    ['Authorization', 'X-Api-Key', 'X-Goog-Api-Key', 'User-Agent'],
    ['Accept', 'Accept-Encoding', 'Accept-Language', 'Sec-Fetch-Mode', 'Server', 'Vary', 'Cache-Control'],
    ['X-Request-Id', 'Request-Id', 'Gw-Model', 'RateLimit', 'RateLimit-Policy', 'Retry-After'],
    ['X-Stainless-Lang', 'X-Stainless-OS', 'X-Stainless-Arch', 'X-Stainless-Package-Version'],
    ['X-Stainless-Runtime', 'X-Stainless-Runtime-Version', 'X-Stainless-Retry-Count', 'X-Stainless-Timeout'],
  ]
    .flat()
    .flatMap((name): [string, string][] => [
      [name, name.toLowerCase()],
      [name.toLowerCase(), name.toLowerCase()],
    ]),
)
const BAD_VALUE = /[^\t\x20-\x7e\x80-\xff]/

const SPACE = 0x20
const TAB = 0x09

/** A field as it is sent. Throws `HttpSyntaxError`, which shows no value. */
export function fieldLine(name: string, value: string): string {
  if ((!USUAL.has(name) && !TOKEN.test(name)) || BAD_VALUE.test(value))
    throw new HttpSyntaxError('a header that cannot be sent')
  return `${name}: ${value}\r\n`
}

export interface ParsedFields {
  /** Lower-case names; values of one name as a list. Has no prototype. */
  readonly headers: Record<string, string | string[]>
  readonly lines: number
  /** Some name occurs twice. */
  readonly repeats: boolean
}

/** Fields of a head or of trailers: one per line, from line `start` on. */
export function parseFields(text: string, start: number): ParsedFields {
  // Without a prototype a field may have any name.
  const headers = Object.create(null) as Record<string, string | string[]>
  let lines = 0
  let repeats = false
  for (let at = start; at < text.length; ) {
    const end = endOfLine(text, at)
    const colon = text.indexOf(':', at)
    if (colon === -1 || colon > end) throw new HttpSyntaxError('a line of a head without a colon')
    const name = lowerCaseToken(text.slice(at, colon))
    const value = trimmed(text, colon + 1, end)
    const before = headers[name]
    if (before === undefined) headers[name] = value
    else {
      repeats = true
      if (typeof before === 'string') headers[name] = [before, value]
      else before.push(value)
    }
    lines += 1
    at = end + 2
  }
  return { headers, lines, repeats }
}

/** Where the line that contains `from` ends: at its CR, or at the end of the text. */
export function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\r\n', from)
  return end === -1 ? text.length : end
}

/** Also refuses continuation lines, and a space before the colon. */
function lowerCaseToken(name: string): string {
  const usual = USUAL.get(name)
  if (usual !== undefined) return usual
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
