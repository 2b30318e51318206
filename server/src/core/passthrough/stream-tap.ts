/**
 * Watches a streamed answer. Every event's bytes are passed on unchanged, except the model's name, which becomes the
 * platform id (docs/reference/contract.md#D-requests-42); what the answer used and produced, and how it ended, is read
 * on the way. One machine for all protocols; what differs between them is in the `answer-…` tables. Longer than most
 * files because it is that one machine, and it runs for every event of every passed stream.
 */
import type { UpstreamError } from '../canonical/response.ts'
import type { ProtocolId } from '../catalogue.ts'
import type { JsonValue } from '../json.ts'
import type { UsageReader } from '../metering/counters.ts'
import type { MeterSink } from '../metering/meter.ts'
import type { SseFramer } from '../sse/framer.ts'
import { type EventRule, ImageItem } from './answers/answer-table.ts'
import { ByteAssembler, SpanList } from './span-reader.ts'
import { ANSWER_FORMS, type AnswerForm, type CompiledAnswers, roleOf } from './answers/compiled-answers.ts'
import { EventScan, type EventSink } from './event-scan.ts'
import { errorIn } from './answers/error-in-answer.ts'
import { type JsonKind, JsonScanner, type JsonSink } from './json-scanner.ts'
import { encodeJsonString, parseJsonBytes, readTextPrefix } from './json-text.ts'
import { findWord } from './word-table.ts'

export interface TapOptions {
  /** Platform id of the model actually used; replaces every `model` the client sees. */
  readonly replacementModel: string
  readonly meter: MeterSink
  /** The protocol's own reader of error objects. */
  readonly decodeError: (raw: JsonValue) => UpstreamError
}

export interface StreamTapOptions extends TapOptions {
  /** The usage chunk was asked for by the gateway (`usageInjection`), so the client does not see it. Chat only. */
  readonly removeUsageChunk: boolean
}

export interface StreamTap {
  /** Takes what the upstream sent; returns what may go to the client: whole events only. */
  push(chunk: Uint8Array): readonly Uint8Array[]
  /** The upstream closed the connection in an orderly way. */
  finish(): StreamEnd
  readonly observed: StreamObservation
}

/** What has been seen so far; a live view. */
export interface StreamObservation {
  /** Content, a tool call, reasoning, a refusal or a clean finish was received: the answer has begun. */
  readonly meaningful: boolean
  /** The first error reported inside the stream. */
  readonly error: StreamedError | undefined
  /** The protocol's terminator of a clean end was received. */
  readonly terminated: boolean
  /** The protocol's final event was received: nothing that counts may follow it. */
  readonly closed: boolean
  /** An event exceeded the framer's limit. The stream is broken: it returns nothing more. */
  readonly overflow: boolean
  /**
   * Another message began inside this one, as with proxies that retry (docs/protocols.md#messages-streams). Broken
   * likewise.
   */
  readonly spliced: boolean
  /** Id the upstream gave the answer. Responses only. */
  readonly answerId: string | undefined
  /** Number of the last event; -1 before the first. Responses only. */
  readonly sequenceNumber: number
  /** Events whose data is not JSON; they are passed on unchanged. */
  readonly unreadableEvents: number
  /** Bytes of comments and pings: they show that the connection is open, not that the answer grows. */
  readonly keepAliveBytes: number
}

export interface StreamedError {
  readonly error: UpstreamError
  /** Nothing meaningful had come before it: another chain may still answer. */
  readonly beforeMeaningful: boolean
}

export interface StreamEnd {
  /** `cut`: no terminator came. `error`: the upstream reported its failure itself, and the client has seen it. */
  readonly kind: 'complete' | 'cut' | 'error'
  /** What is still to be sent: an event without a blank line, and a missing `[DONE]`. */
  readonly output: readonly Uint8Array[]
}

export function createStreamTap(of: ProtocolId | AnswerForm, options: StreamTapOptions): StreamTap {
  const { answers, usage } = typeof of === 'string' ? ANSWER_FORMS[of] : of
  return new StreamMachine(answers, usage(), options)
}

const encoder = new TextEncoder()
const DONE = encoder.encode('[DONE]')
const DONE_EVENT = encoder.encode('data: [DONE]\n\n')
/** Types of events without content. */
const KEEP_ALIVES = [encoder.encode('ping'), encoder.encode('keepalive')]
const BLANK_LINE = encoder.encode('\n\n')
/** Ids seen are under 80 characters. */
export const ID_CHARACTERS_MAX = 256
/** Of a longer error only the fact that it is one is read. */
export const ERROR_BYTES_MAX = 1_048_576
/** Usage objects are a few hundred bytes; a longer object is not one. */
export const USAGE_BYTES_MAX = 65_536
const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d

class StreamMachine implements StreamTap, StreamObservation, EventSink {
  meaningful = false
  error: StreamedError | undefined = undefined
  answerId: string | undefined = undefined
  spliced = false
  sequenceNumber = -1
  unreadableEvents = 0
  keepAliveBytes = 0
  readonly #answers: CompiledAnswers
  readonly #usageReader: UsageReader
  readonly #options: StreamTapOptions
  readonly #meter: MeterSink
  readonly #model: Uint8Array
  readonly #events: EventScan
  readonly #framer: SseFramer
  readonly #assembler = new ByteAssembler()
  #messageId: string | undefined = undefined
  #doneSeen = false
  #terminatorSeen = false
  #textSeen = false
  #choices = 0
  #finishes = 0

  // The event being read. Spans count within its data.
  readonly #modelSpans = new SpanList()
  readonly #textSpans = new SpanList()
  readonly #textAgainSpans = new SpanList()
  #usageStart = -1
  #usageEnd = 0
  #usageAtStart = false
  #errorSeen = false
  #typeStart = -1
  #typeEnd = 0
  #begun = false
  #blockQuiet = false
  #choicesHere = 0
  #finishesHere = 0
  #images = 0
  readonly #item = new ImageItem()

  constructor(answers: CompiledAnswers, usageReader: UsageReader, options: StreamTapOptions) {
    this.#answers = answers
    this.#usageReader = usageReader
    this.#options = options
    this.#meter = options.meter
    this.#model = encodeJsonString(options.replacementModel)
    this.#events = new EventScan(answers.stream.tree, this)
    this.#framer = this.#events.framer
  }

  get observed(): StreamObservation {
    return this
  }

  get overflow(): boolean {
    return this.#framer.overflow
  }

  get closed(): boolean {
    return this.#terminatorSeen
  }

  get terminated(): boolean {
    return (
      this.#terminatorSeen ||
      (this.#answers.stream.finishTerminates && this.#finishes > 0 && this.#finishes >= this.#choices)
    )
  }

  push(chunk: Uint8Array): readonly Uint8Array[] {
    const framer = this.#framer
    framer.push(chunk)
    while (!this.spliced && framer.next()) this.#passBlock()
    if (!this.spliced) this.#events.readAhead()
    return this.#assembler.take()
  }

  finish(): StreamEnd {
    const framer = this.#framer
    if (!this.spliced && framer.finish() && (framer.dataLines === 0 || this.#isWhole())) {
      this.#passBlock()
      if (this.#lacksDone() && !endsBlank(framer.bytes)) this.#assembler.add(BLANK_LINE, 0, BLANK_LINE.length)
    }
    if (this.#lacksDone()) this.#assembler.add(DONE_EVENT, 0, DONE_EVENT.length)
    const kind = this.error !== undefined ? 'error' : this.terminated ? 'complete' : 'cut'
    return { kind, output: this.#assembler.take() }
  }

  onEvent(): void {
    this.#modelSpans.clear()
    this.#textSpans.clear()
    this.#textAgainSpans.clear()
    this.#usageStart = -1
    this.#errorSeen = false
    this.#typeStart = -1
    this.#begun = false
    this.#blockQuiet = false
    this.#choicesHere = 0
    this.#finishesHere = 0
    this.#images = 0
  }

  onValue(watch: number, kind: JsonKind, start: number, end: number): void {
    const role = roleOf(watch)
    switch (role) {
      case 'model':
        if (kind === 'string') this.#modelSpans.add(start, end)
        return
      case 'answer-id':
        if (kind === 'string') this.answerId ??= this.#readString(start, end)
        return
      case 'message-id':
        if (kind === 'string') this.#seeMessage(this.#readString(start, end))
        return
      case 'sequence-number':
        this.sequenceNumber = this.#smallNumber(start, end)
        return
      case 'text':
        if (kind === 'string' && end - start > 2) this.#textSpans.add(start + 1, end - 1)
        return
      case 'json':
        this.#textSpans.add(start, end)
        return
      case 'text-again':
        if (kind === 'string' && end - start > 2) this.#textAgainSpans.add(start + 1, end - 1)
        return
      case 'choice':
        this.#choicesHere++
        return
      case 'choice-index':
        this.#choices = Math.max(this.#choices, this.#smallNumber(start, end) + 1)
        return
      case 'finish':
        if (kind === 'string' && end - start > 2) this.#finishesHere++
        return
      case 'usage':
      case 'usage-at-start':
        if (kind !== 'object') return
        this.#usageStart = start
        this.#usageEnd = end
        this.#usageAtStart = role === 'usage-at-start'
        return
      case 'error':
        if (kind !== 'null' && kind !== 'false') this.#errorSeen = true
        return
      case 'type':
        if (kind !== 'string') return
        this.#typeStart = start + 1
        this.#typeEnd = end - 1
        return
      case 'begun':
        if (kind !== 'null' && kind !== 'false') this.#begun = true
        return
      case 'block-type':
        this.#blockQuiet = this.#isWord(this.#answers.stream.quietBlocks, kind, start, end)
        return
      case 'image':
        if (kind !== 'null' && kind !== 'false') this.#images++
        return
      case 'item-type':
        this.#item.see(role, this.#isWord(this.#answers.imageItem, kind, start, end))
        return
      case 'item-result':
      case 'item-image':
        this.#item.see(role, kind === 'string' && end - start > 2)
        return
      case 'item-image-type':
        this.#item.see(role, kind === 'string' && this.#isImageType(start + 1))
        return
      case 'item-thought':
        this.#item.see(role, kind === 'true')
        return
      case 'item':
        if (this.#item.close()) this.#images++
        return
      case undefined:
        return
    }
  }

  /** Reads one block and passes it on. */
  #passBlock(): void {
    const events = this.#events
    const framer = this.#framer
    if (framer.dataLines === 0) {
      this.keepAliveBytes += framer.end - framer.start
      this.#emit(framer.start, framer.end)
      return
    }
    events.show()
    const end = events.base + events.length
    if (isDone(events.data, events.base, end)) {
      this.#passDone()
      return
    }
    if (!events.read()) {
      this.unreadableEvents++
      this.#modelSpans.clear()
      this.#emit(framer.start, framer.end)
      return
    }
    if (this.spliced) return
    this.#closeEvent(end)
    if (!this.#isUnwantedUsage()) this.#emitSpliced()
  }

  #seeMessage(id: string): void {
    this.#messageId ??= id
    this.spliced = this.#messageId !== id
  }

  #passDone(): void {
    const { done } = this.#answers.stream
    this.#doneSeen = true
    if (done === 'terminator' || done === 'accepted') this.#terminatorSeen = true
    // A stream that failed must not end with [DONE], even if the upstream sends it: clients judge success by it
    // (docs/reference/contract.md#6.1-04).
    if (this.error !== undefined) return
    this.#emit(this.#framer.start, this.#framer.end)
  }

  /** Draws the conclusions of one event, in the order that counting needs: text, then the usage that covers it. */
  #closeEvent(end: number): void {
    const rule = this.#answers.stream.typed ? this.#ruleOfEvent() : undefined
    const failed = this.#errorSeen || rule === 'failure'
    if ((rule === undefined || rule === 'prelude') && this.#isKeepAlive())
      this.keepAliveBytes += this.#framer.end - this.#framer.start
    // A finished item repeats the name from its opening event.
    if (!isDoneItem(rule)) this.#readText()
    if (this.#images > 0 && (rule === undefined || isDoneItem(rule))) {
      this.#meter.observeImages(this.#images)
      this.meaningful = true
    }
    if (rule === 'image-part') this.#meter.observeImagePart()
    if (
      this.#begun ||
      rule === 'content' ||
      rule === 'image-part' ||
      isDoneItem(rule) ||
      (rule === 'block-start' && !this.#blockQuiet)
    ) {
      this.#begin()
    }
    if (failed) this.#readError(end)
    else this.#readFinish(rule)
    if (this.#usageStart >= 0) this.#readUsage()
  }

  #ruleOfEvent(): EventRule | undefined {
    const { events, contentPrefix } = this.#answers.stream
    const inData = this.#typeStart >= 0
    const bytes = inData ? this.#events.data : this.#framer.bytes
    const from = inData ? this.#events.base + this.#typeStart : this.#framer.eventStart
    const to = inData ? this.#events.base + this.#typeEnd : this.#framer.eventEnd
    const rule = findWord(events, bytes, from, to)
    if (rule !== undefined || contentPrefix === undefined) return rule
    return startsWith(bytes, from, to, contentPrefix) ? 'content' : undefined
  }

  #isKeepAlive(): boolean {
    const from = this.#events.base + this.#typeStart
    const to = this.#events.base + this.#typeEnd
    return (
      this.#typeStart >= 0 &&
      KEEP_ALIVES.some((word) => to - from === word.length && startsWith(this.#events.data, from, to, word))
    )
  }

  #readText(): void {
    const again = !this.#textSeen && this.#textSpans.count === 0
    const spans = again ? this.#textAgainSpans : this.#textSpans
    if (spans.count === 0) return
    for (let index = 0; index < spans.count; index++) {
      this.#meter.observeJsonText(
        this.#events.data,
        this.#events.base + spans.start(index),
        this.#events.base + spans.end(index),
      )
    }
    this.#textSeen = true
    this.meaningful = true
  }

  #readFinish(rule: EventRule | undefined): void {
    this.#finishes += this.#finishesHere + (rule === 'item-finish' ? 1 : 0)
    if (rule === 'terminator') this.#terminatorSeen = true
    if (this.#finishesHere > 0 || rule === 'terminator') this.#begin()
  }

  #begin(): void {
    if (this.meaningful) return
    this.meaningful = true
    this.#meter.observeProduced()
  }

  #readError(end: number): void {
    if (this.error !== undefined) return
    const { data, base } = this.#events
    const raw = end - base > ERROR_BYTES_MAX ? null : parseJsonBytes(data.subarray(base, end))
    this.error = {
      error: this.#options.decodeError(errorIn(raw)),
      beforeMeaningful: !this.meaningful,
    }
  }

  #readUsage(): void {
    if (this.#usageEnd - this.#usageStart > USAGE_BYTES_MAX) return
    const usage = this.#usageReader.read(
      this.#events.data,
      this.#events.base + this.#usageStart,
      this.#events.base + this.#usageEnd,
    )
    if (usage === undefined) return
    this.#meter.observeUsage(this.#usageAtStart ? { ...usage, output: undefined } : usage)
  }

  /** The extra chunk of `include_usage` has usage and no choices. */
  #isUnwantedUsage(): boolean {
    return (
      this.#options.removeUsageChunk && this.#usageStart >= 0 && this.#choicesHere === 0 && !this.#errorSeen
    )
  }

  #emitSpliced(): void {
    const framer = this.#framer
    const spans = this.#modelSpans
    let from = framer.start
    for (let index = 0; index < spans.count; index++) {
      this.#emit(from, framer.place(spans.start(index)))
      this.#assembler.add(this.#model, 0, this.#model.length)
      from = framer.place(spans.end(index))
    }
    this.#emit(from, framer.end)
  }

  #emit(from: number, to: number): void {
    this.#assembler.add(this.#framer.bytes, from, to)
  }

  /**
   * Clients judge success by the terminator; not every upstream of these protocols sends it
   * (docs/reference/contract.md#6.1-04, #6.2-03).
   */
  #lacksDone(): boolean {
    const { done } = this.#answers.stream
    const isNeeded = done === 'terminator' || done === 'added'
    return isNeeded && this.terminated && !this.#doneSeen && this.error === undefined
  }

  /** The last event has no blank line but is complete: the stream was not cut inside it. */
  #isWhole(): boolean {
    const data = this.#framer.data()
    if (isDone(data, 0, data.length)) return true
    const probe = new JsonScanner(this.#answers.stream.tree, IGNORE)
    return probe.push(data, 0, data.length) && probe.end()
  }

  #isWord(words: CompiledAnswers['imageItem'], kind: JsonKind, start: number, end: number): boolean {
    return (
      kind === 'string' &&
      findWord(words, this.#events.data, this.#events.base + start + 1, this.#events.base + end - 1) === true
    )
  }

  #isImageType(start: number): boolean {
    const { data, base } = this.#events
    return startsWith(data, base + start, data.length, IMAGE_PREFIX)
  }

  #readString(start: number, end: number): string {
    const inside = this.#events.data.subarray(this.#events.base + start + 1, this.#events.base + end - 1)
    return readTextPrefix(inside, ID_CHARACTERS_MAX).text
  }

  /**
   * A count; read up to the first character that is no digit, at most nine digits, so that an impossible one stays
   * small.
   */
  #smallNumber(start: number, end: number): number {
    let value = 0
    for (let at = start; at < end && at < start + 9; at++) {
      const digit = (this.#events.data[this.#events.base + at] ?? 0) - 0x30
      if (digit < 0 || digit > 9) break
      value = value * 10 + digit
    }
    return value
  }
}

function isDoneItem(rule: EventRule | undefined): boolean {
  return rule === 'item-done' || rule === 'item-finish'
}

const IGNORE: JsonSink = { onValue() {} }

function isDone(bytes: Uint8Array, from: number, to: number): boolean {
  if (bytes[from] !== 0x5b || bytes[from + 1] !== 0x44) return false
  let end = to
  while (end > from && (bytes[end - 1] ?? 0) <= 0x20) end--
  return end - from === DONE.length && startsWith(bytes, from, end, DONE)
}

function startsWith(bytes: Uint8Array, from: number, to: number, prefix: Uint8Array): boolean {
  if (to - from < prefix.length) return false
  for (let index = 0; index < prefix.length; index++) if (bytes[from + index] !== prefix[index]) return false
  return true
}

const IMAGE_PREFIX = encoder.encode('image/')

function endsBlank(bytes: Uint8Array): boolean {
  const last = bytes[bytes.length - 1]
  const before = bytes[bytes.length - 2]
  return last === LINE_FEED && (before === LINE_FEED || before === CARRIAGE_RETURN)
}
