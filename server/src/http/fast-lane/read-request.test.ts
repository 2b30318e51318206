/** Which heads are read here; all others are left to `node:http`. */
import { describe, expect, test } from 'vitest'
import { readPlainRequest } from './read-request.ts'

const BOUNDS = { headBytesMax: 1_000, headersMax: 5 }
const read = (text: string) => readPlainRequest(Buffer.from(text, 'latin1'), BOUNDS)
const headOf = (line: string, ...fields: readonly string[]): string =>
  [line, 'Host: a', ...fields, '', ''].join('\r\n')
const POST = 'POST /v1/messages HTTP/1.1'

test('a plain head is read with its target, its fields, and where its body begins and ends', () => {
  const text = headOf(
    'POST /v1/x:go?a=b&c=%20 HTTP/1.1',
    'Content-Length:  12 ',
    'X-Api-Key: k y',
    'X-Empty:',
  )
  const request = read(`${text}{"model":"m"}`)
  expect(request).toMatchObject({
    method: 'POST',
    path: '/v1/x:go',
    query: 'a=b&c=%20',
    host: 'a',
    headBytes: text.length,
    bodyBytes: 12,
  })
  expect({ ...request?.headers }).toEqual({
    host: 'a',
    'content-length': '12',
    'x-api-key': 'k y',
    'x-empty': '',
  })
})

test.each([
  ['no length is no body', headOf(POST), 0],
  ['a length of nothing', headOf(POST, 'content-length: 0'), 0],
  ['a connection that is to be kept', headOf(POST, 'Connection: Keep-Alive'), 0],
  ['as many fields as are allowed', headOf(POST, 'a: 1', 'b: 1', 'c: 1', 'd: 1'), 0],
  ['a query with a question mark', headOf('GET /v1/models?a?b HTTP/1.1'), 0],
])('is read: %s', (_what, text, bodyBytes) => {
  expect(read(text)?.bodyBytes).toBe(bodyBytes)
})

describe('is left to node:http', () => {
  test.each([
    ['a head that is not complete', headOf(POST).slice(0, -1)],
    ['nothing', ''],
    ['an empty line in front', `\r\n${headOf(POST)}`],
    ['another method', headOf('PUT /v1/messages HTTP/1.1')],
    ['HEAD, whose answer has no body', headOf('HEAD /v1/models HTTP/1.1')],
    ['a method in small letters', headOf('post /v1/messages HTTP/1.1')],
    ['another version', headOf('POST /v1/messages HTTP/1.0')],
    ['no version', headOf('POST /v1/messages')],
    ['an address as the target', headOf('POST http://a/v1/messages HTTP/1.1')],
    ['two spaces', headOf('POST  /v1/messages HTTP/1.1')],
    ['a fragment', headOf('POST /v1/messages#a HTTP/1.1')],
    ['a target with a byte beyond ASCII', headOf('POST /v1/\xe9 HTTP/1.1')],
    ['no host', `${POST}\r\nContent-Length: 0\r\n\r\n`],
    ['two hosts', headOf(POST, 'host: b')],
    ['any name that occurs twice', headOf(POST, 'x: 1', 'X: 1')],
    ['more fields than are allowed', headOf(POST, 'a: 1', 'b: 1', 'c: 1', 'd: 1', 'e: 1')],
    ['a head that is too large', headOf(POST, `a: ${'x'.repeat(1_000)}`)],
    ['two lengths', headOf(POST, 'content-length: 1', 'content-length: 1')],
    ['a list of lengths', headOf(POST, 'content-length: 1, 1')],
    ['a length with a sign', headOf(POST, 'content-length: +1')],
    ['a length with a zero in front', headOf(POST, 'content-length: 01')],
    ['a length in hexadecimal', headOf(POST, 'content-length: 0x1')],
    ['a length without digits', headOf(POST, 'content-length:')],
    ['a length that no number holds', headOf(POST, 'content-length: 1234567890123456')],
    ['a transfer coding', headOf(POST, 'transfer-encoding: chunked')],
    ['a transfer coding of nothing', headOf(POST, 'transfer-encoding:')],
    ['an expectation', headOf(POST, 'expect: 100-continue')],
    ['an upgrade', headOf(POST, 'upgrade: websocket')],
    ['a connection that is to be closed', headOf(POST, 'connection: close')],
    ['a list of connection options', headOf(POST, 'connection: keep-alive, upgrade')],
    ['what proxies say of a connection', headOf(POST, 'proxy-connection: keep-alive')],
    ['a space before the colon', headOf(POST, 'x : 1')],
    ['a line without a colon', headOf(POST, 'x')],
    ['a name of nothing', headOf(POST, ': 1')],
    ['a continued line', headOf(POST, 'x: 1', ' 2')],
    ['a tab', headOf(POST, 'x: 1\t2')],
    ['a value with a byte beyond ASCII', headOf(POST, 'x: \xe9')],
    ['a NUL', headOf(POST, 'x: \0')],
    ['a CR alone', headOf(POST, 'x: 1\r2')],
    ['a LF alone', headOf(POST, 'x: 1\n2: 3')],
    ['a name that objects have', headOf(POST, '__proto__: 1')],
  ])('%s', (_what, text) => {
    expect(read(text)).toBeUndefined()
  })
})
