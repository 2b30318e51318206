/**
 * Reads JSON as it arrives, in pieces cut anywhere, and never builds the document: it checks the grammar of RFC 8259
 * (and that strings are well-formed UTF-8) and reports where the values of watched paths lie. One state machine, hence
 * one long function: every byte of every body and of every stream event goes through it, so its arms are written flat
 * and the tight loops (inside strings, over white space) stay inside their arm.
 */
import { unescapeJson } from './json-text.ts'
import { MARKED_BYTES_MAX, nextMark, StringMarks } from './string-marks.ts'
import type { WatchNode } from './watch-tree.ts'
import { findWord, spellsAlike, type WordTable } from './word-table.ts'

/**
 * Containers open at once. No real request comes near this (tool schemas stay under 50, most parsers stop between 64
 * and 1000); the bound limits the memory that a hostile body can take to a few kilobytes.
 */
export const SCAN_DEPTH_MAX = 1000

export type JsonKind = 'object' | 'array' | 'string' | 'number' | 'true' | 'false' | 'null'

/** Called for each value at a watched path when it ends. Offsets count bytes from the first byte ever pushed. */
export interface JsonSink {
  /** A string's span includes its quotes. A container is reported after everything inside it. */
  onValue(watch: number, kind: JsonKind, start: number, end: number): void
}

export interface JsonFailure {
  /** Byte at which the text stopped being JSON; the length of the text when it ended too early. */
  readonly offset: number
  readonly reason: string
}

const VALUE = 0
const FIRST_ITEM = 1
const FIRST_KEY = 2
const KEY = 3
const COLON = 4
const AFTER_VALUE = 5
const STRING = 6
const ESCAPE = 7
const HEX = 8
const UTF8 = 9
const NUMBER = 10
const LITERAL = 11
const DONE = 12
const FAILED = 13

/** Where in a number we are; those from `NUMBER_ZERO` on may end it. */
const NUMBER_MINUS = 0
const NUMBER_POINT = 1
const NUMBER_E = 2
const NUMBER_E_SIGN = 3
const NUMBER_ZERO = 4
const NUMBER_DIGITS = 5
const NUMBER_FRACTION = 6
const NUMBER_EXPONENT = 7

/** 0: a byte that just goes on inside a string. */
const IN_STRING = new Uint8Array(256)
IN_STRING.fill(1, 0, 0x20)
IN_STRING.fill(1, 0x80)
IN_STRING[0x22] = 1
IN_STRING[0x5c] = 1

/** A piece of at least this length is marked first; for a shorter one that costs more than it saves. */
const MARKED_BYTES_MIN = 512
const MARKS = new StringMarks()

/** 1: a byte that forms a two-byte escape with the backslash before it. */
const IN_ESCAPE = new Uint8Array(256)
for (const letter of [0x22, 0x5c, 0x2f, 0x62, 0x66, 0x6e, 0x72, 0x74]) IN_ESCAPE[letter] = 1

const encoder = new TextEncoder()
/** 1: a hexadecimal digit. */
const IN_HEX = new Uint8Array(256)
for (const digit of encoder.encode('0123456789abcdefABCDEF')) IN_HEX[digit] = 1
const NOTHING = new Uint8Array(0)
const TRUE = encoder.encode('true')
const FALSE = encoder.encode('false')
const NULL = encoder.encode('null')

/** Bounds the written form of a key that is still compared: a byte of a name may be written as six. */
const ESCAPED_BYTES_PER_BYTE = 6

export class JsonScanner {
  readonly #root: WatchNode
  readonly #sink: JsonSink
  #failure: JsonFailure | undefined = undefined
  #rootKind: JsonKind | undefined = undefined
  /** Bytes pushed before the current piece. */
  #consumed = 0
  #state = VALUE
  #depth = 0
  readonly #depthMax: number
  #values = 0
  /** Watch node of each open container. Room for as many as most documents open: an empty array gets three times that. */
  readonly #nodes: (WatchNode | undefined)[] = [
    undefined,
    undefined,
    undefined,
    undefined,
    undefined,
    undefined,
  ]
  readonly #starts: number[] = [0, 0, 0, 0, 0, 0]
  readonly #objects: boolean[] = [false, false, false, false, false, false]
  /** Watch node of the value being read or about to be. */
  #valueNode: WatchNode | undefined
  #valueStart = 0
  #inKey = false
  #keyEscaped = false
  /** Offset of the key's first byte inside its quotes. */
  #keyStart = 0
  /** Written bytes of a watched object's key that began in an earlier piece. */
  #keyStash: Uint8Array | undefined = undefined
  #lookAlike: string | undefined = undefined
  #hexLeft = 0
  #utf8Left = 0
  #utf8Low = 0
  #utf8High = 0
  #numberState = NUMBER_MINUS
  #literal: Uint8Array = TRUE
  #literalAt = 0

  /** `depthMax`: containers that may be open at once, at most `SCAN_DEPTH_MAX`. */
  constructor(root: WatchNode, sink: JsonSink, depthMax: number = SCAN_DEPTH_MAX) {
    this.#root = root
    this.#sink = sink
    this.#depthMax = Math.min(depthMax, SCAN_DEPTH_MAX)
    this.#valueNode = root
  }

  /** Values that have begun so far, at any depth: members of objects, items of arrays, the document itself. */
  get values(): number {
    return this.#values
  }

  /** The last name that differs from a watched one only in case, if the tree asks for such names. */
  get lookAlike(): string | undefined {
    return this.#lookAlike
  }

  /** Why the text is not JSON, once that is known. */
  get failure(): JsonFailure | undefined {
    return this.#failure
  }

  /** What the document is, known from its first byte; undefined before that. */
  get rootKind(): JsonKind | undefined {
    return this.#rootKind
  }

  /** Where the earliest wanted value that is still open begins; the number of bytes pushed when none is open. */
  get wantedFrom(): number {
    for (let level = 0; level < this.#depth; level++) {
      if (this.#nodes[level]?.wanted === true) return this.#starts[level] ?? 0
    }
    const inValue = this.#state === NUMBER || this.#state === LITERAL || (this.#inString && !this.#inKey)
    return inValue && this.#valueNode?.wanted === true ? this.#valueStart : this.#consumed
  }

  /** Where the value of `watch` that is being read begins; the number of bytes pushed when none is. */
  openFrom(watch: number): number {
    return this.#inString && !this.#inKey && this.#valueNode?.watch === watch
      ? this.#valueStart
      : this.#consumed
  }

  get #inString(): boolean {
    return this.#state >= STRING && this.#state <= UTF8
  }

  /** Makes the scanner ready for another document. */
  reset(): void {
    this.#failure = undefined
    this.#rootKind = undefined
    this.#consumed = 0
    this.#state = VALUE
    this.#depth = 0
    this.#values = 0
    this.#valueNode = this.#root
    this.#keyStash = undefined
  }

  /** Scans `bytes[from, to)`; false once the text is known not to be JSON. */
  push(bytes: Uint8Array, from: number, to: number): boolean {
    // A sink may push to another scanner, and there is one place for marks.
    if (to - from < MARKED_BYTES_MIN || !MARKS.take()) return this.#scan(bytes, from, to, undefined)
    try {
      for (let at = from; at < to; at += MARKED_BYTES_MAX) {
        const end = Math.min(to, at + MARKED_BYTES_MAX)
        if (!this.#scan(bytes, at, end, MARKS.mark(bytes, at, end))) return false
      }
      return true
    } finally {
      MARKS.giveBack()
    }
  }

  #scan(bytes: Uint8Array, from: number, to: number, marks: Int32Array | undefined): boolean {
    let state = this.#state
    if (state === FAILED) return false
    const base = this.#consumed - from
    const sink = this.#sink
    const nodes = this.#nodes
    const starts = this.#starts
    const objects = this.#objects
    let depth = this.#depth
    let values = this.#values
    const depthMax = this.#depthMax
    let valueNode = this.#valueNode
    let valueStart = this.#valueStart
    let inKey = this.#inKey
    let keyStart = this.#keyStart
    let reason: string | undefined
    let at = from

    scanning: while (at < to) {
      const byte = bytes[at] ?? 0
      switch (state) {
        case FIRST_ITEM:
          if (byte === 0x5d) {
            depth--
            const node = nodes[depth]
            if (node !== undefined && node.watch >= 0) {
              sink.onValue(node.watch, 'array', starts[depth] ?? 0, base + at + 1)
            }
            state = depth === 0 ? DONE : AFTER_VALUE
            at++
            continue
          }
          if (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) {
            at++
            continue
          }
          state = VALUE
          continue

        case VALUE:
          if (byte === 0x22) {
            values++
            valueStart = base + at
            if (depth === 0) this.#rootKind = 'string'
            inKey = false
            state = STRING
            at++
            continue
          }
          if (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) {
            at++
            continue
          }
          values++
          if (byte === 0x7b || byte === 0x5b) {
            if (depth === depthMax) {
              reason = `more than ${depthMax} nested arrays and objects`
              break scanning
            }
            const object = byte === 0x7b
            if (depth === 0) this.#rootKind = object ? 'object' : 'array'
            nodes[depth] = valueNode
            starts[depth] = base + at
            objects[depth] = object
            depth++
            if (object) state = FIRST_KEY
            else {
              state = FIRST_ITEM
              valueNode = valueNode === undefined ? undefined : valueNode.items
            }
            at++
            continue
          }
          valueStart = base + at
          if (byte === 0x2d || (byte >= 0x30 && byte <= 0x39)) {
            if (depth === 0) this.#rootKind = 'number'
            this.#numberState = byte === 0x2d ? NUMBER_MINUS : byte === 0x30 ? NUMBER_ZERO : NUMBER_DIGITS
            state = NUMBER
            at++
            continue
          }
          if (byte === 0x74 || byte === 0x66 || byte === 0x6e) {
            this.#literal = byte === 0x74 ? TRUE : byte === 0x66 ? FALSE : NULL
            if (depth === 0) this.#rootKind = literalKind(this.#literal)
            at++
            this.#literalAt = 1
            state = LITERAL
            continue
          }
          reason = 'expected a value'
          break scanning

        case FIRST_KEY:
          if (byte === 0x7d) {
            depth--
            const node = nodes[depth]
            if (node !== undefined && node.watch >= 0) {
              sink.onValue(node.watch, 'object', starts[depth] ?? 0, base + at + 1)
            }
            state = depth === 0 ? DONE : AFTER_VALUE
            at++
            continue
          }
          if (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) {
            at++
            continue
          }
          state = KEY
          continue

        case KEY:
          if (byte === 0x22) {
            inKey = true
            keyStart = base + at + 1
            this.#keyEscaped = false
            this.#keyStash = undefined
            state = STRING
            at++
            continue
          }
          if (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) {
            at++
            continue
          }
          reason = 'expected a member name in double quotes'
          break scanning

        case COLON:
          if (byte === 0x3a) {
            state = VALUE
            at++
            continue
          }
          if (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) {
            at++
            continue
          }
          reason = 'expected a colon after a member name'
          break scanning

        case AFTER_VALUE: {
          const object = objects[depth - 1] === true
          if (byte === 0x2c) {
            if (object) state = KEY
            else {
              state = VALUE
              valueNode = nodes[depth - 1]?.items
            }
            at++
            continue
          }
          if (byte === (object ? 0x7d : 0x5d)) {
            depth--
            const node = nodes[depth]
            if (node !== undefined && node.watch >= 0) {
              sink.onValue(node.watch, object ? 'object' : 'array', starts[depth] ?? 0, base + at + 1)
            }
            if (depth === 0) state = DONE
            at++
            continue
          }
          if (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) {
            at++
            continue
          }
          reason = object ? 'expected a comma or a closing brace' : 'expected a comma or a closing bracket'
          break scanning
        }

        case STRING: {
          let next: number
          // Most bytes of most bodies go through here, text with usual escapes and characters, without another state.
          for (;;) {
            // By its marks where the piece is long, four bytes at a time where it is short.
            if (marks !== undefined) at = from + nextMark(marks, at - from, to - from)
            while (
              at + 3 < to &&
              ((IN_STRING[bytes[at] ?? 0] ?? 1) |
                (IN_STRING[bytes[at + 1] ?? 0] ?? 1) |
                (IN_STRING[bytes[at + 2] ?? 0] ?? 1) |
                (IN_STRING[bytes[at + 3] ?? 0] ?? 1)) ===
                0
            ) {
              at += 4
            }
            if (at >= to) break scanning
            next = bytes[at] ?? 0
            while (IN_STRING[next] === 0) {
              at++
              if (at >= to) break scanning
              next = bytes[at] ?? 0
            }
            if (next === 0x5c && at + 1 < to && IN_ESCAPE[bytes[at + 1] ?? 0] === 1) {
              if (inKey) this.#keyEscaped = true
              at += 2
              continue
            }
            if (next >= 0xc2 && next <= 0xdf && at + 1 < to && ((bytes[at + 1] ?? 0) & 0xc0) === 0x80) {
              at += 2
              continue
            }
            // Runs of whole three-byte characters are most of what is not ASCII; all others take the slow state.
            const run = at
            while (
              at + 2 < to &&
              next >= 0xe1 &&
              next <= 0xef &&
              next !== 0xed &&
              ((bytes[at + 1] ?? 0) & 0xc0) === 0x80 &&
              ((bytes[at + 2] ?? 0) & 0xc0) === 0x80
            ) {
              at += 3
              if (at >= to) break scanning
              next = bytes[at] ?? 0
            }
            if (at === run) break
          }
          if (next === 0x22) {
            at++
            if (inKey) {
              const node = nodes[depth - 1]
              const keys = node === undefined ? undefined : node.keys
              if (keys === undefined) valueNode = undefined
              else if (this.#keyEscaped || this.#keyStash !== undefined) {
                valueNode = this.#findWrittenKey(keys, bytes, Math.max(keyStart - base, from), at - 1)
              } else valueNode = this.#findKey(keys, bytes, keyStart - base, at - 1)
              if (at < to && bytes[at] === 0x3a) {
                at++
                state = VALUE
              } else state = COLON
            } else {
              if (valueNode !== undefined && valueNode.watch >= 0) {
                sink.onValue(valueNode.watch, 'string', valueStart, base + at)
              }
              state = depth === 0 ? DONE : AFTER_VALUE
            }
            continue
          }
          if (next === 0x5c) {
            if (inKey) this.#keyEscaped = true
            at++
            state = ESCAPE
            continue
          }
          if (next < 0x20) {
            reason = 'a control character inside a string'
            break scanning
          }
          if (!this.#startUtf8(next)) {
            reason = 'bytes that are not UTF-8 inside a string'
            break scanning
          }
          state = UTF8
          at++
          continue
        }

        case ESCAPE:
          if (byte === 0x75) {
            this.#hexLeft = 4
            state = HEX
          } else if (IN_ESCAPE[byte] === 1) {
            state = STRING
          } else {
            reason = 'an unknown escape inside a string'
            break scanning
          }
          at++
          continue

        case HEX:
          if (IN_HEX[byte] !== 1) {
            reason = 'an unfinished \\u escape inside a string'
            break scanning
          }
          this.#hexLeft--
          if (this.#hexLeft === 0) state = STRING
          at++
          continue

        case UTF8:
          if (byte < this.#utf8Low || byte > this.#utf8High) {
            reason = 'bytes that are not UTF-8 inside a string'
            break scanning
          }
          this.#utf8Low = 0x80
          this.#utf8High = 0xbf
          this.#utf8Left--
          if (this.#utf8Left === 0) state = STRING
          at++
          continue

        case NUMBER: {
          if (this.#numberState === NUMBER_DIGITS) {
            let next: number = byte
            while (next >= 0x30 && next <= 0x39) {
              at++
              if (at >= to) break scanning
              next = bytes[at] ?? 0
            }
            if (next === 0x2c || next === 0x7d || next === 0x5d) {
              if (valueNode !== undefined && valueNode.watch >= 0) {
                sink.onValue(valueNode.watch, 'number', valueStart, base + at)
              }
              state = depth === 0 ? DONE : AFTER_VALUE
              continue
            }
          }
          const after = nextNumberState(this.#numberState, bytes[at] ?? 0)
          if (after >= 0) {
            this.#numberState = after
            at++
            continue
          }
          if (this.#numberState < NUMBER_ZERO) {
            reason = 'an unfinished number'
            break scanning
          }
          if (valueNode !== undefined && valueNode.watch >= 0) {
            sink.onValue(valueNode.watch, 'number', valueStart, base + at)
          }
          state = depth === 0 ? DONE : AFTER_VALUE
          continue
        }

        case LITERAL: {
          const literal = this.#literal
          if (byte !== literal[this.#literalAt]) {
            reason = 'expected a value'
            break scanning
          }
          this.#literalAt++
          at++
          if (this.#literalAt < literal.length) continue
          if (valueNode !== undefined && valueNode.watch >= 0) {
            sink.onValue(valueNode.watch, literalKind(literal), valueStart, base + at)
          }
          state = depth === 0 ? DONE : AFTER_VALUE
          continue
        }

        case DONE:
          if (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) {
            at++
            continue
          }
          reason = 'something follows the end of the document'
          break scanning
      }
    }

    if (reason !== undefined) {
      this.#fail(base + at, reason)
      return false
    }
    if (inKey && state >= STRING && state <= UTF8) {
      const keys = nodes[depth - 1]?.keys
      if (keys !== undefined) this.#stashKey(keys, bytes, Math.max(keyStart - base, from), to)
    }
    this.#consumed = base + to
    this.#state = state
    this.#depth = depth
    this.#values = values
    this.#valueNode = valueNode
    this.#valueStart = valueStart
    this.#inKey = inKey
    this.#keyStart = keyStart
    return true
  }

  /** The text is complete; false if it was not a complete JSON document. */
  end(): boolean {
    if (this.#state === FAILED) return false
    if (this.#state === NUMBER && this.#depth === 0 && this.#numberState >= NUMBER_ZERO) {
      if (this.#root.watch >= 0) {
        this.#sink.onValue(this.#root.watch, 'number', this.#valueStart, this.#consumed)
      }
      this.#state = DONE
    }
    if (this.#state === DONE) return true
    this.#fail(this.#consumed, 'it ends too early')
    return false
  }

  #fail(offset: number, reason: string): void {
    this.#state = FAILED
    this.#failure = { offset, reason }
  }

  /** False for a byte that can begin no character. Bounds by table 3-7 of the Unicode standard. */
  #startUtf8(lead: number): boolean {
    this.#utf8Low = 0x80
    this.#utf8High = 0xbf
    if (lead >= 0xc2 && lead <= 0xdf) this.#utf8Left = 1
    else if (lead >= 0xe0 && lead <= 0xef) {
      this.#utf8Left = 2
      if (lead === 0xe0) this.#utf8Low = 0xa0
      if (lead === 0xed) this.#utf8High = 0x9f
    } else if (lead >= 0xf0 && lead <= 0xf4) {
      this.#utf8Left = 3
      if (lead === 0xf0) this.#utf8Low = 0x90
      if (lead === 0xf4) this.#utf8High = 0x8f
    } else return false
    return true
  }

  /** Keeps a cut key's bytes, up to one more than the longest key that could still match. */
  #stashKey(keys: WordTable<WatchNode>, bytes: Uint8Array, from: number, to: number): void {
    const earlier = this.#keyStash ?? NOTHING
    const room = keys.lengthMax * ESCAPED_BYTES_PER_BYTE + 1 - earlier.length
    const added = bytes.subarray(from, Math.min(to, from + room))
    const stash = new Uint8Array(earlier.length + added.length)
    stash.set(earlier)
    stash.set(added, earlier.length)
    this.#keyStash = stash
  }

  /** A key that is split over pieces or written with escapes. */
  #findWrittenKey(
    keys: WordTable<WatchNode>,
    bytes: Uint8Array,
    from: number,
    to: number,
  ): WatchNode | undefined {
    this.#stashKey(keys, bytes, from, to)
    const written = this.#keyStash ?? NOTHING
    this.#keyStash = undefined
    if (written.length > keys.lengthMax * ESCAPED_BYTES_PER_BYTE) return undefined
    const key = this.#keyEscaped ? encoder.encode(unescapeJson(written)) : written
    return this.#findKey(keys, key, 0, key.length)
  }

  #findKey(keys: WordTable<WatchNode>, bytes: Uint8Array, from: number, to: number): WatchNode | undefined {
    const found = findWord(keys, bytes, from, to)
    if (found === undefined && keys.looksAlike && spellsAlike(keys, bytes, from, to))
      this.#lookAlike = new TextDecoder().decode(bytes.subarray(from, to))
    return found
  }
}

function literalKind(literal: Uint8Array): 'true' | 'false' | 'null' {
  return literal === TRUE ? 'true' : literal === FALSE ? 'false' : 'null'
}

/** The state after `byte`, or -1 if the number cannot continue with it. */
function nextNumberState(state: number, byte: number): number {
  const digit = byte >= 0x30 && byte <= 0x39
  switch (state) {
    case NUMBER_MINUS:
      return byte === 0x30 ? NUMBER_ZERO : digit ? NUMBER_DIGITS : -1
    case NUMBER_ZERO:
      return byte === 0x2e ? NUMBER_POINT : byte === 0x65 || byte === 0x45 ? NUMBER_E : -1
    case NUMBER_DIGITS:
      return digit
        ? NUMBER_DIGITS
        : byte === 0x2e
          ? NUMBER_POINT
          : byte === 0x65 || byte === 0x45
            ? NUMBER_E
            : -1
    case NUMBER_POINT:
      return digit ? NUMBER_FRACTION : -1
    case NUMBER_FRACTION:
      return digit ? NUMBER_FRACTION : byte === 0x65 || byte === 0x45 ? NUMBER_E : -1
    case NUMBER_E:
      return digit ? NUMBER_EXPONENT : byte === 0x2b || byte === 0x2d ? NUMBER_E_SIGN : -1
    case NUMBER_E_SIGN:
      return digit ? NUMBER_EXPONENT : -1
    default:
      return digit ? NUMBER_EXPONENT : -1
  }
}
