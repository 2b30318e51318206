/**
 * Parses HTTP/1.1 answers from pieces of any size: a synchronous machine that copies nothing of a body and keeps only
 * what it cannot parse yet.
 */
import { parseFields } from '../../core/http1/fields.ts'
import { type AnswerHead, parseHead } from './parse-head.ts'
import { HttpSyntaxError } from '../../core/http1/syntax-error.ts'

/** Limit for all heads of one answer, and again for its trailers. */
const HEAD_BYTES_MAX = 65_536
/** Chunk extensions are not used in practice; a signature of the chunk would fit. */
const EXTENSION_BYTES_MAX = 1_024
/** 52 bits, which a number holds exactly. */
const SIZE_DIGITS_MAX = 13

const CR = 0x0d
const LF = 0x0a
const SEMICOLON = 0x3b
const HEAD_END = Buffer.from('\r\n\r\n')
const HALF_LINE_END = /(?:^|[^\r])\n/
const PREFIX = 'HTTP/1.'
const EXTENSIONS =
  /^(?:;[!#$%&'*+\-.^_`|~\dA-Za-z]+(?:=(?:[!#$%&'*+\-.^_`|~\dA-Za-z]+|"(?:[\t \x21\x23-\x5b\x5d-\x7e\x80-\xff]|\\[\t\x20-\x7e])*"))?)*$/
/** Trailers are read and dropped, so none may change how the answer is interpreted. */
const NEVER_TRAILERS = ['content-length', 'transfer-encoding'] as const

export interface AnswerSink {
  /** Also for informational heads, but never for 101. */
  head(head: AnswerHead): void
  /** Bytes of the body, as offsets into the pushed bytes; never empty. */
  body(from: number, until: number): void
}

type State =
  | 'head'
  | 'length'
  | 'until-close'
  | 'chunk-size'
  | 'chunk-size-lf'
  | 'chunk-extension'
  | 'chunk'
  | 'chunk-cr'
  | 'chunk-lf'
  | 'trailers'
  | 'over'

export class AnswerParser {
  readonly #sink: AnswerSink
  #method = 'GET'
  #state: State = 'over'
  /** The part received of an incomplete head, extension or trailers. */
  #text = ''
  #headBytes = 0
  /** Bytes of the body or the chunk still to be received. */
  #left = 0
  #digits = 0

  constructor(sink: AnswerSink) {
    this.#sink = sink
  }

  /** The answer is complete, or was stopped. */
  get over(): boolean {
    return this.#state === 'over'
  }

  /** The following bytes are the answer to a request with this method. */
  start(method: string): void {
    this.#method = method
    this.#state = 'head'
    this.#text = ''
    this.#headBytes = 0
  }

  /** Stops parsing; may be called by the sink. */
  stop(): void {
    this.#state = 'over'
  }

  /** Returns how many of the bytes belong to the answer: all, unless it has ended. Throws `HttpSyntaxError`. */
  push(bytes: Buffer): number {
    let at = 0
    while (at < bytes.byteLength && this.#state !== 'over') at = this.#step(bytes, at)
    return at
  }

  /** The connection ended. True if that was the end of the answer; otherwise it is truncated. */
  finish(): boolean {
    const whole = this.#state === 'until-close' || this.#state === 'over'
    this.#state = 'over'
    return whole
  }

  #step(bytes: Buffer, at: number): number {
    switch (this.#state) {
      case 'head':
        return this.#readHead(bytes, at)
      case 'length':
        return this.#readBody(bytes, at, 'over')
      case 'until-close':
        this.#sink.body(at, bytes.byteLength)
        return bytes.byteLength
      case 'chunk-size':
        return this.#readSize(bytes, at)
      case 'chunk-size-lf':
        return this.#beginChunk(this.#expect(LF, bytes, at))
      case 'chunk-extension':
        return this.#readExtension(bytes, at)
      case 'chunk':
        return this.#readBody(bytes, at, 'chunk-cr')
      case 'chunk-cr':
        this.#state = 'chunk-lf'
        return this.#expect(CR, bytes, at)
      case 'chunk-lf':
        this.#beginSize()
        return this.#expect(LF, bytes, at)
      case 'trailers':
        return this.#readTrailers(bytes, at)
      case 'over':
        return at
    }
  }

  #readHead(bytes: Buffer, at: number): number {
    const held = this.#text.length
    if (held === 0) {
      const end = bytes.indexOf(HEAD_END, at)
      if (end !== -1) return this.#takeHead(bytes.toString('latin1', at, end), end + HEAD_END.byteLength)
    }
    // The head arrives in pieces. Only as much is searched as a head may have.
    const until = Math.min(bytes.byteLength, at + HEAD_BYTES_MAX + 1)
    this.#text += bytes.toString('latin1', at, until)
    const end = this.#text.indexOf('\r\n\r\n', Math.max(0, held - 3))
    if (end !== -1) {
      const next = at + end + HEAD_END.byteLength - held
      return this.#takeHead(this.#text.slice(0, end), next)
    }
    this.#refuseNoHead(this.#text)
    return until
  }

  /** Refuses early what cannot become a valid head. */
  #refuseNoHead(text: string): void {
    if (!text.startsWith(PREFIX.slice(0, text.length)))
      throw new HttpSyntaxError('an answer that does not begin with HTTP/1')
    if (HALF_LINE_END.test(text)) throw new HttpSyntaxError('a line of a head that ends without CR')
    this.#boundHead(text.length)
  }

  #boundHead(bytes: number): void {
    if (this.#headBytes + bytes > HEAD_BYTES_MAX)
      throw new HttpSyntaxError(`a head of more than ${HEAD_BYTES_MAX} bytes`)
  }

  /** @returns `next`, where the body begins */
  #takeHead(text: string, next: number): number {
    this.#boundHead(text.length)
    this.#headBytes += text.length
    this.#text = ''
    const head = parseHead(text, this.#method)
    if (head.status === 101) throw new Error('an upgrade that nobody asked for')
    if (head.status >= 200) this.#beginBody(head)
    this.#sink.head(head)
    return next
  }

  #beginBody({ framing }: AnswerHead): void {
    switch (framing.kind) {
      case 'none':
        this.#state = 'over'
        return
      case 'length':
        this.#left = framing.bytes
        this.#state = framing.bytes === 0 ? 'over' : 'length'
        return
      case 'chunked':
        this.#beginSize()
        return
      case 'until-close':
        this.#state = 'until-close'
    }
  }

  #readBody(bytes: Buffer, at: number, after: State): number {
    const until = Math.min(bytes.byteLength, at + this.#left)
    this.#left -= until - at
    if (this.#left === 0) this.#state = after
    this.#sink.body(at, until)
    return until
  }

  #beginSize(): void {
    this.#state = 'chunk-size'
    this.#left = 0
    this.#digits = 0
  }

  #readSize(bytes: Buffer, from: number): number {
    for (let at = from; at < bytes.byteLength; at += 1) {
      const byte = bytes[at] ?? 0
      const digit = hexDigit(byte)
      if (digit !== -1) {
        this.#left = this.#left * 16 + digit
        this.#digits += 1
        if (this.#digits > SIZE_DIGITS_MAX) throw new HttpSyntaxError('a chunk of impossible size')
      } else {
        this.#endSize(byte)
        return at + 1
      }
    }
    return bytes.byteLength
  }

  #endSize(byte: number): void {
    if (this.#digits === 0 || (byte !== CR && byte !== SEMICOLON))
      throw new HttpSyntaxError('a chunk size that is no number')
    this.#state = byte === CR ? 'chunk-size-lf' : 'chunk-extension'
    if (byte === SEMICOLON) this.#text = ';'
  }

  #beginChunk(next: number): number {
    this.#text = ''
    this.#state = this.#left === 0 ? 'trailers' : 'chunk'
    return next
  }

  #readExtension(bytes: Buffer, at: number): number {
    const next = this.#readLine(bytes, at, EXTENSION_BYTES_MAX)
    if (!this.#text.endsWith('\n')) return next
    if (!EXTENSIONS.test(lineOf(this.#text))) throw new HttpSyntaxError('a malformed chunk extension')
    return this.#beginChunk(next)
  }

  /** All lines up to the empty one. */
  #readTrailers(bytes: Buffer, at: number): number {
    const next = this.#readLine(bytes, at, HEAD_BYTES_MAX)
    const text = this.#text
    if (text !== '\r\n' && !text.endsWith('\r\n\r\n')) return next
    this.#text = ''
    this.#state = 'over'
    dropTrailers(text.slice(0, -2))
    return next
  }

  /** Adds to `#text` up to and including the next LF, if there is one. */
  #readLine(bytes: Buffer, at: number, bytesMax: number): number {
    const end = bytes.indexOf(LF, at)
    const until = end === -1 ? bytes.byteLength : end + 1
    if (this.#text.length + until - at > bytesMax)
      throw new HttpSyntaxError('extensions or trailers beyond their bound')
    this.#text += bytes.toString('latin1', at, until)
    if (end !== -1 && !this.#text.endsWith('\r\n')) throw new HttpSyntaxError('a line that ends without CR')
    return until
  }

  #expect(expected: number, bytes: Buffer, at: number): number {
    if (bytes[at] !== expected) throw new HttpSyntaxError('a chunk that does not end where it should')
    return at + 1
  }
}

const FORBIDDEN_IN_TRAILERS = /[^\t\r\n\x20-\x7e\x80-\xff]|\r(?!\n)/

/** @param lines each with its end */
function dropTrailers(lines: string): void {
  if (FORBIDDEN_IN_TRAILERS.test(lines))
    throw new HttpSyntaxError('trailers with characters that none may hold')
  const { headers } = parseFields(lines, 0)
  if (NEVER_TRAILERS.some((name) => name in headers))
    throw new HttpSyntaxError('a trailer that frames the body')
}

function lineOf(text: string): string {
  return text.slice(0, -2)
}

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  // Upper and lower case differ in one bit.
  const letter = byte | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1
}
