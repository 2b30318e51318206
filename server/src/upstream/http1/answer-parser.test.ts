import { describe, expect, test } from 'vitest'
import { AnswerParser } from './answer-parser.ts'
import type { AnswerHead } from './parse-head.ts'
import { HttpSyntaxError } from '../../core/http1/syntax-error.ts'

interface Told {
  readonly heads: AnswerHead[]
  body: string
  /** Bytes after the end of the answer. */
  rest: number
  over: boolean
  /** What a closed connection would have meant. */
  whole: boolean
}

function read(pieces: readonly string[], method = 'GET'): Told {
  const told: Told = { heads: [], body: '', rest: 0, over: false, whole: false }
  let piece = Buffer.alloc(0)
  const parser = new AnswerParser({
    head: (head) => told.heads.push(head),
    body: (from, until) => {
      expect(until).toBeGreaterThan(from)
      told.body += piece.toString('latin1', from, until)
    },
  })
  parser.start(method)
  for (const text of pieces) {
    piece = Buffer.from(text, 'latin1')
    told.rest += piece.byteLength - parser.push(piece)
  }
  told.over = parser.over
  told.whole = parser.finish()
  return told
}

const OK = 'HTTP/1.1 200 OK\r\n'
const CHUNKED = `${OK}transfer-encoding: chunked\r\n\r\n`

describe('an answer', () => {
  test.each<[string, string, string, boolean]>([
    ['with a length', `${OK}content-length: 5\r\n\r\nhello`, 'hello', true],
    ['with a length of nothing', `${OK}content-length: 0\r\n\r\n`, '', true],
    ['without a reason', 'HTTP/1.1 200\r\ncontent-length: 1\r\n\r\nx', 'x', true],
    ['in chunks', `${CHUNKED}5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n`, 'hello world', true],
    [
      'in chunks whose sizes are padded',
      `${CHUNKED}0000000A\r\n0123456789\r\n000\r\n\r\n`,
      '0123456789',
      true,
    ],
    ['with extensions', `${CHUNKED}1;a;b=c;d="e \\" f"\r\nx\r\n0;z\r\n\r\n`, 'x', true],
    ['with trailers, which are dropped', `${CHUNKED}1\r\nx\r\n0\r\na: b\r\nc: d\r\n\r\n`, 'x', true],
    ['that goes on until the end', `${OK}\r\nhello`, 'hello', false],
    ['of HTTP/1.0', 'HTTP/1.0 200 OK\r\n\r\nhello', 'hello', false],
    ['204, whatever it says of a length', 'HTTP/1.1 204 No\r\ncontent-length: 5\r\n\r\n', '', true],
    ['304, whatever it says of chunks', 'HTTP/1.1 304 No\r\ntransfer-encoding: chunked\r\n\r\n', '', true],
    [
      'behind others that only inform',
      `HTTP/1.1 103 E\r\nlink: <a>\r\n\r\nHTTP/1.1 100 C\r\n\r\n${OK}\r\nx`,
      'x',
      false,
    ],
  ])('%s is read, in one piece and in pieces of one byte', (_what, text, body, over) => {
    for (const pieces of [[text], text.split(''), text.split(/(?<=\r)/), text.split(/(?<=\n)/)]) {
      expect(read(pieces)).toMatchObject({ body, over, whole: true, rest: 0 })
    }
  })

  test('to HEAD has no body', () => {
    expect(read([`${OK}content-length: 5\r\n\r\n`], 'HEAD')).toMatchObject({ body: '', over: true })
  })

  test('that is cut is not whole, and what follows its end is not part of it', () => {
    expect(read([`${OK}content-length: 5\r\n\r\nhell`]).whole).toBe(false)
    expect(read([`${CHUNKED}5\r\nhello\r\n0\r\n`]).whole).toBe(false)
    expect(read([`${OK}content-length: 5\r\n\r\nhelloHTTP/1.1`])).toMatchObject({ body: 'hello', rest: 8 })
    expect(read([`${CHUNKED}0\r\n\r\n`, 'x'])).toMatchObject({ over: true, rest: 1 })
  })

  test('has its fields in lower case, trimmed, several of one name as a list', () => {
    const [head] = read([
      `${OK}X-A:\t b \t\r\nset-cookie: 1\r\nSet-Cookie: 2\r\nx-latin: \xe4\r\n__proto__: c\r\n\r\n`,
    ]).heads
    expect(Object.entries(head?.headers ?? {})).toEqual([
      ['x-a', 'b'],
      ['set-cookie', ['1', '2']],
      ['x-latin', '\xe4'],
      ['__proto__', 'c'],
    ])
  })

  test.each<[string, number]>([
    ['HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n', Number.POSITIVE_INFINITY],
    ['HTTP/1.1 200 OK\r\ncontent-length: 0\r\nkeep-alive: max=9, timeout=5\r\n\r\n', 3_000],
    ['HTTP/1.1 200 OK\r\ncontent-length: 0\r\nkeep-alive: timeout=1\r\n\r\n', 0],
    ['HTTP/1.1 200 OK\r\ncontent-length: 0\r\nConnection: x, Close\r\n\r\n', 0],
    ['HTTP/1.0 200 OK\r\ncontent-length: 0\r\n\r\n', 0],
    ['HTTP/1.0 200 OK\r\ncontent-length: 0\r\nconnection: Keep-Alive\r\n\r\n', Number.POSITIVE_INFINITY],
    ['HTTP/1.1 200 OK\r\n\r\n', 0],
  ])('%j leaves a connection that may idle for %d ms', (text, keepMs) => {
    expect(read([text]).heads[0]?.keepMs).toBe(keepMs)
  })
})

describe('what is refused, in one piece and in pieces of one byte', () => {
  const field = (line: string): string => `${OK}${line}\r\ncontent-length: 1\r\n\r\nx`
  test.each<[string, string]>([
    ['no HTTP', '220 smtp.example.com ESMTP\r\n'],
    ['another version', 'HTTP/2.0 200 OK\r\n\r\n'],
    ['a status of two digits', 'HTTP/1.1 20 OK\r\n\r\n'],
    ['a status of four', 'HTTP/1.1 2000 OK\r\n\r\n'],
    ['a line that ends in LF alone', 'HTTP/1.1 200 OK\na: b\r\n\r\n'],
    ['a CR in a value', field('a: b\rc')],
    ['NUL', field('a: b\0')],
    ['DEL', field('a: \x7f')],
    ['a line that goes on the one before it', field('a: b\r\n c')],
    ['a space before the colon', field('a : b')],
    ['a line without a colon', field('a')],
    ['a field without a name', field(': b')],
    ['two lengths', field('content-length: 1')],
    ['two lengths that differ', field('content-length: 2')],
    ['a length beside chunks', field('transfer-encoding: chunked')],
    ['a list of lengths', `${OK}content-length: 1, 1\r\n\r\nx`],
    ['a length with a sign', `${OK}content-length: +1\r\n\r\nx`],
    ['a length that is not whole', `${OK}content-length: 1.0\r\n\r\nx`],
    ['a length of nothing at all', `${OK}content-length:\r\n\r\nx`],
    ['a length too large to be exact', `${OK}content-length: 9007199254740993\r\n\r\nx`],
    ['another coding', `${OK}transfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n`],
    ['chunks twice', `${OK}transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`],
    ['a tab behind the coding', `${OK}transfer-encoding: chunked\t\r\n\r\n0\r\n\r\n`],
    ['a chunk without a size', `${CHUNKED}\r\n`],
    ['a size that is no number', `${CHUNKED}zz\r\n`],
    ['a size with a prefix', `${CHUNKED}0x1\r\nx\r\n0\r\n\r\n`],
    ['a size with a space', `${CHUNKED}1 \r\nx\r\n0\r\n\r\n`],
    ['a size without end', `${CHUNKED}${'0'.repeat(20)}\r\n`],
    ['a size that ends in LF alone', `${CHUNKED}1\nx\r\n0\r\n\r\n`],
    ['a chunk longer than its size', `${CHUNKED}1\r\nxy\r\n0\r\n\r\n`],
    ['a chunk that ends in LF alone', `${CHUNKED}1\r\nx\n0\r\n\r\n`],
    ['an extension that is none', `${CHUNKED}1;=\r\nx\r\n0\r\n\r\n`],
    ['an extension of more than 1 KiB', `${CHUNKED}1;${'a'.repeat(1_100)}`],
    ['trailers of more than 64 KiB', `${CHUNKED}0\r\n${`a: ${'b'.repeat(1_000)}\r\n`.repeat(66)}`],
    ['a trailer that frames', `${CHUNKED}0\r\ncontent-length: 1\r\n\r\n`],
    ['a trailer with LF alone', `${CHUNKED}0\r\na: b\n\r\n`],
    ['a head of more than 64 KiB', `${OK}a: ${'b'.repeat(66_000)}`],
    ['as much in several', `HTTP/1.1 103 E\r\na: ${'b'.repeat(700)}\r\n\r\n`.repeat(100)],
  ])('%s', (_what, text) => {
    expect(() => read([text])).toThrow(HttpSyntaxError)
    if (text.length < 1_000) expect(() => read(text.split(''))).toThrow(HttpSyntaxError)
  })
})
