import type { JsonValue } from '../json.ts'
import { unescapeJson } from '../passthrough/json-text.ts'
import type { LiftedStrings } from './lifted-strings.ts'

/**
 * Builds the value of a JSON text while it arrives, so that the end of a long text takes no more work than any piece.
 * The text was scanned before: only JSON is pushed here.
 */
export class JsonBuilder {
  readonly #lifted: LiftedStrings
  /** Containers that are open, and the member each object waits for. */
  readonly #open: Container[] = []
  #root: JsonValue = null
  /** Where the string or number being read begins, counted from the text's first byte; -1: none is. */
  #from = -1
  #inString = false
  /** How far the string being read was searched for its end. */
  #searched = 0

  constructor(lifted: LiftedStrings) {
    this.#lifted = lifted
  }

  /** Reads the text from offset `from` to `to`; offset 0 is at `bytes[base]`, and all earlier text follows it. */
  push(bytes: Uint8Array, base: number, from: number, to: number): void {
    let at = from
    while (at < to) at = this.#inString ? this.#string(bytes, base, to) : this.#step(bytes, base, at)
  }

  /** The value, once all text was pushed: nothing marks the end of a text that is only a number. */
  end(bytes: Uint8Array, base: number, to: number): JsonValue {
    if (this.#from >= 0) this.#literal(bytes, base, to)
    return this.#root
  }

  /** Reads one byte outside strings; returns the next offset. */
  #step(bytes: Uint8Array, base: number, at: number): number {
    const byte = bytes[base + at] ?? 0
    if (isLiteral(byte)) {
      if (this.#from < 0) this.#from = at
      return at + 1
    }
    if (this.#from >= 0) this.#literal(bytes, base, at)
    if (byte === QUOTE) {
      this.#from = at + 1
      this.#searched = at + 1
      this.#inString = true
    } else if (byte === OPEN_OBJECT) this.#open.push({ object: {}, key: undefined })
    else if (byte === OPEN_ARRAY) this.#open.push({ array: [] })
    else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) this.#close()
    return at + 1
  }

  /** Looks for the end of the string; returns the offset after it, or `to`. */
  #string(bytes: Uint8Array, base: number, to: number): number {
    const end = findQuote(bytes, base + this.#searched, base + to) - base
    this.#searched = Math.min(end + 1, to)
    if (end >= to) return to
    if (isEscaped(bytes, base + this.#from, base + end)) return end + 1
    const inside = bytes.subarray(base + this.#from, base + end)
    this.#inString = false
    this.#from = -1
    this.#take(inside)
    return end + 1
  }

  /** A string is the name of a member where an object waits for one. */
  #take(inside: Uint8Array): void {
    const top = this.#open.at(-1)
    if (top !== undefined && 'object' in top && top.key === undefined) top.key = unescapeJson(inside)
    else this.#add(this.#lifted.read(inside))
  }

  #literal(bytes: Uint8Array, base: number, to: number): void {
    const text = unescapeJson(bytes.subarray(base + this.#from, base + to))
    this.#from = -1
    this.#add(text === 'null' ? null : text === 'true' ? true : text === 'false' ? false : Number(text))
  }

  #close(): void {
    const closed = this.#open.pop()
    if (closed !== undefined) this.#add('object' in closed ? closed.object : closed.array)
  }

  #add(value: JsonValue): void {
    const top = this.#open.at(-1)
    if (top === undefined) this.#root = value
    else if ('array' in top) top.array.push(value)
    else {
      addMember(top.object, top.key ?? '', value)
      top.key = undefined
    }
  }
}

type Container =
  | { readonly object: Record<string, JsonValue>; key: string | undefined }
  | { readonly array: JsonValue[] }

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const COMMA = 0x2c
const COLON = 0x3a

/** A byte of a number, or of `true`, `false` and `null`. */
function isLiteral(byte: number): boolean {
  return (
    byte > 0x20 &&
    byte !== QUOTE &&
    byte !== COMMA &&
    byte !== COLON &&
    byte !== OPEN_OBJECT &&
    byte !== CLOSE_OBJECT &&
    byte !== OPEN_ARRAY &&
    byte !== CLOSE_ARRAY
  )
}

/** Most strings are short: creating a view would cost more. */
const LOOKED_AT = 64

/** The first quote in `bytes[from, to)`; `to`: there is none. */
function findQuote(bytes: Uint8Array, from: number, to: number): number {
  const near = Math.min(to, from + LOOKED_AT)
  for (let at = from; at < near; at++) if (bytes[at] === QUOTE) return at
  if (near === to) return to
  const found = bytes.subarray(near, to).indexOf(QUOTE)
  return found < 0 ? to : near + found
}

/** Whether an odd number of backslashes precedes `at`, counting from `from`. */
function isEscaped(bytes: Uint8Array, from: number, at: number): boolean {
  let before = at
  while (before > from && bytes[before - 1] === BACKSLASH) before--
  return (at - before) % 2 === 1
}

/** As JSON.parse does it: a name such as `__proto__` is a member like any other. */
function addMember(object: Record<string, JsonValue>, key: string, value: JsonValue): void {
  if (key !== '__proto__') object[key] = value
  else Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true })
}
