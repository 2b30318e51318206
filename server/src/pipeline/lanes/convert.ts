/** The lane between two protocols: client JSON → canonical → upstream JSON, and back (contract §1.3). */
import { randomBytes } from 'node:crypto'
import type { CanonicalRequest, MediaSource } from '../../core/canonical/request.ts'
import { replaysSignatures } from '../../core/canonical/signatures.ts'
import type { StreamPart } from '../../core/canonical/response.ts'
import { cutResponse, type StopCutter, stopCutter } from '../../core/canonical/stop-sequences.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts'
import type { Meter } from '../../core/metering/meter.ts'
import { type BodyTap, createBodyTap } from '../../core/passthrough/body-tap.ts'
import { GATEWAY_ERROR, type StreamFailure } from '../../core/passthrough/breaks.ts'
import { keepsAnswers, protocolOf } from '../../core/protocols/index.ts'
import type { Protocol, ReplyContext } from '../../core/protocols/protocol.ts'
import { createSseReader } from '../../core/sse/events.ts'
import { LiftedStrings } from '../../core/sse/lifted-strings.ts'
import type { Dialect } from '../../providers/provider.ts'
import type { Leg } from '../attempt/attempt.ts'
import type { ReservedCall } from '../call.ts'
import { CallMeter } from './call-meter.ts'
import { parseJson } from '../attempt/classify.ts'
import { answerText, countImages } from './threads/answer-text.ts'
import { isNear, sharedBytes } from './threads/conversions.ts'
import { sharedBody } from './threads/shared-body.ts'
import { type AnswerTask, type RequestTask, type TaskResult, WorkFailure } from './threads/work.ts'
import {
  type ConvertibleLeg,
  encodePrepared,
  noteClientInput,
  prepareConversion,
  type PreparedRequest,
  unkept,
} from './convert-request.ts'
import { upstreamOf } from '../attempt/dialect.ts'
import { editBody } from './edit-body.ts'
import type { Pipeline } from '../context.ts'
import type { AnswerFailure, KeptAnswer, Lane, StreamLane, StreamStep, WholeEnd, WholeLane } from './lane.ts'
import { UNASKED_LANE } from './unasked-lane.ts'
import type { LaneTarget, OpenedLane } from './open-lane.ts'
import type { ClientReply } from '../reply.ts'
import { fetchMedia } from './remote-media.ts'
import { TURN_BYTES_MAX } from '../instance/turn-keeper.ts'

/** A whole answer that has to be parsed; no model writes this much in one go. */
const WHOLE_BYTES_MAX = 64 * 1024 * 1024

export interface ConversionTarget extends LaneTarget {
  readonly leg: Leg & Pick<ConvertibleLeg, 'unpricedTools'>
}

export function openConversionLane(
  pipeline: Pipeline,
  call: ReservedCall,
  { leg, dialect, reply }: ConversionTarget,
): OpenedLane | Promise<OpenedLane> {
  const { bodyBytes, values } = call.scan
  const size = { bytes: bodyBytes, values }
  if (!isNear(size)) return openFar(pipeline, call, { leg, dialect, reply })
  const turn = pipeline.conversions.turn(size)
  if (turn === undefined) return openNear(pipeline, call, leg, dialect)
  return turn.then(() => openNear(pipeline, call, leg, dialect))
}

function openNear(
  pipeline: Pipeline,
  call: ReservedCall,
  leg: Leg,
  dialect: Dialect,
): OpenedLane | Promise<OpenedLane> {
  const prepared = prepareConversion(call, leg, dialect)
  if (prepared.kind === 'refused') return prepared
  if (prepared.remote.length === 0)
    return openPrepared(pipeline, call, { leg, dialect, prepared, sources: NOTHING })
  return fetchMedia(pipeline, call, prepared.remote).then((fetched) =>
    fetched.kind === 'refused'
      ? { kind: 'refused', failure: { kind: 'unconvertible', message: fetched.message, details: undefined } }
      : openPrepared(pipeline, call, { leg, dialect, prepared, sources: fetched.sources }),
  )
}

const NOTHING: ReadonlyMap<string, MediaSource> = new Map()

interface Opening {
  readonly leg: ConversionTarget['leg']
  readonly dialect: Dialect
  readonly prepared: PreparedRequest
  /** What was fetched, by address. */
  readonly sources: ReadonlyMap<string, MediaSource>
}

function openPrepared(
  pipeline: Pipeline,
  call: ReservedCall,
  { leg, dialect, prepared, sources }: Opening,
): OpenedLane {
  const converted = encodePrepared(prepared, leg, dialect, sources)
  if (converted.kind === 'refused') return converted
  const { asked, request, issuer } = prepared
  return laneOver(pipeline, call, {
    leg,
    dialect,
    body: Buffer.from(JSON.stringify(editBody(converted.body, dialect))),
    dropped: converted.dropped,
    cutAt: converted.cutAt,
    sentExtras: converted.sentExtras,
    asked,
    issuer,
    echo: undefined,
    replays: () => replaysSignatures(request, { protocol: dialect.protocol, issuer }),
  })
}

/** In a thread of its own: what comes back are the upstream's bytes and the little that answers need of the request. */
async function openFar(
  pipeline: Pipeline,
  call: ReservedCall,
  { leg, dialect, reply }: ConversionTarget,
): Promise<OpenedLane> {
  const body = await sharedBody(call.body)
  const vendorKind = upstreamOf(leg, call.catalogue).vendor.kind
  let sources: ReadonlyMap<string, MediaSource> | undefined
  for (;;) {
    const result = await convertFar(pipeline, call, reply, {
      kind: 'request',
      body,
      client: call.endpoint.protocol,
      stream: call.stream,
      previousResponseId: call.scan.previousResponseId,
      past: call.past?.kind === 'kept' ? call.past.bytes : undefined,
      target: {
        vendorKind,
        chain: leg.chain,
        model: { maxOutputTokens: leg.model.maxOutputTokens },
        ...(leg.unsigned === true ? { unsigned: true } : {}),
        ...(leg.unpricedTools === undefined ? {} : { unpricedTools: leg.unpricedTools }),
      },
      sources,
      keeps: mayKeep(call) && !call.scan.forget,
    })
    if (result === undefined) return { kind: 'open', lane: UNASKED_LANE }
    if (result.kind === 'refused') return unconvertible(result)
    if (result.kind === 'converted') {
      if (result.input !== undefined) noteClientInput(call, result.input)
      return laneOver(pipeline, call, { ...result, leg, dialect, replays: () => result.replays })
    }
    if (result.kind !== 'media') throw new Error(`a conversion ended as ${result.kind}`)
    const fetched = await fetchMedia(pipeline, call, result.remote)
    if (fetched.kind === 'refused') return unconvertible({ ...fetched, details: undefined })
    sources = fetched.sources
  }
}

function unconvertible({
  message,
  details,
}: Pick<Extract<TaskResult, { kind: 'refused' }>, 'message' | 'details'>): OpenedLane {
  return { kind: 'refused', failure: { kind: 'unconvertible', message, details } }
}

/** undefined: the client left while it waited. */
async function convertFar(
  pipeline: Pipeline,
  call: ReservedCall,
  reply: ClientReply,
  task: RequestTask,
): Promise<TaskResult | undefined> {
  if (reply.gone) return undefined
  const onCancel = (cancel: (() => void) | undefined): void => reply.onGone(cancel)
  try {
    return await pipeline.conversions.run(task, { accountId: call.account.id, onCancel })
  } catch (error) {
    if (error instanceof WorkFailure && error.reason === 'cancelled') return undefined
    throw error
  }
}

/** A converted request and what its answers need. */
interface ConvertedLane {
  readonly leg: Leg
  readonly dialect: Dialect
  readonly body: Uint8Array
  readonly dropped: readonly string[]
  readonly cutAt: readonly string[]
  readonly sentExtras: readonly string[]
  readonly asked: CanonicalRequest
  readonly issuer: string
  readonly echo: string | undefined
  readonly replays: () => boolean
}

function laneOver(pipeline: Pipeline, call: ReservedCall, converted: ConvertedLane): OpenedLane {
  const { leg, dialect, body, asked, issuer, echo } = converted
  const metering = new CallMeter(pipeline, call)
  const keeps = keepsAnswer(call, asked)
  const conversion: Conversion = {
    client: protocolOf(call.endpoint.protocol),
    upstream: protocolOf(dialect.protocol),
    meter: metering.meter,
    cutAt: converted.cutAt,
    keeps,
    far: (task) => pipeline.conversions.runAnswer(task, call.account.id),
    // Bytes of an answer are twice the work of a request's: it is written again as well.
    turn: (bytes) => pipeline.conversions.turn({ bytes: 2 * bytes, values: 0 }),
    context: {
      model: leg.model.modelId,
      responseId: call.callId,
      createdAt: Math.floor(call.at / 1_000),
      request: keeps ? asked : unkept(asked),
      inputTokensEstimate: call.demand.estimate.inputTokens,
      issuer,
      framing: call.endpoint.eventStream ? 'sse' : 'json-array',
      ...(echo === undefined ? {} : { echo }),
    },
  }
  const lane: Lane = {
    body: [body],
    bodyLength: body.byteLength,
    dropped: converted.dropped,
    sentExtras: converted.sentExtras,
    get replays() {
      return converted.replays()
    },
    get inputEstimated() {
      return metering.inputEstimated
    },
    openStream: () => new ConvertedStream(conversion),
    openWhole: () => new ConvertedWhole(conversion),
  }
  return { kind: 'open', lane }
}

/** An upstream's error in the shape of another protocol, with the untouched body beside it (decisions, Errors). */
export function foreignError(call: ReservedCall, leg: Leg, status: number, body: JsonValue): JsonObject {
  const client = protocolOf(call.endpoint.protocol)
  const upstream = leg.chain.protocol === 'video' ? undefined : protocolOf(leg.chain.protocol)
  if (upstream === undefined) return { upstream_body: body }
  return { ...client.encodeError(upstream.decodeError(status, body)), upstream_body: body }
}

interface Conversion {
  readonly client: Protocol
  readonly upstream: Protocol
  readonly meter: Meter
  /** Stop sequences the upstream cannot take: the answer is cut at them here. */
  readonly cutAt: readonly string[]
  /** The client may continue from the answer. */
  readonly keeps: boolean
  /** Does in a thread what would take too long here. */
  readonly far: (task: AnswerTask) => Promise<TaskResult>
  /** Asked before an answer of so many bytes is taken apart here. */
  readonly turn: (bytes: number) => Promise<void> | undefined
  readonly context: ReplyContext
}

function keepsAnswer(call: ReservedCall, { state }: CanonicalRequest): boolean {
  return mayKeep(call) && state.store !== false
}

function mayKeep(call: ReservedCall): boolean {
  return keepsAnswers(call.endpoint.protocol) && call.body.length <= TURN_BYTES_MAX
}

class ConvertedStream implements StreamLane {
  readonly contentType: string
  readonly #meter: Meter
  readonly #lifted: LiftedStrings
  readonly #reader: ReturnType<typeof createSseReader>
  readonly #decoder: ReturnType<Protocol['streamDecoder']>
  readonly #encoder: ReturnType<Protocol['streamEncoder']>
  readonly #cutter: StopCutter | undefined
  #usageTold = false

  readonly #keeps: boolean

  /** Of events that said nothing. */
  #pingBytes = 0

  constructor({ client, upstream, meter, context, cutAt, keeps }: Conversion) {
    this.#keeps = keeps
    this.contentType =
      context.framing === 'json-array'
        ? 'application/json; charset=utf-8'
        : 'text/event-stream; charset=utf-8'
    this.#meter = meter
    this.#decoder = upstream.streamDecoder()
    this.#encoder = client.streamEncoder(context)
    this.#cutter = cutAt.length === 0 ? undefined : stopCutter(cutAt)
    // A text that is searched has to be there.
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
    // What a decoder calls an error at the end of the connection is no word of the upstream's: it was cut.
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

  readMeter() {
    return this.#meter.read()
  }

  glanceMeter() {
    return this.#meter.glance()
  }

  get toldOutput(): number | undefined {
    return this.#meter.toldOutput
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
    // An event's usage covers the text beside it, whichever of the two the decoder tells first.
    for (const part of parts) if (part.type === 'usage') this.#meter.observePart(part)
    if (this.#cutter?.stopped === true) step.stage = 'enough'
  }

  #observe(part: StreamPart): void {
    const isText = part.type === 'text-delta' || part.type === 'arguments-delta'
    if (!isText || this.#lifted.length === 0) {
      this.#meter.observePart(part)
      return
    }
    for (const piece of this.#lifted.restore(part.text)) {
      if (typeof piece === 'string') this.#meter.observeText(piece)
      else this.#meter.observeJsonText(piece, 0, piece.length)
    }
  }

  #say(part: StreamPart, step: StepBuilder): void {
    if (part.type === 'usage') this.#usageTold = true
    if (part.type === 'end') step.stage = 'finished'
    // Clients expect counters even from upstreams that tell none: our own estimate then.
    if (part.type === 'end' && !this.#usageTold) {
      step.text += this.#encoder.push({ type: 'usage', usage: this.#meter.read().usage })
    }
    step.text += this.#encoder.push(part)
  }
}

/** Stands in texts for what was lifted out of them; never told to anybody. */
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

/** Whether the answer has begun: role-only chunks, starts and pings have not (reference §0, rule 3). */
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

/** Taking it apart and putting it together takes a few milliseconds. */
const NEAR_ANSWER_BYTES_MAX = 131_072

const BROKEN: WholeEnd = { output: [], failure: { kind: 'cut' } }

class ConvertedWhole implements WholeLane {
  readonly #conversion: Conversion
  readonly #chunks: Uint8Array[] = []
  #length = 0
  #json: string | undefined
  /** Reads the usage off the passing bytes once nobody waits for the answer. */
  #tap: BodyTap | undefined

  constructor(conversion: Conversion) {
    this.#conversion = conversion
  }

  push(chunk: Uint8Array): readonly [] {
    if (this.#tap !== undefined) {
      this.#tap.push(chunk)
      return []
    }
    this.#length += chunk.byteLength
    if (this.#length <= WHOLE_BYTES_MAX) this.#chunks.push(chunk)
    return []
  }

  end(): ReturnType<WholeLane['end']> {
    const { client, upstream, meter, context, cutAt } = this.#conversion
    if (this.#tap !== undefined) {
      return { output: [], failure: this.#tap.finish().kind === 'complete' ? undefined : { kind: 'cut' } }
    }
    const body = this.#length > WHOLE_BYTES_MAX ? undefined : parseJson(Buffer.concat(this.#chunks))
    if (body === undefined) return BROKEN
    if (isJsonObject(body) && body['error'] !== undefined && body['error'] !== null) {
      const { status, raw } = upstream.decodeError(undefined, body)
      return { output: [], failure: { kind: 'error', status, raw, delivered: false } }
    }
    const response = upstream.decodeResponse(body)
    if (response.failure !== undefined) {
      const { status, raw } = response.failure
      return { output: [], failure: { kind: 'error', status, raw, delivered: false } }
    }
    if (response.usage !== undefined) meter.observeUsage(response.usage)
    else for (const text of answerText(response.candidates)) meter.observeText(text)
    meter.observeProduced()
    meter.observeImages(countImages(response.candidates))
    const whole = cutResponse({ ...response, usage: response.usage ?? meter.read().usage }, cutAt)
    return this.#ended(Buffer.from(JSON.stringify(client.encodeResponse(whole, context))))
  }

  endFar(): Promise<WholeEnd> | undefined {
    if (this.#length > WHOLE_BYTES_MAX || this.#tap !== undefined) return undefined
    // What responses objects repeat of a large request is large too.
    const repeated = this.#conversion.context.echo?.length ?? 0
    const isNear = this.#length <= NEAR_ANSWER_BYTES_MAX && repeated <= NEAR_ANSWER_BYTES_MAX
    if (!isNear) return this.#convertFar()
    return this.#conversion.turn(this.#length)?.then(() => this.end())
  }

  async #convertFar(): Promise<WholeEnd> {
    const { client, upstream, meter, context, cutAt, far } = this.#conversion
    const result = await far({
      kind: 'answer',
      body: await sharedBytes(this.#chunks.splice(0), this.#length),
      client: client.id,
      upstream: upstream.id,
      context,
      cutAt,
      inputTokensEstimate: context.inputTokensEstimate,
    })
    if (result.kind === 'upstream-error') {
      const { status, raw } = result
      return { output: [], failure: { kind: 'error', status, raw, delivered: false } }
    }
    if (result.kind !== 'answered') return BROKEN
    if (result.usage !== undefined) meter.observeUsage(result.usage)
    else meter.observeCounted(result.outputTokens)
    meter.observeProduced()
    meter.observeImages(result.images)
    return this.#ended(Buffer.from(result.body.buffer))
  }

  #ended(body: Buffer): WholeEnd {
    if (this.#conversion.keeps && body.byteLength <= TURN_BYTES_MAX) this.#json = body.toString('utf8')
    return { output: [body], failure: undefined }
  }

  kept(): KeptAnswer | undefined {
    return this.#json === undefined ? undefined : { kind: 'response', json: this.#json }
  }

  readMeter() {
    return this.#conversion.meter.read()
  }

  glanceMeter() {
    return this.#conversion.meter.glance()
  }

  get toldOutput(): number | undefined {
    return this.#conversion.meter.toldOutput
  }

  forget(): void {
    const { upstream, meter, context } = this.#conversion
    const tap = createBodyTap(upstream.id, {
      replacementModel: context.model,
      meter,
      decodeError: (raw) => upstream.decodeError(undefined, raw),
    })
    for (const chunk of this.#chunks.splice(0)) tap.push(chunk)
    this.#tap = tap
  }
}
