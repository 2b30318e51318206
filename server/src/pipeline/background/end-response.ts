/**
 * The end of a background response: its answer is written first, under a secret name, and becomes readable with the
 * charge, in the transaction that settles its call. If two processes end it, the second changes nothing, and the answer
 * it wrote is never shown.
 */
import { randomBytes } from 'node:crypto'
import type { CallLogRow } from '../../core/ledger/log-row.ts'
import type { VideoEnd } from '../../core/ledger/operations.ts'
import { NO_USAGE } from '../../core/canonical/usage.ts'
import { createMeter, type MeterReading } from '../../core/metering/meter.ts'
import { boundUsage, type PossibleUsage, ROUNDS_OF_TOOLS } from '../../core/metering/possible-usage.ts'
import { madeIn, NOTHING_MADE, NOTHING_USED } from '../../core/metering/quantities.ts'
import type { ModelId } from '../../core/ids.ts'
import { createBodyTap } from '../../core/passthrough/body-tap.ts'
import { watchExtras } from '../../core/passthrough/extras-watch.ts'
import { priceCall } from '../../core/pricing/price.ts'
import type { MadeExtras } from '../../core/pricing/surcharges.ts'
import { protocolOf } from '../../core/protocols/index.ts'
import type { VideoTaskPatch } from '../../core/video/task.ts'
import { freeMonthAt, monthStartAt, persist } from '../stages/persist.ts'
import { frozenTerms } from '../stages/settle.ts'
import type { Pipeline } from '../context.ts'
import { TURN_LIFE_MS } from '../instance/turn-keeper.ts'
import { ANSWER_NAME } from './answer-name.ts'
import { readResponse } from './response-object.ts'
import { quietly } from '../../telemetry/background.ts'
import { logRow, announceEnd, faultLogger, type EndTaskParts } from '../video/task/end-task.ts'
import { inPieces } from '../video/order/in-pieces.ts'
import type { OpenTask } from '../video/order/open-task.ts'
import { gatewayFailure } from '../video/task/task-error.ts'
import type { AnsweredStep } from '../video/task/task-dialect.ts'

export type EndResponseParts = EndTaskParts & Pick<Pipeline, 'catalogue' | 'observations' | 'tokens'>

/**
 * Settles by the usage that the upstream reports; if it reports none, by what the answer shows and the time it took.
 */
export async function endResponse(
  pipeline: EndResponseParts,
  open: OpenTask,
  { response, bytes: came, state }: Pick<AnsweredStep, 'response' | 'bytes' | 'state'>,
): Promise<void> {
  const status = readResponse(response)?.status ?? 'failed'
  // As received except for the model's name: rewriting a large one would take long.
  const bytes =
    typeof response['model'] === 'string' && came !== undefined
      ? came
      : Buffer.from(JSON.stringify({ ...response, model: open.task.modelId }))
  const { reading, body } = await readAnswer(pipeline, open, { bytes, status })
  const made = { reading, answerBytes: bytes.byteLength, extras: await extrasOf(bytes, status) }
  const answer = await keepAnswer(pipeline, open, body)
  const at = pipeline.now()
  const patch: VideoTaskPatch = {
    status: status === 'failed' ? 'failed' : 'completed',
    progress: 100,
    completedAt: at,
    dueAt: at,
    error: undefined,
    state: { id: state['id'] ?? null, offline: 'made' in state, [ANSWER_NAME]: answer },
    lastAnswer: status,
  }
  const ended = {
    at,
    task: { id: open.task.id, patch },
    log: {
      ...logRow(pipeline, open, at),
      httpStatus: 200,
      ending: status === 'failed' ? ('upstream-error' as const) : ('complete' as const),
    },
  }
  const done =
    reading === undefined
      ? await giveBack(pipeline, open, ended)
      : await charge(pipeline, open, ended, { ...made, reading })
  if (done) await announceEnd(pipeline, open, undefined)
}

/** It was neither cancelled nor ended: its answer is never shown, but what its upstream has produced by now is charged. */
export async function endUncancelled(pipeline: EndResponseParts, open: OpenTask): Promise<void> {
  const { task, detail } = open
  const { inputTokens, outputTokensMax } = detail.response ?? NOTHING
  const at = pipeline.now()
  const error = gatewayFailure(50401, { message: NEVER_ENDED, accepted: true })
  const patch: VideoTaskPatch = { status: 'failed', completedAt: at, dueAt: at, error }
  const log = {
    ...logRow(pipeline, open, at),
    httpStatus: error.status,
    code: error.gatewayCode,
    ending: 'timeout' as const,
  }
  const none: MeterReading = {
    ...NOTHING_MADE,
    usage: { ...NO_USAGE, input: inputTokens },
    source: 'estimated',
    produced: true,
  }
  const output = generated(pipeline, open, none, outputTokensMax)
  const reading = { ...none, usage: { ...none.usage, output } }
  const extras: MadeExtras = { told: undefined, sent: undefined, extent: 'cut' }
  const ended = { at, task: { id: task.id, patch }, log }
  if (await charge(pipeline, open, ended, { reading, answerBytes: 0, extras }))
    await announceEnd(pipeline, open, undefined)
}

const NEVER_ENDED =
  'the provider neither finished the response nor cancelled it; what it made is charged by an estimate'

interface Ended {
  readonly at: number
  readonly task: VideoEnd
  readonly log: CallLogRow
}

/** False: the store could not record it yet. */
async function giveBack(
  pipeline: EndResponseParts,
  { task, detail }: OpenTask,
  ended: Ended,
): Promise<boolean> {
  const { callId, keyId, accountId } = task
  const monthStart = freeMonthAt(pipeline, callId, { at: ended.at, timezone: detail.timezone })
  const done = await persist(pipeline, {
    kind: 'abandon',
    callId,
    keyId,
    accountId,
    monthStart,
    sent: true,
    ...ended,
  })
  return done !== undefined
}

async function charge(
  pipeline: EndResponseParts,
  { task, detail }: OpenTask,
  ended: Ended,
  made: { readonly reading: MeterReading; readonly answerBytes: number; readonly extras: MadeExtras },
): Promise<boolean> {
  const { chainId, callId, keyId, accountId, modelId, byok } = task
  if (chainId === undefined) throw new Error(`task ${task.id} was answered by no chain`)
  const { images, source: usageSource } = made.reading
  const { usage, suspect: usageSuspect } = possibleUsage(pipeline, modelId, made)
  const onFault = faultLogger(pipeline, { task, detail })
  const used = { ...NOTHING_USED, ...madeIn(made.reading), usage }
  const { recipe, amount } = priceCall(used, {
    terms: frozenTerms(pipeline, detail.terms, onFault),
    chainId,
    userRate: detail.userRate,
    made: made.extras,
  })
  const log: CallLogRow = { ...ended.log, usage, usageSource, usageSuspect, images, recipe, amount }
  const outcome = await persist(pipeline, {
    kind: 'settle',
    callId,
    keyId,
    accountId,
    at: ended.at,
    monthStart: monthStartAt(pipeline, { at: ended.at, timezone: detail.timezone }, onFault),
    modelId,
    byok,
    credentialId: byok ? undefined : detail.credentialId,
    recipe,
    amount,
    used,
    log,
    task: ended.task,
  })
  if (outcome === undefined) return false
  if (outcome.first)
    quietly(pipeline, log, 'count an ended call', () => pipeline.observeEnd(log, outcome.deducted))
  return true
}

/** The request is not kept and may have offered hosted tools: the model's own limits apply to all their rounds. */
function possibleUsage(
  pipeline: Pick<Pipeline, 'catalogue'>,
  modelId: ModelId,
  { reading, answerBytes }: { readonly reading: MeterReading; readonly answerBytes: number },
): PossibleUsage {
  const model = pipeline.catalogue().models.get(modelId)
  return boundUsage(reading.usage, {
    contextTokens: model?.contextTokens,
    maxOutputTokens: model?.maxOutputTokens,
    candidates: 1,
    requestBytes: 0,
    answerBytes,
    rounds: ROUNDS_OF_TOOLS + 1,
  })
}

/** Readable only by its name, and never replaced. */
async function keepAnswer(
  pipeline: Pick<Pipeline, 'now' | 'storage'>,
  { task }: OpenTask,
  body: readonly Uint8Array[],
): Promise<string> {
  const name = `answer ${randomBytes(18).toString('hex')}`
  const at = pipeline.now()
  await pipeline.storage.turns.put([
    {
      keyId: task.keyId,
      responseId: name,
      previousId: undefined,
      modelId: task.modelId,
      createdAt: at,
      expiresAt: Math.max(task.expiresAt, at + TURN_LIFE_MS),
      content: { kind: 'kept', body },
    },
  ])
  return name
}

interface ReadAnswer {
  /** What is charged; undefined: nothing is known to have been produced. */
  readonly reading: MeterReading | undefined
  /** JSON of the response, its model under its platform id, in pieces. */
  readonly body: readonly Uint8Array[]
}

async function readAnswer(
  pipeline: EndResponseParts,
  { task, detail }: OpenTask,
  { bytes, status }: { readonly bytes: Uint8Array; readonly status: string },
): Promise<ReadAnswer> {
  const { inputTokens } = detail.response ?? NOTHING
  const meter = createMeter({
    countTokens: (text) => pipeline.tokens.count(text),
    countInput: () => inputTokens,
    inputTokensEstimate: inputTokens,
  })
  const tap = createBodyTap('responses', {
    replacementModel: task.modelId,
    meter,
    decodeError: (raw) => protocolOf('responses').decodeError(undefined, raw),
  })
  const body: Uint8Array[] = []
  for await (const piece of inPieces(bytes)) body.push(...tap.push(piece))
  body.push(...tap.finish().output)
  return { reading: chargedOf(pipeline, { task, detail }, meter.read(), status), body }
}

function chargedOf(
  pipeline: EndResponseParts,
  { task, detail }: OpenTask,
  reading: MeterReading,
  status: string,
): MeterReading | undefined {
  const { outputTokensMax } = detail.response ?? NOTHING
  if (reading.source === 'upstream') return reading
  const seen = (reading.usage.output ?? 0) > 0 || reading.images > 0
  // No vendor bills a failure without content, and nothing is produced while a response waits in its queue.
  if (!seen && (status === 'failed' || (status === 'cancelled' && task.status === 'queued'))) return undefined
  return {
    ...reading,
    usage: { ...reading.usage, output: generated(pipeline, { task, detail }, reading, outputTokensMax) },
  }
}

/** A response that was cancelled may have used more than it shows. */
async function extrasOf(bytes: Uint8Array, status: string): Promise<MadeExtras> {
  const watch = watchExtras('responses')
  watch.begin('whole')
  for await (const piece of inPieces(bytes)) watch.push(piece)
  const extent = status === 'failed' ? 'broken' : status === 'cancelled' ? 'cut' : 'whole'
  return { told: watch.read(), sent: undefined, extent }
}

const NOTHING = { inputTokens: 0, outputTokensMax: 0 }

/**
 * Tokens an interrupted answer has cost: what was seen of it, or what the chain produces in that time, whichever is
 * more.
 */
function generated(
  pipeline: EndResponseParts,
  { task }: OpenTask,
  { usage }: MeterReading,
  outputTokensMax: number,
): number {
  const model = pipeline.catalogue().models.get(task.modelId)
  if (task.chainId === undefined) return usage.output ?? 0
  const rate = pipeline.observations.expectedRate(model ?? { chains: [] }, task.chainId)
  const byTime = Math.ceil((rate * (pipeline.now() - task.createdAt)) / 1_000)
  return Math.max(usage.output ?? 0, Math.min(byTime, outputTokensMax))
}
