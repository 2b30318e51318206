/** One answer in pieces, read by the parser of our own, by Node's (llhttp), and by undici. */
import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { Client } from 'undici'
import { AnswerParser } from '../../src/upstream/http1/answer-parser.ts'
import { type Fields, grouped, HTTPParser } from '../node-parser.ts'

export interface AnswerCase {
  readonly method: 'GET' | 'HEAD'
  readonly pieces: readonly Buffer[]
  /** The connection ends after the last piece; else more could come. */
  readonly ends: boolean
}

export interface Reading {
  /** Each as JSON: status and fields; informational ones too. */
  readonly heads: readonly string[]
  /** What was given out of the body, a character a byte. */
  readonly body: string
  readonly end: 'whole' | 'refused' | 'cut' | 'waits'
}

const headText = (status: number, fields: Fields): string => JSON.stringify([status, Object.entries(fields)])

export function readByOwn({ method, pieces, ends }: AnswerCase): Reading {
  const heads: string[] = []
  let body = ''
  let piece: Buffer = Buffer.alloc(0)
  const parser = new AnswerParser({
    head: ({ status, headers }) => heads.push(headText(status, headers)),
    body: (from, until) => {
      body += piece.toString('latin1', from, until)
    },
  })
  parser.start(method)
  try {
    for (piece of pieces) parser.push(piece)
  } catch {
    return { heads, body, end: 'refused' }
  }
  if (parser.over) return { heads, body, end: 'whole' }
  if (!ends) return { heads, body, end: 'waits' }
  return { heads, body, end: parser.finish() ? 'whole' : 'cut' }
}

/** So that the bound on heads, which counts otherwise there, is met by neither. */
const HEAD_BYTES_MAX = 1_048_576

/** As strict as it can be, and told what Node's own client tells it. */
export function readByNode({ method, pieces, ends }: AnswerCase): Reading {
  const heads: string[] = []
  let body = ''
  let whole = false
  let status = 0
  let early: string[] = []
  const parser = new HTTPParser()
  parser.initialize(HTTPParser.RESPONSE, {}, HEAD_BYTES_MAX, 0)
  parser[HTTPParser.kOnHeaders] = (list: string[]) => {
    early = [...early, ...list]
  }
  parser[HTTPParser.kOnHeadersComplete] = (
    _major: number,
    _minor: number,
    list: string[] | undefined,
    _method: unknown,
    _url: unknown,
    given: number,
  ) => {
    if (whole) return 1
    status = given
    heads.push(headText(status, grouped(list ?? early)))
    early = []
    return status < 200 || status === 304 || method === 'HEAD' ? 1 : 0
  }
  parser[HTTPParser.kOnBody] = (bytes: Buffer) => {
    if (!whole) body += bytes.toString('latin1')
  }
  parser[HTTPParser.kOnMessageComplete] = () => {
    whole ||= status >= 200
    early = []
  }
  for (const piece of pieces) {
    if (whole || piece.byteLength === 0) continue
    if (parser.execute(piece) instanceof Error && !whole) return { heads, body, end: 'refused' }
  }
  if (!whole && ends) parser.finish()
  return { heads, body, end: whole ? 'whole' : ends ? 'cut' : 'waits' }
}

/** Over a socket that is none; only answers whose connection ends, because nothing else ends the wait. */
export async function readByUndici({ method, pieces }: AnswerCase): Promise<Reading> {
  const client = new Client('http://upstream.invalid', {
    // Later, as a connection is; at once, undici would wait for ever.
    connect: (_options, callback) => setImmediate(() => callback(null, playing(pieces) as Socket)),
    maxHeaderSize: HEAD_BYTES_MAX,
  })
  const heads: string[] = []
  let body = ''
  const end = await new Promise<Reading['end']>((resolve) => {
    client.dispatch(
      { path: '/', method },
      {
        onRequestStart: () => undefined,
        onResponseStart: (_flow, status, headers) => {
          // It leaves blanks at the end of a value, which belong to none (RFC 9112 §5).
          heads.push(headText(status, headers as Fields).replaceAll(/(?:\\t| )+"/g, '"'))
        },
        onResponseData: (_flow, chunk) => {
          body += chunk.toString('latin1')
        },
        onResponseEnd: () => resolve('whole'),
        onResponseError: () => resolve('refused'),
      },
    )
  })
  await client.destroy()
  return { heads, body, end }
}

/** Plays the pieces to whoever writes to it, then ends. */
function playing(pieces: readonly Buffer[]): Duplex {
  const left = pieces.filter((piece) => piece.byteLength > 0)
  let asked = false
  const duplex: Duplex = new Duplex({
    read: () => {
      if (asked) duplex.push(left.shift() ?? null)
    },
    write: (_bytes, _encoding, done) => {
      if (!asked) {
        asked = true
        duplex.push(left.shift() ?? null)
      }
      done()
    },
  })
  return duplex
}
