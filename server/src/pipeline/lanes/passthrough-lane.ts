/** The lane between equal protocols: the client's bytes upstream and the upstream's back, except for the model's name. */
import { isPassedForm } from '../../core/catalogue.ts'
import { isJsonObject } from '../../core/json.ts'
import { type BodyTap, createBodyTap } from '../../core/passthrough/body-tap.ts'
import type { StreamFailure } from '../../core/passthrough/breaks.ts'
import { usageInjection } from '../../core/passthrough/requests/inject.ts'
import {
  type BodyPiece,
  type Edit,
  formModelEdits,
  modelEdits,
  type SplicedBody,
  spliceChunks,
} from '../../core/passthrough/splice.ts'
import { createStreamTap, type StreamTap } from '../../core/passthrough/stream-tap.ts'
import { keepsAnswers } from '../../core/protocols/index.ts'
import type { PassedDialect, RewrittenRequest, WireDialect } from '../../providers/provider.ts'
import type { ReservedCall } from '../call.ts'
import { CallMeter } from './call-meter.ts'
import { parseJson } from '../attempt/classify.ts'
import { isNear } from './threads/conversions.ts'
import { sharedBody } from './threads/shared-body.ts'
import { upstreamOf } from '../attempt/dialect.ts'
import { rewriteAnswer, rewriteBody } from './edit-body.ts'
import { refusalOf } from './refusal.ts'
import { type OpenedLane, unconvertible } from './lane-target.ts'
import type { Pipeline } from '../context.ts'
import { PassedBytes } from './passed-bytes.ts'
import { withPictures } from './linked-pictures.ts'
import { fetchPictures } from './remote-media.ts'
import { RewrittenWhole } from './rewritten-whole.ts'
import type {
  AnswerFailure,
  Bytes,
  KeptAnswer,
  Lane,
  LaneMeter,
  StreamLane,
  StreamStep,
  WholeLane,
} from './lane.ts'
import { type WireForm, wireOf } from '../kinds/wire.ts'
import type { Leg } from '../attempt/leg.ts'

export type PassthroughLaneParts = Pick<Pipeline, 'conversions' | 'fetchRemote' | 'telemetry' | 'tokens'>

export function openPassthroughLane(
  pipeline: PassthroughLaneParts,
  call: ReservedCall,
  leg: Leg,
  dialect: LaneDialect,
): OpenedLane | Promise<OpenedLane> {
  const injection =
    leg.chain.streamUsage === 'inject' && dialect.protocol === 'chat' ? usageInjection(call.scan) : undefined
  const opening = { leg, dialect, injection }
  if (call.scan.form !== undefined) {
    const { chunks, stored } = call.body
    const edits = formModelEdits(call.scan.modelSpans, leg.chain.forwardModelId)
    const body = spliceChunks(stored === undefined ? chunks : [...chunks, stored], edits)
    return opened(new PassedLane(pipeline, call, opening, body))
  }
  if (isEdited(call, dialect)) return openEdited(pipeline, call, opening)
  const edits = editsOf(call, leg.chain, injection)
  return opened(new PassedLane(pipeline, call, opening, spliceChunks(call.body.chunks, edits)))
}

function editsOf(
  { scan }: Pick<ReservedCall, 'scan'>,
  { forwardModelId }: Leg['chain'],
  injection: Opening['injection'],
): readonly Edit[] {
  const named = modelEdits(scan.modelSpans, forwardModelId)
  if (scan.resourceSpans.length === 0 && injection === undefined) return named
  const paths = modelEdits(scan.resourceSpans, `models/${forwardModelId}`)
  return injection === undefined ? [...named, ...paths] : [...named, ...paths, injection]
}

function openEdited(
  pipeline: PassthroughLaneParts,
  call: ReservedCall,
  opening: Opening,
): OpenedLane | Promise<OpenedLane> {
  const { leg, dialect } = opening
  const { bodyBytes, values } = call.scan
  const size = { bytes: bodyBytes, values }
  const openOn = (rewritten: Rewritten | Refusal): OpenedLane =>
    'refused' in rewritten
      ? unconvertible(rewritten.refused)
      : opened(new PassedLane(pipeline, call, { ...opening, rewritten }, rewritten.body))
  const openNear = (): OpenedLane => openOn(rewrittenNear(call, leg, dialect))
  if (isNear(size)) return pipeline.conversions.turn(size)?.then(openNear) ?? openNear()
  return rewrittenFar(pipeline, call, leg).then(openOn)
}

function opened(lane: Lane): OpenedLane {
  return { kind: 'open', lane }
}

/** Why this vendor cannot take the request. */
interface Refusal {
  /** The reason, for the client. */
  readonly refused: string
}

/** The wire form of its requests and answers is the client's, unless the vendor has a form of its own. */
type LaneDialect = WireDialect & Pick<PassedDialect, 'rewrite'>

interface Opening {
  readonly leg: Leg
  readonly dialect: LaneDialect
  readonly injection: ReturnType<typeof usageInjection>
  /** Absent: the body is the client's own. */
  readonly rewritten?: Rewritten | undefined
}

export interface Rewritten extends Pick<RewrittenRequest, 'dropped' | 'context'> {
  readonly body: SplicedBody
}

/** For a request that has been rewritten already. */
export function openRewritten(
  pipeline: PassthroughLaneParts,
  call: ReservedCall,
  { leg, dialect }: Pick<Opening, 'leg' | 'dialect'>,
  rewritten: Rewritten,
): Lane {
  return new PassedLane(pipeline, call, { leg, dialect, injection: undefined, rewritten }, rewritten.body)
}

class PassedLane implements Lane {
  readonly body: Lane['body']
  readonly bodyLength: number
  readonly dropped: readonly string[]
  readonly passesStreams: boolean
  readonly #pipeline: PassthroughLaneParts
  readonly #call: ReservedCall
  readonly #opening: Opening
  readonly #metering: CallMeter

  constructor(
    pipeline: PassthroughLaneParts,
    call: ReservedCall,
    opening: Opening,
    { chunks, length }: SplicedBody<BodyPiece>,
  ) {
    const { dialect, rewritten } = opening
    this.body = chunks
    this.bodyLength = length
    this.dropped = rewritten?.dropped ?? NOTHING_DROPPED
    // A form without streams only has documents as answers, and a vendor's own events are not the client's.
    this.passesStreams = wireOf(dialect.protocol).answers.streams && dialect.rewrite === undefined
    this.#pipeline = pipeline
    this.#call = call
    this.#opening = opening
    this.#metering = new CallMeter(pipeline, call)
  }

  inputEstimated(): boolean {
    return this.#metering.inputEstimated
  }

  openStream(): StreamLane {
    return new PassedStream(this.#passing())
  }

  openWhole(type?: string): WholeLane {
    const { dialect, rewritten } = this.#opening
    const call = this.#call
    if ((rewritten === undefined || dialect.rewrite?.passesBytes === true) && passesBytes(call, type))
      return new PassedBytes(this.#metering.meter)
    const passing = this.#passing()
    const whole =
      dialect.rewrite !== undefined || isAnswer(call) ? new PassedWhole(passing) : new NoAnswer(passing)
    return answerLane(this.#pipeline, call, this.#opening, whole)
  }

  #passing(): Passing {
    const { leg, dialect, injection } = this.#opening
    return {
      wire: wireOf(dialect.protocol),
      model: leg.model.modelId,
      metering: this.#metering,
      removeUsageChunk: injection !== undefined,
      keeps: keepsAnswers(dialect.protocol) && !this.#call.scan.forget,
      call: this.#call,
    }
  }
}

const NOTHING_DROPPED: readonly string[] = []

/** In such a form a document is not an answer: it is an error, or a page of a proxy in between. */
const DOCUMENT = /^(?:application\/(?:[^;\s]+\+)?json|text\/html)\b/i
/** Nor is any text, where all answers are sound. */
const WORDS = /^(?:text\/|application\/(?:[^;\s]+\+)?xml\b)/i

function passesBytes({ endpoint }: ReservedCall, contentType = ''): boolean {
  const inBytes = endpoint.kind.form?.answersInBytes
  if (inBytes === undefined || DOCUMENT.test(contentType)) return false
  return inBytes === 'too' || !WORDS.test(contentType)
}

/** If answers are bytes only, a document is searched for an error and never passed on. */
function isAnswer({ endpoint }: ReservedCall): boolean {
  return endpoint.kind.form?.answersInBytes !== 'only'
}

function answerLane(
  pipeline: Pick<Pipeline, 'conversions' | 'fetchRemote'>,
  call: ReservedCall,
  { leg, dialect, rewritten }: Pick<Opening, 'leg' | 'dialect' | 'rewritten'>,
  passed: WholeLane,
): WholeLane {
  const { protocol, rewrite } = dialect
  if (rewrite === undefined || rewritten === undefined || !isPassedForm(protocol)) return passed
  const { context } = rewritten
  return new RewrittenWhole(passed, {
    near: (body) => rewriteAnswer(body, rewrite, context),
    far: (body) =>
      pipeline.conversions.runAnswer(
        {
          kind: 'rewrite',
          body,
          vendorKind: upstreamOf(leg, call.catalogue).vendor.kind,
          protocol,
          context,
        },
        call.account.id,
      ),
    withPictures:
      rewrite.linkedPictures === true && context['bytes'] === true
        ? (answer) => withPictures(answer, (urls) => fetchPictures(pipeline, call, urls))
        : undefined,
  })
}

interface Passing {
  readonly wire: WireForm
  readonly model: string
  readonly metering: CallMeter
  readonly removeUsageChunk: boolean
  /** The upstream stores the answer, and the client may continue from it. */
  readonly keeps: boolean
  readonly call: Pick<ReservedCall, 'callId' | 'at'>
}

/**
 * Only if a vendor's body must differ in more than the model's name is it parsed; otherwise the same bytes are sent.
 */
function isEdited(call: ReservedCall, { bodyEdit, rewrite, modelPlace }: LaneDialect): boolean {
  if (bodyEdit !== undefined || rewrite !== undefined) return true
  return modelPlace === 'path' && call.scan.modelSpans.length > 0
}

function rewrittenNear(call: ReservedCall, leg: Leg, dialect: LaneDialect): Rewritten | Refusal {
  const parsed = parseJson(Buffer.concat(call.body.chunks))
  if (!isJsonObject(parsed)) throw new Error('a scanned body is no JSON object')
  const refused = refusalOf({ fields: parsed, files: [], soundSeconds: 0 }, dialect, {
    model: leg.chain.forwardModelId,
    path: call.endpoint.path,
  })
  if (refused !== undefined) return { refused }
  const { body, ...rest } = rewriteBody(parsed, dialect, leg.chain.forwardModelId)
  const bytes = Buffer.from(JSON.stringify(body))
  return { ...rest, body: { chunks: [bytes], length: bytes.byteLength } }
}

async function rewrittenFar(
  pipeline: Pick<Pipeline, 'conversions'>,
  call: ReservedCall,
  leg: Leg,
): Promise<Rewritten | Refusal> {
  const result = await pipeline.conversions.run(
    {
      kind: 'edit',
      body: await sharedBody(call.body),
      vendorKind: upstreamOf(leg, call.catalogue).vendor.kind,
      protocol: call.endpoint.protocol,
      path: call.endpoint.path,
      forwardModelId: leg.chain.forwardModelId,
    },
    { accountId: call.account.id },
  )
  if (result.kind === 'refused') return { refused: result.message }
  if (result.kind !== 'edited') throw new Error(`an edit ended as ${result.kind}`)
  const { body, dropped, context } = result
  return { dropped, context, body: { chunks: [body], length: body.byteLength } }
}

class PassedStream implements StreamLane {
  readonly contentType = 'text/event-stream; charset=utf-8'
  readonly #passing: Passing
  readonly #tap: StreamTap
  #told = false

  constructor(passing: Passing) {
    this.#passing = passing
    this.#tap = createStreamTap(passing.wire.answers, {
      replacementModel: passing.model,
      meter: passing.metering.meter,
      removeUsageChunk: passing.removeUsageChunk,
      decodeError: (raw) => passing.wire.decodeError(undefined, raw),
    })
  }

  push(chunk: Uint8Array): StreamStep {
    const output = this.#tap.push(chunk)
    const { meaningful, terminated, closed } = this.#tap.observed
    const failure = this.#failure()
    if (!closed) return { output, meaningful, stage: terminated ? 'finishing' : 'flowing', failure }
    // The end by which clients recognise success is sent now, even if the upstream is slow to close.
    const rest = this.#tap.finish().output
    return {
      output: rest.length === 0 ? output : [...output, ...rest],
      meaningful,
      stage: 'finished',
      failure,
    }
  }

  end(): StreamStep {
    const { kind, output } = this.#tap.finish()
    const failure = this.#failure() ?? (kind === 'cut' ? { kind: 'cut' as const } : undefined)
    return { output, meaningful: this.#tap.observed.meaningful, stage: 'finished', failure }
  }

  keepAlive(): Bytes | undefined {
    return this.#passing.wire.breaks.keepAlive
  }

  get keepAliveBytes(): number {
    return this.#tap.observed.keepAliveBytes
  }

  failure(failure: StreamFailure): Bytes {
    const { answerId, sequenceNumber } = this.#tap.observed
    const { wire, model, call } = this.#passing
    return wire.breaks.failure(failure, {
      model,
      responseId: answerId ?? `resp_${call.callId}`,
      sequenceNumber: sequenceNumber + 1,
      createdAt: Math.floor(call.at / 1_000),
    })
  }

  kept(): KeptAnswer | undefined {
    return keptAnswer(this.#passing, this.#tap.observed.answerId)
  }

  get meter(): LaneMeter {
    return this.#passing.metering.meter
  }

  /** An error that the upstream sent inside its stream counts once; the event itself has been passed on. */
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
  protected readonly isAnswer: boolean = true

  constructor(passing: Passing) {
    this.#passing = passing
    this.#tap = createBodyTap(passing.wire.answers, {
      replacementModel: passing.model,
      meter: passing.metering.meter,
      decodeError: (raw) => passing.wire.decodeError(undefined, raw),
    })
  }

  push(chunk: Uint8Array): readonly Bytes[] {
    const output = this.#tap.push(chunk)
    return this.isAnswer ? output : []
  }

  end(): ReturnType<WholeLane['end']> {
    const { kind, output } = this.#tap.finish()
    switch (kind) {
      case 'complete':
        if (!this.isAnswer) return { output: [], failure: { kind: 'cut' } }
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

  get meter(): LaneMeter {
    return this.#passing.metering.meter
  }
}

class NoAnswer extends PassedWhole {
  protected override readonly isAnswer = false
}

function keptAnswer({ keeps }: Passing, id: string | undefined): KeptAnswer | undefined {
  return keeps && id !== undefined ? { kind: 'id', id } : undefined
}
