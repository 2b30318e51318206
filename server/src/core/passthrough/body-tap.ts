/**
 * Watches a whole JSON answer as it arrives: the model's name is replaced on the way, and only the beginning of an
 * incomplete value is kept. Whether the answer is held back until it is known to be good is the caller's business.
 */

import type { UpstreamError } from '../canonical/response.ts'
import type { ProtocolId } from '../catalogue.ts'
import type { UsageReader } from '../metering/counters.ts'
import { JSON_TEXT_READ } from '../metering/meter.ts'
import { ByteAssembler, SpanReader } from './span-reader.ts'
import {
  ANSWER_FORMS,
  type AnswerForm,
  type CompiledAnswers,
  MODEL_WATCH,
  roleOf,
} from './answers/compiled-answers.ts'
import { ImageItem } from './answers/answer-table.ts'
import type { JsonKind, JsonSink } from './json-scanner.ts'
import { encodeJsonString, parseJsonBytes, readTextPrefix } from './json-text.ts'
import { ERROR_BYTES_MAX, ID_CHARACTERS_MAX, type TapOptions, USAGE_BYTES_MAX } from './stream-tap.ts'
import { findWord } from './word-table.ts'

export interface BodyTap {
  /** Takes what the upstream sent; returns what may be passed on: everything but an incomplete model name. */
  push(chunk: Uint8Array): readonly Uint8Array[]
  /** The body is complete. */
  finish(): BodyEnd
  /** An error object in the 200 answer, as soon as it is read. */
  readonly error: UpstreamError | undefined
  /** Id the upstream gave the answer. Responses only. */
  readonly answerId: string | undefined
}

export interface BodyEnd {
  /** `unreadable`: the body is not JSON, or was cut. `error`: the upstream failed inside its 200. */
  readonly kind: 'complete' | 'unreadable' | 'error'
  readonly output: readonly Uint8Array[]
}

export function createBodyTap(of: ProtocolId | AnswerForm, options: TapOptions): BodyTap {
  const { answers, usage } = typeof of === 'string' ? ANSWER_FORMS[of] : of
  return new BodyMachine(answers, usage(), options)
}

class BodyMachine implements BodyTap, JsonSink {
  error: UpstreamError | undefined = undefined
  answerId: string | undefined = undefined
  readonly #answers: CompiledAnswers
  readonly #usageReader: UsageReader
  readonly #options: TapOptions
  readonly #model: Uint8Array
  readonly #reader: SpanReader
  readonly #assembler = new ByteAssembler()
  /** Pieces not given out yet; the first begins at offset `#heldFrom`, of which bytes before `#given` have gone. */
  #held: Uint8Array[] = []
  #heldFrom = 0
  #given = 0
  #readable = true
  #usageSeen = false
  /** Set for answers whose items may be images. */
  #item: ImageItem | undefined

  constructor(answers: CompiledAnswers, usageReader: UsageReader, options: TapOptions) {
    this.#answers = answers
    this.#usageReader = usageReader
    this.#options = options
    this.#model = encodeJsonString(options.replacementModel)
    this.#reader = new SpanReader(answers.bodyTree, this, undefined, ERROR_BYTES_MAX)
  }

  push(chunk: Uint8Array): readonly Uint8Array[] {
    this.#held.push(chunk)
    if (this.#readable) this.#readable = this.#reader.push(chunk)
    this.#giveTo(this.#readable ? this.#reader.openFrom(MODEL_WATCH) : this.#heldEnd())
    return this.#assembler.take()
  }

  finish(): BodyEnd {
    const readable = this.#readable && this.#reader.end()
    this.#giveTo(this.#heldEnd())
    const kind = this.error !== undefined ? 'error' : readable ? 'complete' : 'unreadable'
    if (kind === 'complete') this.#options.meter.observeProduced()
    return { kind, output: this.#assembler.take() }
  }

  onValue(watch: number, kind: JsonKind, start: number, end: number): void {
    const { meter } = this.#options
    const role = roleOf(watch)
    switch (role) {
      case 'model':
        if (kind === 'string') this.#replace(start, end)
        return
      case 'text':
      case 'text-again':
        if (kind === 'string') this.#readText(start + 1, end - 1)
        return
      case 'json':
        this.#readText(start, end)
        return
      case 'usage':
      case 'usage-at-start':
        if (kind === 'object') this.#readUsage(start, end)
        return
      case 'error':
        if (kind !== 'null' && kind !== 'false') this.#readError(start, end)
        return
      case 'begun':
        if (kind !== 'null' && kind !== 'false') meter.observeProduced()
        return
      case 'image':
        if (kind !== 'null' && kind !== 'false') meter.observeImages(1)
        return
      case 'item-type':
      case 'item-result':
      case 'item-image-type':
      case 'item-image':
      case 'item-thought':
        ;(this.#item ??= new ImageItem()).see(role, this.#speaksOfImage(role, kind, start, end))
        return
      case 'item':
        if (this.#item?.close() === true) meter.observeImages(1)
        return
      case 'answer-id':
        if (kind === 'string') this.#readId(start, end)
        return
      case 'finish':
      case 'type':
      case 'block-type':
      case 'sequence-number':
      case 'message-id':
      case 'choice':
      case 'choice-index':
      case undefined:
        return
    }
  }

  /**
   * In a single object the usage covers the whole answer, wherever it is; in an array of answers, only what came
   * before.
   */
  #readText(start: number, end: number): void {
    if (this.#usageSeen && this.#reader.rootKind === 'object') return
    const bytes = this.#reader.read(start, Math.min(end, start + JSON_TEXT_READ))
    this.#options.meter.observeKeptText(bytes, end - start)
  }

  #readUsage(start: number, end: number): void {
    if (end - start > USAGE_BYTES_MAX) return
    const bytes = this.#reader.read(start, end)
    const usage = this.#usageReader.read(bytes, 0, bytes.length)
    if (usage === undefined) return
    this.#usageSeen = true
    this.#options.meter.observeUsage(usage)
  }

  /** Whether the value of an item's field identifies an image. */
  #speaksOfImage(
    role: 'item-type' | 'item-result' | 'item-image-type' | 'item-image' | 'item-thought',
    kind: JsonKind,
    start: number,
    end: number,
  ): boolean {
    if (role === 'item-thought') return kind === 'true'
    if (kind !== 'string') return false
    if (role === 'item-result' || role === 'item-image') return end - start > 2
    return role === 'item-type'
      ? this.#isImageItem(start + 1, end - 1)
      : this.#isImageType(start + 1, end - 1)
  }

  #readId(start: number, end: number): void {
    this.answerId = readTextPrefix(this.#reader.read(start + 1, end - 1), ID_CHARACTERS_MAX).text
  }

  #readError(start: number, end: number): void {
    if (this.error !== undefined) return
    const error = end - start > ERROR_BYTES_MAX ? null : parseJsonBytes(this.#reader.read(start, end))
    this.error = this.#options.decodeError({ error })
  }

  #isImageItem(start: number, end: number): boolean {
    const type = this.#reader.read(start, end)
    return findWord(this.#answers.imageItem, type, 0, type.length) === true
  }

  #isImageType(start: number, end: number): boolean {
    return new TextDecoder().decode(this.#reader.read(start, end)).startsWith('image/')
  }

  #replace(start: number, end: number): void {
    this.#giveTo(start)
    this.#assembler.add(this.#model, 0, this.#model.length)
    this.#skipTo(end)
  }

  #heldEnd(): number {
    return this.#held.reduce((offset, piece) => offset + piece.length, this.#heldFrom)
  }

  /** Returns the held bytes up to offset `to`. */
  #giveTo(to: number): void {
    while (this.#given < to) {
      const piece = this.#held[0]
      if (piece === undefined) return
      const end = Math.min(to, this.#heldFrom + piece.length)
      this.#assembler.add(piece, this.#given - this.#heldFrom, end - this.#heldFrom)
      this.#skipTo(end)
    }
  }

  #skipTo(offset: number): void {
    this.#given = offset
    for (let piece = this.#held[0]; piece !== undefined; piece = this.#held[0]) {
      if (this.#heldFrom + piece.length > offset) return
      this.#heldFrom += piece.length
      this.#held.shift()
    }
  }
}
