/**
 * The end of a reserved call, whatever it was: settled or abandoned exactly once, logged, and everything that it holds
 * given back. One `try/catch/finally` holds it, so no fault of the gateway leaves a hold, a gauge, the bytes of a body
 * or a concurrency slot behind, and none makes an answer free.
 */
import type { CallLogRow } from '../../core/ledger/log-row.ts'
import { makesOutputTokens } from '../../core/catalogue.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { MeterReading } from '../../core/metering/meter.ts'
import type { MadeExtras } from '../../core/pricing/surcharges.ts'
import { StorageUnavailable } from '../../storage/failures/unavailable.ts'
import { quietly } from '../../telemetry/background.ts'
import { endThenTell } from '../stages/end-then-tell.ts'
import { type EndedRow, type SettleParts, abandon, settle } from '../stages/settle.ts'
import type { ReservedCall } from '../call.ts'
import { coversAll, readingOf } from '../stages/charged-reading.ts'
import { codeAndMessage } from '../stages/log-row.ts'
import { answerFailure } from './deliver-failure.ts'
import { tasksOf } from './send-leg.ts'
import { upstreamOf } from '../attempt/dialect.ts'
import type { Exchange } from './exchange.ts'
import type { Ended } from './exchange-outcome.ts'
import type { Pipeline } from '../context.ts'
import { remember, turnOf } from '../stages/recall.ts'
import type { ClientReply } from '../reply.ts'
import type { NewTurn } from '../instance/turn-keeper.ts'
import type { Leg } from '../attempt/leg.ts'
import type { Attempted } from '../attempt/attempt-outcome.ts'
import { judgeEnding } from '../attempt/attempt.ts'
import { endedRecords } from '../attempt/try-routes.ts'

export type LeaveParts = SettleParts & Pick<Pipeline, 'observations' | 'turns'>

/**
 * Runs a reserved call to its end. Never rejects.
 * @param attempt tries its chains until one begins to answer
 */
export async function runReserved(
  pipeline: LeaveParts,
  call: ReservedCall,
  reply: ClientReply,
  attempt: () => Promise<Attempted>,
): Promise<void> {
  const { metrics } = pipeline.telemetry
  const { held } = call.reservation
  const run: Run = { pipeline, call, reply, attempted: undefined, ended: undefined }
  let counted = false
  try {
    metrics.callReserved(held)
    counted = true
    run.attempted = await attempt()
    await leave(run, run.attempted)
  } catch (error) {
    await leaveBroken(run, error)
  } finally {
    quietly(pipeline, call, 'end an answer', () => exchangeOf(run)?.release())
    if (counted) quietly(pipeline, call, 'count a closed call', () => metrics.callReleased(held))
    call.body.release()
    call.body.memory?.giveBack()
  }
}

/** What is known about a call before its end, for the code that ends it when something fails. */
interface Run {
  readonly pipeline: LeaveParts
  readonly call: ReservedCall
  readonly reply: ClientReply
  attempted: Attempted | undefined
  ended: Ended | undefined
}

function exchangeOf({ attempted }: Run): Exchange | undefined {
  return attempted?.kind === 'answering' || attempted?.kind === 'gone' ? attempted.exchange : undefined
}

function leave(run: Run, attempted: Attempted): Promise<void> {
  const { pipeline, call, reply } = run
  const { sent, records: attempts } = attempted
  switch (attempted.kind) {
    case 'answering':
    case 'gone':
      return leaveAnswered(run, attempted)
    case 'failed': {
      if (reply.gone) return abandon(pipeline, call, { sent, row: { ...UNANSWERED, attempts } })
      const { shown, send } = answerFailure(call, attempted.failure)
      const row = { ...shown, attempts, ending: endingOf(shown) }
      return endThenTell(pipeline, call, reply, {
        end: () => abandon(pipeline, call, { sent, row }),
        tell: () => send(reply),
      })
    }
    case 'stopped':
      return refuseNow(run, { error: stopping(), row: { attempts, ending: 'stopped' }, sent })
    case 'broken':
      pipeline.telemetry.log.error(
        { requestId: call.requestId, error: attempted.error },
        'a call failed inside the gateway',
      )
      return refuseNow(run, { error: asGatewayError(attempted.error), row: { attempts }, sent })
  }
}

/** The client disconnected and received nothing. */
const UNANSWERED = { httpStatus: 499, clientGone: true, ending: 'client-gone' } as const

function stopping(): GatewayError {
  return new GatewayError(50301, { message: 'the gateway is shutting down', retryAfterMs: 1_000 })
}

function endingOf({ code }: Pick<CallLogRow, 'code'>): CallLogRow['ending'] {
  return code === 50401 ? 'timeout' : 'upstream-error'
}

/** Nothing has reached the client yet: it gets an error with the reason. */
function refuseNow(
  { pipeline, call, reply }: Run,
  refused: { readonly error: GatewayError; readonly row: Partial<CallLogRow>; readonly sent: boolean },
): Promise<void> {
  const { error, sent } = refused
  const row = {
    httpStatus: error.status,
    ...codeAndMessage(error),
    ending: 'gateway-error',
    clientGone: reply.gone,
    ...refused.row,
  } as const
  return endThenTell(pipeline, call, reply, {
    end: () => abandon(pipeline, call, { sent, row }),
    tell: () => reply.fail(error, call),
  })
}

type AnsweredRun = Extract<Attempted, { readonly exchange: Exchange }>

async function leaveAnswered(run: Run, attempted: AnsweredRun): Promise<void> {
  const { pipeline, call } = run
  const { leg, exchange } = attempted
  const ended = await exchange.ended
  run.ended = ended
  quietly(pipeline, call, 'note how an answer ended', () => observe(pipeline, call, { leg, ended }))
  // Its request is read before the call releases it; only what was charged is kept, because it can be read again.
  let kept: NewTurn | undefined
  if (ended.ending === 'complete')
    quietly(pipeline, call, 'prepare an answer for keeping', () => {
      kept = turnOf(pipeline, call, { leg, exchange })
    })
  const charged = await charge(run, attempted, ended)
  if (kept !== undefined && charged !== undefined) remember(pipeline, kept, charged)
}

/** What was charged; undefined: nothing, or the store has not taken it yet. */
function charge(
  { pipeline, call, reply }: Run,
  attempted: AnsweredRun,
  ended: Ended,
): Promise<MeterReading | undefined> {
  const { leg, exchange, sent } = attempted
  const row = answeredRow(pipeline, { call, reply }, attempted, ended)
  const reading = readingOf(pipeline, call, { leg, ended })
  if (reading === undefined) return abandon(pipeline, call, { sent, row }).then(() => undefined)
  return settle(pipeline, call, {
    leg,
    reading,
    inputEstimated: exchange.lane.inputEstimated(),
    extras: { told: ended.extras, sent: exchange.lane.sentExtras, extent: extentOf(ended) },
    answerBytes: exchange.answerBytes,
    row,
    onTried: () => exchange.release(),
  }).then((settled) => (settled ? reading : undefined))
}

/** An answer that ended well for its client is whole, even if its vendor would have continued. */
function extentOf({ ending, generation }: Ended): MadeExtras['extent'] {
  if (ending === 'complete') return 'whole'
  return generation === 'none' ? 'broken' : generation
}

/** A shorter time says nothing about the model's speed: the answer came from a cache. */
const OBSERVED_MS_LEAST = 250

/** What an answer shows about its chain: how fast it generates, and whether it respects token caps. */
function observe(
  pipeline: Pick<Pipeline, 'observations'>,
  call: ReservedCall,
  { leg, ended }: { readonly leg: Leg; readonly ended: Ended },
): void {
  const { generation, reading, reportedOutput, generatedMs, unhindered } = ended
  if (generation !== 'whole' || reading === undefined || reportedOutput === undefined) return
  if (!makesOutputTokens(leg.chain.protocol)) return
  if (!coversAll(ended, reading)) return
  const timely = unhindered && generatedMs >= OBSERVED_MS_LEAST
  const { maxOutputTokens, candidates } = call.scan
  pipeline.observations.finished(leg.chain.id, {
    outputTokens: reportedOutput,
    // Not a number: the time is not the upstream's own, so the rate is not updated.
    generatedMs: timely ? generatedMs : Number.NaN,
    tokenCap: maxOutputTokens === undefined ? undefined : maxOutputTokens * (candidates ?? 1),
  })
}

function answeredRow(
  pipeline: Pick<Pipeline, 'now'>,
  { call, reply }: Pick<Run, 'call' | 'reply'>,
  { kind, leg, exchange, records }: AnsweredRun,
  ended: Ended,
): EndedRow {
  const { ending, code, message } = ended
  const endedAt = pipeline.now()
  const judged = judgeEnding(call.catalogue, leg, { ending, trouble: exchange.trouble }, endedAt)
  const broke =
    typeof judged === 'string' ? undefined : { outcome: judged.failure.kind, said: judged.note.message }
  return {
    endedAt,
    durationMs: endedAt - call.at,
    upstreamProtocol: leg.chain.protocol,
    model: leg.model.modelId,
    vendorCode: leg.chain.vendorCode,
    chainId: leg.chain.id,
    httpStatus: kind === 'gone' ? 499 : exchange.status,
    clientGone: reply.gone,
    code,
    message: message ?? (kind === 'gone' ? abandonedTask(call, leg, ended) : undefined),
    byok: leg.byok,
    droppedFields: exchange.lane.dropped,
    firstByteMs: exchange.firstByteAt === undefined ? undefined : exchange.firstByteAt - call.at,
    attempts: endedRecords(records, endedAt - call.at, broke),
    ending,
  }
}

/** Why a task that its client has left is charged by what was requested; undefined: it is not. */
function abandonedTask(call: ReservedCall, leg: Leg, { generation }: Ended): string | undefined {
  if (generation !== 'cut') return undefined
  const { dialect } = upstreamOf(leg, call.catalogue, call.endpoint)
  return tasksOf(dialect, leg) === undefined ? undefined : TASK_ABANDONED
}

const TASK_ABANDONED =
  'the client left, and the task was not followed to its end: what was requested is charged'

/** Something inside the gateway failed before the end. The call still ends, with the best figures known. */
async function leaveBroken(run: Run, error: unknown): Promise<void> {
  const { pipeline, call, reply, attempted, ended } = run
  pipeline.telemetry.log.error({ requestId: call.requestId, error }, 'a call failed inside the gateway')
  try {
    if (attempted?.kind === 'answering' || attempted?.kind === 'gone') {
      const known = ended ?? (await attempted.exchange.ended)
      await charge(run, attempted, { ...known, ending: 'gateway-error' })
      return
    }
    await refuseNow(run, {
      error: asGatewayError(error),
      row: { attempts: attempted?.records ?? [] },
      sent: attempted?.sent ?? true,
    })
  } catch (again) {
    pipeline.telemetry.log.error(
      { requestId: call.requestId, error: again },
      'a call could not be charged; what it holds is given back',
    )
    try {
      await abandon(pipeline, call, {
        sent: true,
        row: { httpStatus: 500, code: 50000, ending: 'gateway-error' },
      })
    } finally {
      if (!reply.started) reply.destroy()
    }
  }
}

export function asGatewayError(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error
  if (error instanceof StorageUnavailable)
    return new GatewayError(50301, { cause: error, retryAfterMs: 1_000 })
  return new GatewayError(50000, { cause: error })
}
