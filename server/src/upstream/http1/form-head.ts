import type { TransportRequest } from '../connect/transport.ts'
import { HttpSyntaxError } from './syntax-error.ts'

const METHOD = /^[A-Z]+$/
const PATH = /^[\x21\x22\x24-\xff]+$/
const NAME = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+$/
const BAD_VALUE = /[^\t\x20-\x7e\x80-\xff]/
/** Without a body these say nothing of one (RFC 9110 §8.6). */
const BODILESS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'DELETE'])
/** They say how the connection and the body are framed, which is decided here alone. */
const RESERVED: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** The head of a request, a character a byte. Throws `HttpSyntaxError`, which shows no value. */
export function formHead(host: string, request: TransportRequest): string {
  const { method, path, headers, body, bodyLength } = request
  if (!METHOD.test(method) || !PATH.test(path))
    throw new HttpSyntaxError('a request line that cannot be sent')
  let head = `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\n`
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const name = headers[at] ?? ''
    const value = headers[at + 1] ?? ''
    if (!NAME.test(name) || BAD_VALUE.test(value)) throw new HttpSyntaxError('a header that cannot be sent')
    if (RESERVED.has(name.toLowerCase()))
      throw new HttpSyntaxError('a header that only the connection may set')
    head += `${name}: ${value}\r\n`
  }
  if (body === undefined && BODILESS.has(method)) return `${head}\r\n`
  return `${head}content-length: ${bodyLength}\r\n\r\n`
}
