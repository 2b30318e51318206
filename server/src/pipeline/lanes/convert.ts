/**
 * The lane between two protocols: client JSON → canonical → upstream JSON, and back (docs/reference/contract.md#1-11).
 */
import type { CanonicalRequest, MediaSource } from '../../core/canonical/request.ts'
import { replaysSignatures } from '../../core/canonical/signatures.ts'
import { familyOf } from '../../core/catalogue.ts'
import type { JsonObject, JsonValue } from '../../core/json.ts'
import { codecOf, keepsAnswers, protocolOf } from '../../core/protocols/index.ts'
import type { Dialect } from '../../providers/provider.ts'
import { wireOf } from '../kinds/wire.ts'
import type { ReservedCall } from '../call.ts'
import { CallMeter } from './call-meter.ts'
import type { Conversion } from './conversion.ts'
import { ConvertedStream } from './converted-stream.ts'
import { ConvertedWhole } from './converted-whole.ts'
import { isNear } from './threads/conversions.ts'
import { sharedBody } from './threads/shared-body.ts'
import { type RequestTask, type TaskResult, WorkFailure } from './threads/work.ts'
import {
  type ConvertibleLeg,
  encodePrepared,
  prepareConversion,
  type PreparedRequest,
  unkept,
} from './convert-request.ts'
import { upstreamOf } from '../attempt/dialect.ts'
import { editBody } from './edit-body.ts'
import type { Pipeline } from '../context.ts'
import type { Lane } from './lane.ts'
import { UNASKED_LANE } from './unasked-lane.ts'
import type { LaneTarget, OpenedLane } from './lane-target.ts'
import type { ClientReply } from '../reply.ts'
import { fetchMedia } from './remote-media.ts'
import { TURN_BYTES_MAX } from '../instance/turn-keeper.ts'
import type { Leg } from '../attempt/leg.ts'

type ConvertParts = Pick<Pipeline, 'conversions' | 'fetchRemote' | 'telemetry' | 'tokens'>

export interface ConversionTarget extends LaneTarget<Dialect> {
  readonly leg: Leg & Pick<ConvertibleLeg, 'unpricedTools'>
}

export function openConversionLane(
  pipeline: ConvertParts,
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
  pipeline: ConvertParts,
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
  /** Fetched media, by address. */
  readonly sources: ReadonlyMap<string, MediaSource>
}

function openPrepared(
  pipeline: ConvertParts,
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

/** Converts in a thread, which returns the upstream's bytes and the few facts of the request that answers need. */
async function openFar(
  pipeline: ConvertParts,
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
      client: codecOf(call.endpoint.protocol).id,
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
      if (result.input !== undefined) call.body.memo.writtenInput = result.input
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

/** undefined: the client disconnected meanwhile. */
async function convertFar(
  pipeline: Pick<Pipeline, 'conversions'>,
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

function laneOver(pipeline: ConvertParts, call: ReservedCall, converted: ConvertedLane): OpenedLane {
  const { leg, dialect, body, asked, issuer, echo } = converted
  const metering = new CallMeter(pipeline, call)
  const keeps = keepsAnswer(call, asked)
  const conversion: Conversion = {
    client: codecOf(call.endpoint.protocol),
    upstream: protocolOf(dialect.protocol),
    meter: metering.meter,
    cutAt: converted.cutAt,
    keeps,
    far: (task) => pipeline.conversions.runAnswer(task, call.account.id),
    // Bytes of an answer are twice the work of a request's, because the answer is also encoded again.
    nextTurn: (go) => setImmediate(go),
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
    replays: converted.replays,
    inputEstimated: () => metering.inputEstimated,
    openStream: () => new ConvertedStream(conversion),
    openWhole: () => new ConvertedWhole(conversion),
  }
  return { kind: 'open', lane }
}

/**
 * An upstream's error in the shape of another protocol, with the unchanged body included
 * (docs/reference/contract.md#D-errors-29).
 */
export function foreignError(call: ReservedCall, leg: Leg, status: number, body: JsonValue): JsonObject {
  const client = codecOf(familyOf(call.endpoint.protocol))
  const upstream = wireOf(upstreamOf(leg, call.catalogue).dialect.protocol)
  return { ...client.encodeError(upstream.decodeError(status, body)), upstream_body: body }
}

function keepsAnswer(call: ReservedCall, { state }: CanonicalRequest): boolean {
  return mayKeep(call) && state.store !== false
}

function mayKeep(call: ReservedCall): boolean {
  return keepsAnswers(call.endpoint.protocol) && call.body.length <= TURN_BYTES_MAX
}
