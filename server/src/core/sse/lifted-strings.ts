import { unescapeJson } from '../passthrough/json-text.ts'

/** A string of this size is an image, or as large as one. */
const LIFTED_BYTES_MIN = 1_048_576
/** The beginning stays in place, because readers need it to tell the kind of data. */
const HEAD_BYTES = 4_096
const TAIL_BYTES = 64
const BACKSLASH = 0x5c

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/**
 * Very long strings of a stream's events, kept as received bytes and replaced by a short name: images pass through a
 * conversion unread and uncopied. Only a string without escapes is lifted, since it is written the same way in any
 * JSON.
 */
export class LiftedStrings {
  readonly #mark: string
  readonly #bytes: Uint8Array[] = []

  /** Bytes that were lifted so far. */
  length = 0
  readonly #isWanted: boolean

  /** `mark`: random letters and digits, so that no other text contains them; undefined: nothing is lifted. */
  constructor(mark: string | undefined) {
    this.#mark = mark ?? ''
    this.#isWanted = mark !== undefined
  }

  get count(): number {
    return this.#bytes.length
  }

  /** Drops all but the first `count`: no text refers to the others. */
  keepFirst(count: number): void {
    for (const bytes of this.#bytes.splice(count)) this.length -= bytes.length
  }

  /** The text of a JSON string given without its quotes, or its placeholder. */
  read(inside: Uint8Array): string {
    const isLifted = this.#isWanted && inside.length >= LIFTED_BYTES_MIN && !inside.includes(BACKSLASH)
    if (!isLifted) return unescapeJson(inside)
    const from = characterAt(inside, HEAD_BYTES)
    const to = characterAt(inside, inside.length - TAIL_BYTES)
    const name = `${this.#mark}${String(this.#bytes.length).padStart(NUMBER_DIGITS, '0')}`
    this.#bytes.push(inside.subarray(from, to))
    this.length += to - from
    return `${unescapeJson(inside.subarray(0, from))}${name}${unescapeJson(inside.subarray(to))}`
  }

  /** The text with the lifted bytes restored, as pieces in order. */
  restore(text: string): readonly (string | Uint8Array)[] {
    if (this.#bytes.length === 0) return text === '' ? [] : [text]
    const pieces: (string | Uint8Array)[] = []
    let from = 0
    for (let at = text.indexOf(this.#mark); at >= 0; at = text.indexOf(this.#mark, from)) {
      if (at > from) pieces.push(text.slice(from, at))
      from = at + this.#mark.length + NUMBER_DIGITS
      const bytes = this.#bytes[Number(text.slice(from - NUMBER_DIGITS, from))]
      if (bytes === undefined) throw new Error('a lifted string is named that was never lifted')
      pieces.push(bytes)
    }
    if (from < text.length) pieces.push(text.slice(from))
    return pieces
  }

  /** The text with the lifted strings restored. */
  restoreText(text: string): string {
    return this.restore(text)
      .map((piece) => (typeof piece === 'string' ? piece : decoder.decode(piece)))
      .join('')
  }
}

const NUMBER_DIGITS = 6

/** The first position at or after `at` where a character begins. */
function characterAt(bytes: Uint8Array, at: number): number {
  let place = at
  while (((bytes[place] ?? 0) & 0xc0) === 0x80) place++
  return place
}
