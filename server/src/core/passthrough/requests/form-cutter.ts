/**
 * Splits a form into its parts as its bytes arrive (RFC 2046 §5.1, RFC 7578). Strict where parsers differ: line ends are
 * CRLF, the boundary occurs only between parts, and a part's name is unambiguous.
 */
import type { Span } from '../splice.ts'

export interface FormPart {
  readonly name: string
  /** It has a filename. */
  readonly isFile: boolean
}

export interface FormSink {
  begin(part: FormPart): void
  /** `span`: of its content in the body. `text`: that content, if the part is no file and not too long. */
  end(part: FormPart, span: Span, text: Uint8Array | undefined): void
}

/** Bytes of one part's header. */
const HEADER_BYTES_MAX = 16_384
const DASH = 0x2d
const CR = 0x0d
const LF = 0x0a
const NOTHING = new Uint8Array(0)
/** Smaller pieces are joined first, so that a form sent byte by byte is not read twice. */
const PIECE_BYTES = 16_384

type State = 'start' | 'boundary' | 'header' | 'content' | 'epilogue'

export class FormCutter {
  /** Bytes so far. */
  length = 0
  /** What is wrong with the form; undefined: nothing so far. Final after `end`. */
  mistake: string | undefined
  readonly #delimiter: Uint8Array
  readonly #overlaps: readonly number[]
  readonly #textBytesMax: number
  readonly #sink: FormSink
  #state: State = 'start'
  /** What arrived since, in pieces too small to be read yet. */
  #pieces: Uint8Array[] = []
  #pieceBytes = 0
  /** What is not processed yet: it begins at offset `#at` of the body. */
  #rest: Uint8Array = NOTHING
  #at = 0
  #part: FormPart | undefined
  #partStart = 0
  #text: Uint8Array[] = []
  #textLength = 0

  /** `textBytesMax`: for a part that is no file. */
  constructor(boundary: string, textBytesMax: number, sink: FormSink) {
    this.#delimiter = new TextEncoder().encode(`--${boundary}`)
    this.#overlaps = overlapsOf(this.#delimiter)
    this.#textBytesMax = textBytesMax
    this.#sink = sink
  }

  /** The last boundary has arrived. */
  get isWhole(): boolean {
    return this.#state === 'epilogue' && this.mistake === undefined
  }

  push(chunk: Uint8Array): void {
    this.length += chunk.byteLength
    if (this.mistake !== undefined) return
    this.#pieces.push(chunk)
    this.#pieceBytes += chunk.byteLength
    if (this.#pieceBytes >= PIECE_BYTES) this.#look()
  }

  /** Nothing more comes. */
  end(): void {
    if (this.mistake === undefined) this.#look()
  }

  #look(): void {
    this.#rest = joined([this.#rest, ...this.#pieces])
    this.#pieces = []
    this.#pieceBytes = 0
    while (this.mistake === undefined && this.#step()) continue
  }

  /** Returns false if more bytes are needed. */
  #step(): boolean {
    switch (this.#state) {
      case 'start':
        return this.#begin()
      case 'boundary':
        return this.#afterBoundary()
      case 'header':
        return this.#header()
      case 'content':
        return this.#content()
      case 'epilogue':
        return this.#epilogue()
    }
  }

  #begin(): boolean {
    if (this.#rest.length < this.#delimiter.length + 2) return false
    const from = this.#rest[0] === CR && this.#rest[1] === LF ? 2 : 0
    if (!this.#isDelimiter(from)) return this.#wrong('it does not begin with its boundary')
    return this.#go('boundary', from + this.#delimiter.length)
  }

  #afterBoundary(): boolean {
    const [first, second] = this.#rest
    if (second === undefined) return false
    if (first === DASH && second === DASH) return this.#go('epilogue', 2)
    if (first === CR && second === LF) return this.#go('header', 2)
    return this.#wrong('its boundary occurs inside a part')
  }

  #header(): boolean {
    const end = findHeaderEnd(this.#rest)
    if (end === undefined)
      return this.#rest.length > HEADER_BYTES_MAX ? this.#wrong('the header of a part is too long') : false
    const part = readHeader(new TextDecoder('utf-8', { ignoreBOM: true }).decode(this.#rest.subarray(0, end)))
    if (typeof part === 'string') return this.#wrong(part)
    this.#part = part
    this.#text = []
    this.#textLength = 0
    this.#partStart = this.#at + end + 4
    this.#sink.begin(part)
    return this.#go('content', end + 4)
  }

  #content(): boolean {
    const found = this.#findDelimiter()
    if (found === undefined) {
      // A delimiter may have begun, and the line's end before it.
      const sure = this.#rest.length - this.#delimiter.length - 1
      if (sure > 0) this.#keep(sure)
      return false
    }
    if (found < 2 || this.#rest[found - 2] !== CR || this.#rest[found - 1] !== LF)
      return this.#wrong('its boundary occurs inside a part')
    this.#keep(found - 2)
    this.#endPart()
    return this.#go('boundary', 2 + this.#delimiter.length)
  }

  /** Up to there the rest is content. */
  #keep(count: number): void {
    if (this.#part?.isFile === false) {
      this.#textLength += count
      if (this.#textLength <= this.#textBytesMax) this.#text.push(this.#rest.slice(0, count))
      else this.#text = []
    }
    this.#rest = this.#rest.subarray(count)
    this.#at += count
  }

  #endPart(): void {
    const part = this.#part
    if (part === undefined) return
    const readable = !part.isFile && this.#textLength <= this.#textBytesMax
    const text = readable ? joined(this.#text) : undefined
    this.#text = []
    this.#part = undefined
    this.#sink.end(part, { start: this.#partStart, end: this.#at }, text)
  }

  #epilogue(): boolean {
    for (const byte of this.#rest)
      if (byte !== CR && byte !== LF) return this.#wrong('something follows its last boundary')
    this.#at += this.#rest.length
    this.#rest = NOTHING
    return false
  }

  /** Linear time: no byte is compared again, even if a file contains parts of the boundary. */
  #findDelimiter(): number | undefined {
    const { length } = this.#delimiter
    let matched = 0
    for (let at = 0; at < this.#rest.length; at += 1) {
      if (matched === 0) {
        at = this.#rest.indexOf(DASH, at)
        if (at < 0) return undefined
      }
      while (matched > 0 && this.#rest[at] !== this.#delimiter[matched])
        matched = this.#overlaps[matched - 1] ?? 0
      if (this.#rest[at] === this.#delimiter[matched]) matched += 1
      if (matched === length) return at + 1 - length
    }
    return undefined
  }

  #isDelimiter(from: number): boolean {
    const { length } = this.#delimiter
    for (let index = 0; index < length; index += 1)
      if (this.#rest[from + index] !== this.#delimiter[index]) return false
    return true
  }

  #go(state: State, count: number): boolean {
    this.#state = state
    this.#rest = this.#rest.subarray(count)
    this.#at += count
    return true
  }

  #wrong(mistake: string): false {
    this.mistake = mistake
    return false
  }
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const full = pieces.filter(({ length }) => length > 0)
  const [only = NOTHING] = full
  if (full.length <= 1) return only
  const all = new Uint8Array(full.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const piece of full) {
    all.set(piece, at)
    at += piece.length
  }
  return all
}

/**
 * For each prefix of a text, the length of its longest proper suffix that is also a prefix (Knuth, Morris and Pratt).
 */
function overlapsOf(text: Uint8Array): readonly number[] {
  const overlaps = [0]
  let matched = 0
  for (let at = 1; at < text.length; at += 1) {
    while (matched > 0 && text[at] !== text[matched]) matched = overlaps[matched - 1] ?? 0
    if (text[at] === text[matched]) matched += 1
    overlaps.push(matched)
  }
  return overlaps
}

/** Where the empty line begins. */
function findHeaderEnd(bytes: Uint8Array): number | undefined {
  const most = Math.min(bytes.length - 3, HEADER_BYTES_MAX)
  for (let at = 0; at < most; at += 1)
    if (bytes[at] === CR && bytes[at + 1] === LF && bytes[at + 2] === CR && bytes[at + 3] === LF) return at
  return undefined
}

const FIELD = /^([\w-]+):[ \t]*(.*)$/
/** Values are single words, or quoted without characters that some parsers take for escapes. */
const DISPOSITION =
  /^form-data((?:[ \t]*;[ \t]*[\w*-]+=(?:"(?:[^"\\]|\\[^"\\])*"|[^\s";\\]+))+)[ \t]*;?[ \t]*$/i
const PARAMETER = /;[ \t]*([\w*-]+)=(?:"((?:[^"\\]|\\[^"\\])*)"|([^\s";\\]+))/g

/** The part, or an error message. */
function readHeader(text: string): FormPart | string {
  let disposition: string | undefined
  for (const line of text.split('\r\n')) {
    const [, name = '', value = ''] = FIELD.exec(line) ?? []
    if (name === '' || hasControls(value)) return 'the header of a part has an invalid line'
    switch (name.toLowerCase()) {
      case 'content-disposition':
        if (disposition !== undefined) return 'a part has two names'
        disposition = value
        break
      case 'content-transfer-encoding':
        if (!/^(?:7bit|8bit|binary)$/i.test(value.trim()))
          return 'a part has an unsupported Content-Transfer-Encoding'
        break
      case 'content-type':
        if (/^\s*multipart\//i.test(value)) return 'a part holds parts'
        break
      default:
    }
  }
  return disposition === undefined ? 'a part has no name' : readDisposition(disposition)
}

function hasControls(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if ((code < 0x20 && code !== 0x09) || code === 0x7f) return true
  }
  return false
}

function readDisposition(value: string): FormPart | string {
  const [, parameters] = DISPOSITION.exec(value) ?? []
  if (parameters === undefined) return 'the name of a part, or of its file, is ambiguous'
  const found = new Map<string, string>()
  for (const [, key = '', quoted, word] of parameters.matchAll(PARAMETER)) {
    const lower = key.toLowerCase()
    if (found.has(lower)) return 'a part has two names'
    found.set(lower, quoted ?? word ?? '')
  }
  const name = found.get('name')
  // RFC 2231: parsers that support it join pieces (`name*0`) or take the encoded name.
  const isEncoded = [...found.keys()].some((key) => key.includes('*') && key !== 'filename*')
  if (name === undefined || isEncoded) return 'a part has no name, or an encoded one'
  // Some parsers take these for parts of an escape.
  if (/[\\%]/.test(name)) return 'the name of a part is ambiguous'
  return { name, isFile: found.has('filename') || found.has('filename*') }
}
