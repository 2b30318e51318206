/** The lane between two protocols: client JSON → canonical → upstream JSON, and back (contract §1.3). */
import type { CanonicalRequest, MediaSource } from '../core/canonical/request.ts'
import { replaysSignatures } from '../core/canonical/signatures.ts'
import type { StreamPart, UpstreamError } from '../core/canonical/response.ts'
import { cutResponse, type StopCutter, stopCutter } from '../core/canonical/stop-sequences.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../core/json.ts'
import type { Meter } from '../core/metering/meter.ts'
import { keepsAnswers, protocolOf } from '../core/protocols/index.ts'
import type { Protocol, ReplyContext } from '../core/protocols/protocol.ts'
import { createSseReader } from '../core/sse/events.ts'
import type { Dialect } from '../providers/provider.ts'
import type { Leg } from './attempt.ts'
import type { ReservedCall } from './call.ts'
import { CallMeter } from './call-meter.ts'
import { parseJson } from './classify.ts'
import { encodePrepared, prepareConversion, type PreparedRequest } from './convert-request.ts'
import type { Gateway } from './gateway.ts'
import type { AnswerFailure, KeptAnswer, Lane, StreamLane, StreamStep, WholeLane } from './lane.ts'
import type { OpenedLane } from './open-lane.ts'
import { editBody } from './passthrough-lane.ts'
import { fetchMedia } from './remote-media.ts'
import { TURN_BYTES_MAX } from './turn-keeper.ts'

/** A whole answer that has to be parsed; no model writes this much in one go. */
const WHOLE_BYTES_MAX = 64 * 1024 * 1024

export function openConversionLane(
  gateway: Gateway,
  call: ReservedCall,
  leg: Leg,
  dialect: Dialect,
): OpenedLane | Promise<OpenedLane> {
  const prepared = prepareConversion(call, leg, dialect)
  if (prepared.kind === 'refused') return prepared
  if (prepared.remote.length === 0)
    return openPrepared(gateway, call, { leg, dialect, prepared, sources: NOTHING })
  return fetchMedia(gateway, call, prepared.remote).then((fetched) =>
    fetched.kind === 'refused'
      ? { kind: 'refused', failure: { kind: 'unconvertible', message: fetched.message, details: undefined } }
      : openPrepared(gateway, call, { leg, dialect, prepared, sources: fetched.sources }),
  )
}

const NOTHING: ReadonlyMap<string, MediaSource> = new Map()

interface Opening {
  readonly leg: Leg
  readonly dialect: Dialect
  readonly prepared: PreparedRequest
  /** What was fetched, by address. */
  readonly sources: ReadonlyMap<string, MediaSource>
}

function openPrepared(
  gateway: Gateway,
  call: ReservedCall,
  { leg, dialect, prepared, sources }: Opening,
): OpenedLane {
  const converted = encodePrepared(prepared, leg, dialect, sources)
  if (converted.kind === 'refused') return converted
  const { asked, request, issuer, client } = prepared
  const upstream = protocolOf(dialect.protocol)
  const body = Buffer.from(JSON.stringify(editBody(converted.body, dialect)))
  const metering = new CallMeter(gateway, call)
  const keeps = keepsAnswer(call, asked)
  const conversion: Conversion = {
    client,
    upstream,
    meter: metering.meter,
    cutAt: converted.cutAt,
    keeps,
    context: {
      model: leg.model.modelId,
      responseId: call.callId,
      createdAt: Math.floor(call.at / 1_000),
      request: keeps ? asked : unkept(asked),
      inputTokensEstimate: call.demand.estimate.inputTokens,
      issuer,
      framing: call.endpoint.eventStream ? 'sse' : 'json-array',
    },
  }
  const lane: Lane = {
    body: [body],
    bodyLength: body.byteLength,
    dropped: converted.dropped,
    get replays() {
      return replaysSignatures(request, { protocol: upstream.id, issuer })
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
  readonly context: ReplyContext
}

function keepsAnswer(call: ReservedCall, { state }: CanonicalRequest): boolean {
  return keepsAnswers(call.endpoint.protocol) && state.store !== false && call.body.length <= TURN_BYTES_MAX
}

/** The answer says that it is not kept, whoever decided so. */
function unkept(request: CanonicalRequest): CanonicalRequest {
  return { ...request, state: { ...request.state, store: false } }
}

class ConvertedStream implements StreamLane {
  readonly contentType: string
  readonly #meter: Meter
  readonly #reader = createSseReader()
  readonly #decoder: ReturnType<Protocol['streamDecoder']>
  readonly #encoder: ReturnType<Protocol['streamEncoder']>
  readonly #cutter: StopCutter | undefined
  #usageTold = false

  readonly #keeps: boolean

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
  }

  push(chunk: Uint8Array): StreamStep {
    const step = new StepBuilder()
    for (const event of this.#reader.push(chunk)) this.#take(this.#decoder.push(event), step)
    if (this.#reader.overflow) step.failure ??= { kind: 'cut' }
    return step.built()
  }

  end(): StreamStep {
    const step = new StepBuilder()
    for (const event of this.#reader.end()) this.#take(this.#decoder.push(event), step)
    this.#take(this.#decoder.end(), step)
    return step.built()
  }

  keepAlive(): string {
    return this.#encoder.keepAlive()
  }

  kept(): KeptAnswer | undefined {
    const json = this.#keeps ? this.#encoder.whole : undefined
    return json === undefined ? undefined : { kind: 'response', json }
  }

  failure(error: UpstreamError): string {
    return this.#encoder.push({ type: 'error', error })
  }

  readMeter() {
    return this.#meter.read()
  }

  glanceMeter() {
    return this.#meter.glance()
  }

  #take(parts: readonly StreamPart[], step: StepBuilder): void {
    for (const part of parts) {
      if (step.failure !== undefined) break
      if (part.type !== 'usage') this.#meter.observePart(part)
      step.meaningful ||= isMeaningful(part)
      for (const said of this.#cutter?.push(part) ?? [part]) this.#say(said, step)
      if (part.type === 'error') {
        step.failure = { kind: 'error', status: part.error.status, raw: part.error.raw, delivered: true }
      }
    }
    // An event's usage covers the text beside it, whichever of the two the decoder tells first.
    for (const part of parts) if (part.type === 'usage') this.#meter.observePart(part)
    if (this.#cutter?.stopped === true) step.ended = true
  }

  #say(part: StreamPart, step: StepBuilder): void {
    if (part.type === 'usage') this.#usageTold = true
    if (part.type === 'end') step.terminated = true
    // Clients expect counters even from upstreams that tell none: our own estimate then.
    if (part.type === 'end' && !this.#usageTold) {
      step.text += this.#encoder.push({ type: 'usage', usage: this.#meter.read().usage })
    }
    step.text += this.#encoder.push(part)
  }
}

class StepBuilder {
  text = ''
  meaningful = false
  terminated = false
  failure: AnswerFailure | undefined
  ended = false

  built(): StreamStep {
    return {
      output: this.text === '' ? [] : [this.text],
      meaningful: this.meaningful,
      terminated: this.terminated,
      failure: this.failure,
      ended: this.ended,
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

class ConvertedWhole implements WholeLane {
  readonly #conversion: Conversion
  readonly #chunks: Uint8Array[] = []
  #length = 0
  #json: string | undefined

  constructor(conversion: Conversion) {
    this.#conversion = conversion
  }

  push(chunk: Uint8Array): readonly [] {
    this.#length += chunk.byteLength
    if (this.#length <= WHOLE_BYTES_MAX) this.#chunks.push(chunk)
    return []
  }

  end(): ReturnType<WholeLane['end']> {
    const { client, upstream, meter, context, cutAt, keeps } = this.#conversion
    const body = this.#length > WHOLE_BYTES_MAX ? undefined : parseJson(Buffer.concat(this.#chunks))
    if (body === undefined) return { output: [], failure: { kind: 'cut' } }
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
    else observeText(meter, response.candidates)
    meter.observeProduced()
    meter.observeImages(countImages(response.candidates))
    const whole = cutResponse({ ...response, usage: response.usage ?? meter.read().usage }, cutAt)
    const json = JSON.stringify(client.encodeResponse(whole, context))
    if (keeps) this.#json = json
    return { output: [Buffer.from(json)], failure: undefined }
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
}

type Candidates = ReturnType<Protocol['decodeResponse']>['candidates']

function observeText(meter: Meter, candidates: Candidates): void {
  for (const { blocks } of candidates) {
    for (const block of blocks) {
      if (block.type === 'tool-call') meter.observeText(block.name + block.arguments)
      else if ('text' in block) meter.observeText(block.text)
    }
  }
}

function countImages(candidates: Candidates): number {
  let images = 0
  for (const { blocks } of candidates) {
    for (const block of blocks)
      if (block.type === 'media' && block.mediaType.startsWith('image/')) images += 1
  }
  return images
}
