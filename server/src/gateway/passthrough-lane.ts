/** The lane between equal protocols: the client's bytes upstream and the upstream's back, but for the model's name. */
import type { UpstreamError } from '../core/canonical/response.ts'
import type { ProtocolId } from '../core/catalogue.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../core/json.ts'
import type { MeterReading } from '../core/metering/meter.ts'
import { type BodyTap, createBodyTap } from '../core/passthrough/body-tap.ts'
import { BREAKS, type BrokenAnswer } from '../core/passthrough/breaks.ts'
import { usageInjection } from '../core/passthrough/inject.ts'
import { modelEdits, type SplicedBody, spliceChunks } from '../core/passthrough/splice.ts'
import { createStreamTap, type StreamTap } from '../core/passthrough/stream-tap.ts'
import { keepsAnswers, protocolOf } from '../core/protocols/index.ts'
import type { Dialect } from '../providers/provider.ts'
import type { Leg } from './attempt.ts'
import type { ReservedCall } from './call.ts'
import { CallMeter } from './call-meter.ts'
import { parseJson } from './classify.ts'
import type { Gateway } from './gateway.ts'
import type { AnswerFailure, Bytes, KeptAnswer, Lane, StreamLane, StreamStep, WholeLane } from './lane.ts'

export function openPassthroughLane(gateway: Gateway, call: ReservedCall, leg: Leg, dialect: Dialect): Lane {
  const injection =
    leg.chain.streamUsage === 'inject' && dialect.protocol === 'chat' ? usageInjection(call.scan) : undefined
  const { chunks, length } = requestBody(call, leg, { dialect, injection })
  const metering = new CallMeter(gateway, call)
  const passing: Passing = {
    protocol: dialect.protocol,
    model: leg.model.modelId,
    metering,
    removeUsageChunk: injection !== undefined,
    keeps: keepsAnswers(dialect.protocol) && !call.scan.forget,
    answer: {
      model: leg.model.modelId,
      responseId: `resp_${call.callId}`,
      sequenceNumber: 0,
      createdAt: Math.floor(call.at / 1_000),
    },
  }
  return {
    body: chunks,
    bodyLength: length,
    dropped: [],
    get inputEstimated() {
      return metering.inputEstimated
    },
    openStream: () => new PassedStream(passing),
    openWhole: () => new PassedWhole(passing),
  }
}

interface Passing {
  readonly protocol: ProtocolId
  readonly model: string
  readonly metering: CallMeter
  readonly removeUsageChunk: boolean
  /** The upstream keeps the answer, and the client may continue from it. */
  readonly keeps: boolean
  readonly answer: BrokenAnswer
}

/** A vendor whose body must differ in more than the model's name gets it parsed; everyone else the same bytes. */
function requestBody(
  call: ReservedCall,
  leg: Leg,
  {
    dialect,
    injection,
  }: { readonly dialect: Dialect; readonly injection: ReturnType<typeof usageInjection> },
): SplicedBody {
  if (dialect.bodyEdit !== undefined || (dialect.modelPlace === 'path' && call.scan.modelSpans.length > 0)) {
    return editedBody(call, dialect)
  }
  const edits = modelEdits(call.scan.modelSpans, leg.chain.forwardModelId)
  return spliceChunks(call.body.chunks, injection === undefined ? edits : [...edits, injection])
}

function editedBody(call: ReservedCall, dialect: Dialect): SplicedBody {
  const parsed = parseJson(Buffer.concat(call.body.chunks))
  if (!isJsonObject(parsed)) throw new Error('a scanned body is no JSON object')
  const bytes = Buffer.from(JSON.stringify(editBody(parsed, dialect)))
  return { chunks: [bytes], length: bytes.byteLength }
}

/** Members the dialect's body needs or must not have. */
export function editBody(body: JsonObject, dialect: Dialect): JsonObject {
  const edit = dialect.bodyEdit
  if (edit === undefined && dialect.modelPlace === 'body') return body
  const removed = new Set(edit?.remove ?? [])
  if (dialect.modelPlace === 'path') removed.add('model')
  return { ...Object.fromEntries(Object.entries(body).filter(([name]) => !removed.has(name))), ...edit?.set }
}

class PassedStream implements StreamLane {
  readonly contentType = 'text/event-stream; charset=utf-8'
  readonly #passing: Passing
  readonly #tap: StreamTap
  #told = false

  constructor(passing: Passing) {
    this.#passing = passing
    this.#tap = createStreamTap(passing.protocol, {
      replacementModel: passing.model,
      meter: passing.metering.meter,
      removeUsageChunk: passing.removeUsageChunk,
      decodeError: (raw) => decodeError(passing.protocol, raw),
    })
  }

  push(chunk: Uint8Array): StreamStep {
    const output = this.#tap.push(chunk)
    const { meaningful, terminated } = this.#tap.observed
    return { output, meaningful, terminated, failure: this.#failure() }
  }

  end(): StreamStep {
    const { kind, output } = this.#tap.finish()
    const failure = this.#failure() ?? (kind === 'cut' ? { kind: 'cut' as const } : undefined)
    const { meaningful, terminated } = this.#tap.observed
    return { output, meaningful, terminated, failure }
  }

  keepAlive(): Bytes | undefined {
    return BREAKS[this.#passing.protocol].keepAlive
  }

  failure(error: UpstreamError): Bytes {
    const { answerId, sequenceNumber } = this.#tap.observed
    return BREAKS[this.#passing.protocol].failure(error, {
      ...this.#passing.answer,
      responseId: answerId ?? this.#passing.answer.responseId,
      sequenceNumber: sequenceNumber + 1,
    })
  }

  kept(): KeptAnswer | undefined {
    return keptAnswer(this.#passing, this.#tap.observed.answerId)
  }

  readMeter(): MeterReading {
    return this.#passing.metering.meter.read()
  }

  glanceMeter(): MeterReading {
    return this.#passing.metering.meter.glance()
  }

  /** An error the upstream told inside its stream counts once; the event itself has been passed on. */
  #failure(): AnswerFailure | undefined {
    const { error, overflow, spliced } = this.#tap.observed
    if (overflow || spliced) return { kind: 'cut' }
    if (error === undefined || this.#told) return undefined
    this.#told = true
    return { kind: 'error', status: error.error.status, raw: error.error.raw, delivered: true }
  }
}

class PassedWhole implements WholeLane {
  readonly #passing: Passing
  readonly #tap: BodyTap

  constructor(passing: Passing) {
    this.#passing = passing
    this.#tap = createBodyTap(passing.protocol, {
      replacementModel: passing.model,
      meter: passing.metering.meter,
      decodeError: (raw) => decodeError(passing.protocol, raw),
    })
  }

  push(chunk: Uint8Array): readonly Bytes[] {
    return this.#tap.push(chunk)
  }

  end(): ReturnType<WholeLane['end']> {
    const { kind, output } = this.#tap.finish()
    switch (kind) {
      case 'complete':
        this.#passing.metering.meter.observeProduced()
        return { output, failure: undefined }
      case 'unreadable':
        return { output, failure: { kind: 'cut' } }
      case 'error': {
        const { error } = this.#tap
        return {
          output,
          failure: { kind: 'error', status: error?.status, raw: error?.raw ?? null, delivered: false },
        }
      }
    }
  }

  kept(): KeptAnswer | undefined {
    return keptAnswer(this.#passing, this.#tap.answerId)
  }

  readMeter(): MeterReading {
    return this.#passing.metering.meter.read()
  }

  glanceMeter(): MeterReading {
    return this.#passing.metering.meter.glance()
  }
}

function keptAnswer({ keeps }: Passing, id: string | undefined): KeptAnswer | undefined {
  return keeps && id !== undefined ? { kind: 'id', id } : undefined
}

/** The protocol's own reader of error objects. */
function decodeError(protocol: ProtocolId, raw: JsonValue): UpstreamError {
  return protocolOf(protocol).decodeError(undefined, raw)
}
