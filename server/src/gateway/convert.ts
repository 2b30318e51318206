/** The lane between two protocols: client JSON → canonical → upstream JSON, and back (contract §1.3). */
import { inlineMedia, listRemoteMedia } from '../core/canonical/remote-media.ts'
import type { CanonicalRequest, MediaPart } from '../core/canonical/request.ts'
import { replaysSignatures, withoutSignatures } from '../core/canonical/signatures.ts'
import type { StreamPart, UpstreamError } from '../core/canonical/response.ts'
import { cutResponse, type StopCutter, stopCutter } from '../core/canonical/stop-sequences.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../core/json.ts'
import type { Meter } from '../core/metering/meter.ts'
import { clientPath, clientPaths } from '../core/protocols/client-fields.ts'
import { protocolOf } from '../core/protocols/index.ts'
import type { Decoded, Encoded, Protocol, Refused, ReplyContext } from '../core/protocols/protocol.ts'
import { continuedBody, inputItems } from '../core/protocols/responses/stored-turn.ts'
import { createSseReader } from '../core/sse/events.ts'
import type { Dialect } from '../providers/provider.ts'
import type { Leg } from './attempt.ts'
import type { ReceivedBody, ReservedCall } from './call.ts'
import { CallMeter } from './call-meter.ts'
import { parseJson } from './classify.ts'
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
  const client = protocolOf(call.endpoint.protocol)
  const decoded = decodeOnce(client, call)
  if (decoded.kind === 'refused') return unconvertible(client, decoded)
  const wanted = wantedOf(call, leg, decoded.value)
  const request = dialect.adapt?.(wanted) ?? wanted
  const converting: Converting = { gateway, call, leg, dialect, client, decoded, request }
  const capabilities = dialect.capabilities(leg.chain.forwardModelId)
  const needsInline = (part: MediaPart): boolean =>
    protocolOf(dialect.protocol).needsInline(part, capabilities)
  const remote = listRemoteMedia(request, needsInline)
  if (remote.length === 0) return convert(converting)
  return fetchMedia(gateway, call, remote).then((fetched) =>
    fetched.kind === 'refused'
      ? unconvertible(client, { kind: 'refused', field: '', message: fetched.message })
      : convert({ ...converting, request: inlineMedia(request, needsInline, fetched.sources) }),
  )
}

interface Converting {
  readonly gateway: Gateway
  readonly call: ReservedCall
  readonly leg: Leg
  readonly dialect: Dialect
  readonly client: Protocol
  readonly decoded: Extract<Decoded<CanonicalRequest>, { kind: 'decoded' }>
  /** What the dialect made of it, with the bytes the chain wants. */
  readonly request: CanonicalRequest
}

function convert({ gateway, call, leg, dialect, client, decoded, request }: Converting): OpenedLane {
  const upstream = protocolOf(dialect.protocol)
  const issuer = issuerOf(leg, dialect)
  const encoded = upstream.encodeRequest(request, {
    forwardModelId: leg.chain.forwardModelId,
    maxOutputTokens: leg.model.maxOutputTokens,
    capabilities: dialect.capabilities(leg.chain.forwardModelId),
    issuer,
  })
  if (encoded.kind === 'refused') return unconvertible(client, encoded)
  const body = Buffer.from(JSON.stringify(editBody(encoded.body, dialect)))
  const metering = new CallMeter(gateway, call)
  const keeps = keepsAnswer(call, decoded.value)
  const conversion: Conversion = {
    client,
    upstream,
    meter: metering.meter,
    cutAt: encoded.cutAt ?? [],
    keeps,
    context: {
      model: leg.model.modelId,
      responseId: call.callId,
      createdAt: Math.floor(call.at / 1_000),
      request: keeps ? decoded.value : unkept(decoded.value),
      inputTokensEstimate: call.demand.estimate.inputTokens,
      issuer,
      framing: call.endpoint.eventStream ? 'sse' : 'json-array',
    },
  }
  const lane: Lane = {
    body: [body],
    bodyLength: body.byteLength,
    dropped: clientPaths(client.id, [...decoded.dropped, ...reallyDropped(encoded), ...leftOut(leg)]),
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

/** What is sent upstream: there nothing is kept and nothing continued, for that is done here. */
function wantedOf(call: ReservedCall, leg: Leg, asked: CanonicalRequest): CanonicalRequest {
  const state = call.endpoint.protocol === 'responses' ? NO_STATE : asked.state
  const wanted = { ...asked, stream: call.stream, state }
  return leg.unsigned === true ? withoutSignatures(wanted) : wanted
}

const NO_STATE = { store: undefined, previousResponseId: undefined }

function keepsAnswer(call: ReservedCall, { state }: CanonicalRequest): boolean {
  return call.endpoint.protocol === 'responses' && state.store !== false && call.body.length <= TURN_BYTES_MAX
}

/** The answer says that it is not kept, whoever decided so. */
function unkept(request: CanonicalRequest): CanonicalRequest {
  return { ...request, state: { ...request.state, store: false } }
}

function leftOut(leg: Leg): readonly string[] {
  return leg.unsigned === true ? ['reasoningHistory'] : []
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

interface DecodedBody {
  readonly decoded: Decoded<CanonicalRequest>
  /** Responses: what the client said in this request, without what it continues. */
  readonly input: readonly JsonValue[]
}

const decodedBodies = new WeakMap<ReceivedBody, DecodedBody>()

/** All attempts of a call share one decoding. */
function decodeOnce(client: Protocol, call: ReservedCall): Decoded<CanonicalRequest> {
  const known = decodedBodies.get(call.body)
  if (known !== undefined) return known.decoded
  const body = parseJson(Buffer.concat(call.body.chunks))
  const decoded: Decoded<CanonicalRequest> = isJsonObject(body)
    ? decodeBody(client, call, body)
    : { kind: 'refused', field: '', message: 'the request body must be a JSON object' }
  const input = client.id === 'responses' && isJsonObject(body) ? inputItems(body['input']) : []
  decodedBodies.set(call.body, { decoded, input })
  return decoded
}

/** A conversation kept here stands in front of what the client sends; the answer still names what it continues. */
function decodeBody(client: Protocol, call: ReservedCall, body: JsonObject): Decoded<CanonicalRequest> {
  if (call.past?.kind !== 'kept') return client.decodeRequest(body)
  const decoded = client.decodeRequest(continuedBody(body, call.past.items))
  if (decoded.kind === 'refused') return decoded
  const state = { ...decoded.value.state, previousResponseId: call.scan.previousResponseId }
  return { ...decoded, value: { ...decoded.value, state } }
}

/** What the client of a converted responses call said, as items. */
export function clientInput(call: ReservedCall): readonly JsonValue[] {
  return decodedBodies.get(call.body)?.input ?? []
}

/** The refusal names the field as the client wrote it. */
function unconvertible(client: Protocol, refused: Refused): OpenedLane {
  const field = clientPath(client.id, refused.field)
  const message =
    field === '' || refused.message.includes(field) ? refused.message : `${field}: ${refused.message}`
  return { kind: 'refused', failure: { kind: 'unconvertible', message, details: refused.details } }
}

/** `stop` is not dropped where the gateway itself cuts the answer. */
function reallyDropped(encoded: Encoded): readonly string[] {
  return encoded.cutAt === undefined ? encoded.dropped : encoded.dropped.filter((field) => field !== 'stop')
}

function issuerOf(leg: Leg, dialect: Dialect): string {
  return dialect.issuer ?? leg.chain.vendorCode
}
