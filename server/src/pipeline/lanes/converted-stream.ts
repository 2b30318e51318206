/** A streamed answer of another protocol: the upstream's events in, the client's out. */
import { randomBytes } from 'node:crypto'
import type { StreamPart } from '../../core/canonical/response.ts'
import { type StopCutter, stopCutter } from '../../core/canonical/stop-sequences.ts'
import type { Meter } from '../../core/metering/meter.ts'
import { GATEWAY_ERROR, type StreamFailure } from '../../core/passthrough/breaks.ts'
import type { Protocol } from '../../core/protocols/protocol.ts'
import { createSseReader } from '../../core/sse/events.ts'
import { LiftedStrings } from '../../core/sse/lifted-strings.ts'
import { TURN_BYTES_MAX } from '../instance/turn-keeper.ts'
import type { Conversion } from './conversion.ts'
import type { AnswerFailure, KeptAnswer, StreamLane, StreamStep } from './lane.ts'

export class ConvertedStream implements StreamLane {
  readonly contentType: string
  readonly meter: Meter
  readonly #lifted: LiftedStrings
  readonly #reader: ReturnType<typeof createSseReader>
  readonly #decoder: ReturnType<Protocol['streamDecoder']>
  readonly #encoder: ReturnType<Protocol['streamEncoder']>
  readonly #cutter: StopCutter | undefined
  #usageSeen = false

  readonly #keeps: boolean

  /** Bytes of events without content. */
  #pingBytes = 0

  constructor({ client, upstream, meter, context, cutAt, keeps }: Conversion) {
    this.#keeps = keeps
    this.contentType =
      context.framing === 'json-array'
        ? 'application/json; charset=utf-8'
        : 'text/event-stream; charset=utf-8'
    this.meter = meter
    this.#decoder = upstream.streamDecoder()
    this.#encoder = client.streamEncoder(context)
    this.#cutter = cutAt.length === 0 ? undefined : stopCutter(cutAt)
    // Text that is searched for stop sequences must not be lifted out.
    this.#lifted = new LiftedStrings(this.#cutter === undefined ? LIFTED_MARK : undefined)
    this.#reader = createSseReader({ lifted: this.#lifted })
  }

  push(chunk: Uint8Array): StreamStep {
    const step = new StepBuilder(this.#lifted)
    for (const event of this.#reader.push(chunk)) {
      const parts = this.#decoder.push(event)
      if (parts.every(({ type }) => type === 'ping'))
        this.#pingBytes += event.event.length + event.data.length
      this.#take(parts, step)
    }
    if (this.#reader.overflow) step.failure ??= { kind: 'cut' }
    return step.built()
  }

  end(): StreamStep {
    const step = new StepBuilder(this.#lifted)
    for (const event of this.#reader.end()) this.#take(this.#decoder.push(event), step)
    const last = this.#decoder.end()
    // An error that a decoder reports at the end of the connection is not the upstream's own: the answer was cut.
    const cut = last.some((part) => part.type === 'error')
    this.#take(
      last.filter((part) => part.type !== 'error'),
      step,
    )
    if (cut) step.failure ??= { kind: 'cut' }
    return step.built()
  }

  keepAlive(): string {
    return this.#encoder.keepAlive()
  }

  get keepAliveBytes(): number {
    return this.#reader.emptyBytes + this.#pingBytes
  }

  kept(): KeptAnswer | undefined {
    const json = this.#keeps && this.#lifted.length <= TURN_BYTES_MAX ? this.#encoder.whole : undefined
    return json === undefined ? undefined : { kind: 'response', json: this.#lifted.restoreText(json) }
  }

  failure({ code, status, message, requestId }: StreamFailure): string {
    const error = { status, type: GATEWAY_ERROR, code, message, raw: null, requestId }
    return this.#encoder.push({ type: 'error', error })
  }

  #take(parts: readonly StreamPart[], step: StepBuilder): void {
    for (const part of parts) {
      if (step.failure !== undefined) break
      if (part.type !== 'usage') this.#observe(part)
      step.meaningful ||= isMeaningful(part)
      for (const said of this.#cutter?.push(part) ?? [part]) this.#say(said, step)
      if (part.type === 'error') {
        step.failure = { kind: 'error', status: part.error.status, raw: part.error.raw, delivered: true }
      }
    }
    // An event's usage covers its text, whichever of the two the decoder emits first.
    for (const part of parts) if (part.type === 'usage') this.meter.observePart(part)
    if (this.#cutter?.stopped === true) step.stage = 'enough'
  }

  #observe(part: StreamPart): void {
    const isText = part.type === 'text-delta' || part.type === 'arguments-delta'
    if (!isText || this.#lifted.length === 0) {
      this.meter.observePart(part)
      return
    }
    for (const piece of this.#lifted.restore(part.text)) {
      if (typeof piece === 'string') this.meter.observeText(piece)
      else this.meter.observeJsonText(piece, 0, piece.length)
    }
  }

  #say(part: StreamPart, step: StepBuilder): void {
    if (part.type === 'usage') this.#usageSeen = true
    if (part.type === 'end') step.stage = 'finished'
    // Clients expect usage even from upstreams that report none; they then get the gateway's estimate.
    if (part.type === 'end' && !this.#usageSeen) {
      step.text += this.#encoder.push({ type: 'usage', usage: this.meter.read().usage })
    }
    step.text += this.#encoder.push(part)
  }
}

/** Placeholder in texts for what was lifted out of them; never sent. */
const LIFTED_MARK = `lifted${randomBytes(16).toString('hex')}n`

class StepBuilder {
  readonly #lifted: LiftedStrings
  text = ''
  meaningful = false
  stage: StreamStep['stage'] = 'flowing'
  failure: AnswerFailure | undefined

  constructor(lifted: LiftedStrings) {
    this.#lifted = lifted
  }

  built(): StreamStep {
    return {
      output: this.#lifted.restore(this.text),
      meaningful: this.meaningful,
      stage: this.stage,
      failure: this.failure,
    }
  }
}

/** Whether a part begins the answer: role-only chunks, starts and pings do not (docs/protocols.md#rule-3). */
function isMeaningful(part: StreamPart): boolean {
  switch (part.type) {
    case 'text-delta':
    case 'arguments-delta':
      return part.text !== ''
    case 'block-start':
      return part.kind.type === 'tool-call' || part.kind.type === 'media'
    case 'finish':
    case 'end':
      return true
    case 'start':
    case 'signature':
    case 'citation':
    case 'logprobs':
    case 'block-end':
    case 'usage':
    case 'ping':
    case 'error':
      return false
  }
}
