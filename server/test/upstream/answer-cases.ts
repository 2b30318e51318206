/** Answers as vendors give them, and what becomes of them in the hands of somebody who means harm: seeded, without an end. */
import { recordingFiles } from '../recordings.ts'
import { type Chance, cutAnywhere, cutAt, seededChance } from '../passthrough/test-kit.ts'
import type { AnswerCase } from './answer-readers.ts'

export interface MadeCase extends AnswerCase {
  /** As it was framed, before anything was done to it: every reader has to take it. */
  readonly sound: boolean
}

/** Long answers are cut: what matters is how they are framed. */
const BODY_BYTES_MAX = 400

export function answerMaker(): (seed: number) => MadeCase {
  const bodies = recordingFiles().map(({ text }) => Buffer.from(text))
  return (seed) => {
    const chance = seededChance(seed)
    const body = bodies[chance.below(bodies.length)] ?? Buffer.alloc(0)
    const from = chance.below(Math.max(1, body.byteLength - 50))
    const method = chance.below(20) === 0 ? 'HEAD' : 'GET'
    const made = frame(body.subarray(from, from + chance.below(BODY_BYTES_MAX)), method, chance)
    const sound = chance.below(4) === 0
    let { bytes } = made
    for (let times = sound ? 0 : 1 + chance.below(3); times > 0; times -= 1) bytes = spoil(bytes, chance)
    return { method, pieces: cut(bytes, chance), ends: made.untilClose || chance.below(2) === 0, sound }
  }
}

const FIELDS = [
  'Date: Mon, 23 Nov 2026 10:00:00 GMT',
  'content-type: text/event-stream; charset=utf-8',
  'Connection: keep-alive',
  'Connection: close',
  'connection: Keep-Alive, Upgrade',
  'Keep-Alive: timeout=75, max=100',
  'x-request-id:req_0123456789',
  'x-empty:',
  'x-blank: \t ',
  'x-tab:\ta\tb\t',
  'set-cookie: a=1',
  'set-cookie: b=2',
  'Set-Cookie: c=3; HttpOnly',
  'x-latin: h\xe4user \xff',
  "!#$%&'*+-.^_`|~: odd but lawful",
  '__proto__: nobody',
  'constructor: nobody',
  'X-Ratelimit-Remaining-Tokens: 149999799',
  'trailer: x-checksum',
] as const

const INFORMATION = [
  'HTTP/1.1 100 Continue\r\n\r\n',
  'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n',
] as const
const STATUS_LINES = [
  'HTTP/1.1 200 OK',
  'HTTP/1.1 200',
  'HTTP/1.1 200 ',
  'HTTP/1.0 200 OK',
  'HTTP/1.1 404 Not Found',
  'HTTP/1.1 429 Zu viele Anfragen \xfc',
  'HTTP/1.1 529 ',
  'HTTP/1.1 204 No Content',
  'HTTP/1.1 304 Not Modified',
] as const
const EXTENSIONS = ['', '', '', ';a', ';a=b', ';name="a \\" b";c', ';a=1;b=2'] as const
const TRAILERS = ['', '', 'x-checksum: 1\r\n', 'a: b\r\nA: c\r\nx-empty:\r\n'] as const

function frame(
  body: Buffer,
  method: string,
  chance: Chance,
): { readonly bytes: Buffer; readonly untilClose: boolean } {
  const statusLine = chance.below(2) === 0 ? 'HTTP/1.1 200 OK' : chance.pick(STATUS_LINES)
  const fields = Array.from({ length: chance.below(8) }, () => chance.pick(FIELDS))
  const information = chance.below(8) === 0 ? chance.pick(INFORMATION) : ''
  const framing = chance.pick(['length', 'chunked', 'chunked', 'close'])
  if (framing === 'length')
    fields.splice(chance.below(fields.length + 1), 0, `Content-Length: ${body.byteLength}` as never)
  if (framing === 'chunked') fields.push('Transfer-Encoding: chunked' as never)
  const head = Buffer.from(`${information}${[statusLine, ...fields].join('\r\n')}\r\n\r\n`, 'latin1')
  const bodiless = method === 'HEAD' || / (?:204|304) /.test(statusLine)
  if (bodiless) return { bytes: head, untilClose: false }
  const framed = framing === 'chunked' ? chunks(body, chance) : body
  return { bytes: Buffer.concat([head, framed]), untilClose: framing === 'close' }
}

function chunks(body: Buffer, chance: Chance): Buffer {
  const pieces = cutAnywhere(body, chance).filter((piece) => piece.byteLength > 0)
  const framed = pieces.map((piece) => {
    const digits = piece.byteLength.toString(16).padStart(chance.pick([1, 1, 8]), '0')
    const size = chance.below(2) === 0 ? digits : digits.toUpperCase()
    return Buffer.concat([Buffer.from(`${size}${chance.pick(EXTENSIONS)}\r\n`), piece, Buffer.from('\r\n')])
  })
  const last = `${chance.pick(['0', '0', '000'])}${chance.pick(EXTENSIONS)}\r\n${chance.pick(TRAILERS)}\r\n`
  return Buffer.concat([...framed, Buffer.from(last)])
}

const TOKENS = [
  '\r',
  '\n',
  '\r\n',
  '\r\n\r\n',
  '\n\n',
  '\0',
  ' ',
  '\t',
  ':',
  ';',
  '=',
  '"',
  ',',
  '0',
  '1',
  'f',
  'x',
  '-',
  '+',
  '\x7f',
  '\xff',
  'Content-Length: 5\r\n',
  'content-length: 0\r\n',
  'Content-Length : 5\r\n',
  'Content-Length: 5, 5\r\n',
  'Content-Length: +5\r\n',
  'Transfer-Encoding: chunked\r\n',
  'transfer-encoding: gzip, chunked\r\n',
  'Transfer-Encoding: identity\r\n',
  'Transfer-Encoding: xchunked\r\n',
  'Transfer-Encoding:\r\n chunked\r\n',
  ' folded\r\n',
  '\tfolded\r\n',
  '0\r\n\r\n',
  '5\r\nhello\r\n',
  'HTTP/1.1 200 OK\r\n',
  'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n',
  'ffffffffffffffff\r\n',
  '0x5\r\n',
  '-1\r\n',
] as const

/** Where a spoiled byte matters: in heads and in the framing of chunks. */
function spoil(bytes: Buffer, chance: Chance): Buffer {
  const lines = [...bytes.keys()].filter((at) => bytes[at] === 0x0a)
  const line = lines[chance.below(Math.max(1, lines.length))] ?? 0
  const anywhere = chance.below(bytes.byteLength + 1)
  const at = chance.below(3) === 0 ? anywhere : Math.max(0, line + chance.pick([-2, -1, 0, 1, 2]))
  const token = Buffer.from(TOKENS[chance.below(TOKENS.length)] ?? '', 'latin1')
  const replace = (length: number, by: Buffer): Buffer =>
    Buffer.concat([bytes.subarray(0, at), by, bytes.subarray(at + length)])
  switch (chance.below(6)) {
    case 0:
      return replace(1, Buffer.from([chance.below(256)]))
    case 1:
      return replace(1 + chance.below(3), Buffer.alloc(0))
    case 2:
      return bytes.subarray(0, at)
    case 3: {
      const other = lines[chance.below(Math.max(1, lines.length))] ?? 0
      return replace(0, bytes.subarray(Math.min(line, other), Math.max(line, other) + 1))
    }
    default:
      return replace(chance.below(2), token)
  }
}

function cut(bytes: Buffer, chance: Chance): readonly Buffer[] {
  const all = Array.from({ length: bytes.byteLength }, (_, at) => at + 1)
  const pieces =
    chance.below(8) === 0
      ? cutAt(bytes, all)
      : chance.below(3) === 0
        ? cutAt(
            bytes,
            all.filter((at) => bytes[at - 1] === 0x0d),
          )
        : cutAnywhere(bytes, chance)
  return pieces.map((piece) => Buffer.from(piece))
}
