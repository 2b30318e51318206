/** Header fields of HTTP/1.1 (RFC 9112 §5), read and written strictly, on the side of clients and of upstreams. */
import { HttpSyntaxError } from './syntax-error.ts'

/** Control characters, and a lone CR or LF. */
export const FORBIDDEN = /[^\t\r\n\x20-\x7e\x80-\xff]|\r(?!\n)|(?<!\r)\n/
/** A Content-Length: fifteen digits are exact as a number, and longer than any body. */
export const LENGTH = /^\d{1,15}$/
const TOKEN = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+$/
const UPPER_CASE = /[A-Z]/
const BAD_VALUE = /[^\t\x20-\x7e\x80-\xff]/

const SPACE = 0x20
const TAB = 0x09

/** A field as it is sent. Throws `HttpSyntaxError`, which shows no value. */
export function fieldLine(name: string, value: string): string {
  if (!TOKEN.test(name) || BAD_VALUE.test(value)) throw new HttpSyntaxError('a header that cannot be sent')
  return `${name}: ${value}\r\n`
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

/** Where the line that contains `from` ends: at its CR, or at the end of the text. */
export function endOfLine(text: string, from: number): number {
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
