import { explainedMessage, type GatewayError } from '../../core/errors/gateway-error.ts'
import { type CallLogRow, EMPTY_LOG_ROW } from '../../core/ledger/log-row.ts'
import {
  type AbandonOperation,
  type Demand,
  type DoneOutcome,
  type SettleOperation,
  type SettleOutcome,
} from '../../core/ledger/operations.ts'
import type { Usage } from '../../core/canonical/usage.ts'
import type { MeterReading } from '../../core/metering/meter.ts'
import { madeIn, NOTHING_USED, type Used } from '../../core/metering/quantities.ts'
import { MICRO_CREDITS_PER_CREDIT, type MicroCredits } from '../../core/money.ts'
import { type PricedCall, priceCall } from '../../core/pricing/price.ts'
import type { MadeExtras } from '../../core/pricing/surcharges.ts'
import type { LoggedCall, ReservedCall } from '../call.ts'
import { estimateInputTokens } from '../instance/count-tokens.ts'
import type { Pipeline } from '../context.ts'
import { possibleUsage } from './charged-reading.ts'
import type { Recipe } from '../../core/ledger/recipe.ts'
import type { Leg } from '../attempt/leg.ts'
import { StorageUnavailable } from '../../storage/failures/unavailable.ts'
import { readTerms } from '../../core/pricing/read-terms.ts'
import type { PriceTerms } from '../../core/pricing/terms.ts'

export type SettleParts = PersistParts & Pick<Pipeline, 'now' | 'observeEnd' | 'terms' | 'tokens'>

/** What an answer's end says of its call. */
export type EndedRow = Partial<CallLogRow> & Pick<CallLogRow, 'ending'>

export interface Answered {
  readonly leg: Leg
  readonly reading: MeterReading
  readonly inputEstimated: boolean
  readonly extras: MadeExtras
  /** As far as they came. */
  readonly answerBytes: number
  readonly row: EndedRow
  /** The charge is on disk, or cannot be put there now. */
  readonly onTried: () => void
}

/**
 * Prices the call at the model actually used and books charge, windows, slot and log row in one storage verb. What fails
 * on the way is replaced by the next best that is known, and the row says `gateway-error`: an answer is never free because
 * of a fault of ours. False: the store has not taken it yet.
 */
export async function settle(pipeline: SettleParts, call: ReservedCall, answer: Answered): Promise<boolean> {
  const { leg, reading } = answer
  const faults: unknown[] = []
  const told = answer.inputEstimated ? await withCountedInput(pipeline, call, answer, faults) : reading.usage
  const { usage, suspect } = possibleUsage(call, answer, told)
  call.body.release()
  const used: Used = { ...NOTHING_USED, ...demandOf(call, leg).estimate.pieces, ...madeIn(reading), usage }
  const { recipe, amount } = priced(pipeline, call, { used, ...answer }, faults)
  const at = pipeline.now()
  const { timezone } = call.catalogue.settings
  const monthStart = monthStartAt(pipeline, { at, timezone }, (error) => faults.push(error))
  for (const error of faults) {
    pipeline.telemetry.log.error(
      { requestId: call.requestId, error },
      'a call is charged by the next best that is known',
    )
  }
  const log = baseLogRow(call, at, answer.row, {
    ending: faults.length === 0 ? answer.row.ending : 'gateway-error',
    usage,
    usageSource: reading.source,
    usageSuspect: suspect,
    images: used.images,
    characters: used.characters,
    audioSeconds: used.audioSeconds,
    recipe,
    amount,
  })
  const charge: SettleOperation = {
    kind: 'settle',
    callId: call.callId,
    keyId: call.key.id,
    accountId: call.account.id,
    at,
    monthStart,
    modelId: leg.model.modelId,
    byok: leg.byok,
    credentialId: leg.byok ? undefined : leg.chain.credentialId,
    recipe,
    amount,
    used,
    log,
  }
  const outcome = await persist(pipeline, charge, answer.onTried)
  quietly(pipeline, call, 'count an ended call', () =>
    // What was written before tells no amount: the row knows it.
    pipeline.observeEnd(outcome?.first === true ? { ...log, deducted: outcome.deducted } : log),
  )
  return outcome !== undefined
}

/** Input is counted where the upstream told none; the quick estimate of the hold stands in where it cannot be. */
async function withCountedInput(
  pipeline: Pick<Pipeline, 'tokens'>,
  call: ReservedCall,
  { reading }: Answered,
  faults: unknown[],
): Promise<Usage> {
  try {
    return { ...reading.usage, input: await estimateInputTokens(pipeline, call) }
  } catch (error) {
    faults.push(error)
    return reading.usage
  }
}

function demandOf(call: ReservedCall, { model }: Leg): Demand {
  return (model === call.fallback ? call.fallbackDemand : undefined) ?? call.demand
}

function priced(
  pipeline: Pick<Pipeline, 'terms'>,
  call: ReservedCall,
  made: Pick<Answered, 'leg' | 'extras'> & { readonly used: Used },
  faults: unknown[],
): PricedCall {
  const { leg, extras, used } = made
  const { userRate, held } = call.reservation
  try {
    const terms = frozenTerms(pipeline, demandOf(call, leg).terms, (error) => faults.push(error))
    return priceCall(used, { terms, chainId: leg.chain.id, userRate, made: extras })
  } catch (error) {
    faults.push(error)
    return asHeld(held)
  }
}

/** No price can be made: the call costs what was set aside for it. */
function asHeld(held: MicroCredits): PricedCall {
  const recipe: Recipe = {
    creditsPerUnit: '1',
    rateMultiplier: '1',
    userRate: '100',
    lines: [{ class: 'request', quantity: 1, price: creditsText(held), per: 1 }],
    amount: held.toString(),
  }
  return { recipe, amount: held }
}

function creditsText(amount: MicroCredits): string {
  const fraction = (amount % MICRO_CREDITS_PER_CREDIT).toString().padStart(6, '0')
  return `${amount / MICRO_CREDITS_PER_CREDIT}.${fraction}`
}

type AbandonParts = PersistParts & Pick<Pipeline, 'now' | 'observeEnd'>

/**
 * Gives back what was taken and writes the log row.
 *
 * @param sent a request may have reached a vendor: it stays counted in request windows
 */
export async function abandon(
  pipeline: AbandonParts,
  call: ReservedCall,
  { sent, row }: { readonly sent: boolean; readonly row: Partial<CallLogRow> },
): Promise<void> {
  call.body.release()
  const at = pipeline.now()
  const log = baseLogRow(call, at, row)
  await persist(pipeline, {
    kind: 'abandon',
    callId: call.callId,
    keyId: call.key.id,
    accountId: call.account.id,
    at,
    sent,
    log,
  })
  quietly(pipeline, call, 'count an ended call', () => pipeline.observeEnd(log))
}

export type PersistParts = Pick<Pipeline, 'catalogue' | 'monthOf' | 'pending' | 'storage' | 'telemetry'>

/**
 * Ends a call in the store. What it does not take now is kept and tried again for as long as the process lives
 * (`pending-operations.ts`), so nobody waits here for a store that is away; resolves to undefined then.
 * @param onTried when it is written, or cannot be now
 */
export function persist(
  pipeline: PersistParts,
  operation: SettleOperation,
  onTried?: () => void,
): Promise<SettleOutcome | undefined>
export function persist(
  pipeline: PersistParts,
  operation: AbandonOperation,
  onTried?: () => void,
): Promise<DoneOutcome | undefined>
export async function persist(
  pipeline: PersistParts,
  operation: SettleOperation | AbandonOperation,
  onTried: () => void = () => undefined,
): Promise<SettleOutcome | DoneOutcome | undefined> {
  const { storage, pending, telemetry } = pipeline
  const ended = operation.kind === 'settle' ? operation : inItsMonth(pipeline, operation)
  try {
    return await (ended.kind === 'settle'
      ? tryAgainIfLost(() => storage.calls.settle(ended))
      : tryAgainIfLost(() => storage.calls.abandon(ended)))
  } catch (error) {
    const { callId, log } = ended
    telemetry.log.error(
      { requestId: log.requestId, callId, error },
      'the end of a call could not be written; it is tried again',
    )
    pending.add(ended)
    return undefined
  } finally {
    onTried()
  }
}

/**
 * What was lost in the middle says nothing of the store as it is now: a process that was paused finds its connections dead and
 * the next one alive, and its client is still to get the end of the answer. Ends are idempotent, so one more try is safe.
 */
async function tryAgainIfLost<Outcome>(write: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return await write()
  } catch (error) {
    if (!(error instanceof StorageUnavailable) || error.untouched) throw error
    return write()
  }
}

/** A call that charges nothing leaves room for what is owed: in the month in which it ends. */
function inItsMonth(pipeline: PersistParts, operation: AbandonOperation): AbandonOperation {
  const { timezone } = pipeline.catalogue().settings
  const monthStart = monthStartAt(pipeline, { at: operation.at, timezone }, (error) =>
    pipeline.telemetry.log.error({ callId: operation.callId, error }, 'the month cannot be told'),
  )
  return { ...operation, monthStart }
}

/**
 * A log row with everything this stage of the call knows and what is said of its end; the rest says that nothing happened.
 * Filled in place: spreading one large object into another costs more than all else that is done for a row.
 */
export function baseLogRow(
  call: LoggedCall,
  endedAt: number,
  ...end: readonly Partial<CallLogRow>[]
): CallLogRow {
  const row: CallLogRow = {
    callId: call.callId,
    requestId: call.requestId,
    createdAt: call.at,
    endedAt,
    endpoint: call.endpoint.path,
    clientProtocol: call.endpoint.protocol,
    ...EMPTY_LOG_ROW,
    modelRequested: bounded(call.modelId ?? call.endpoint.pathModel),
    keyId: call.key?.id,
    accountId: call.account?.id,
    stream: call.stream ?? false,
    user: call.user,
    appId: appIdOf(call),
    customId: customIdOf(call),
    durationMs: endedAt - call.at,
  }
  for (const part of end) Object.assign(row, part)
  return row
}

/** Logged texts of the client are cut: a log is no place to store data. */
const LOGGED_TEXT_MAX = 256

/** `Gw-App-Id`, else the product the User-Agent names first (docs/reference/contract.md#1-68). */
export function appIdOf(call: Pick<LoggedCall, 'headers'>): string | undefined {
  const named = call.headers['gw-app-id']
  if (named !== undefined && named !== '') return bounded(named)
  const [product] = (call.headers['user-agent'] ?? '').trim().split(/[\s/(;,]/, 1)
  return product === undefined || product === '' ? undefined : bounded(product)
}

export function customIdOf(call: Pick<LoggedCall, 'headers'>): string | undefined {
  return bounded(call.headers['gw-custom-id'])
}

/** What the client is told of an error of the gateway's own, as a row keeps it. */
export function codeAndMessage(error: GatewayError): Pick<CallLogRow, 'code' | 'message'> {
  return { code: error.code, message: bounded(explainedMessage(error)) }
}

function bounded(text: string | undefined): string | undefined {
  return text === undefined || text.length <= LOGGED_TEXT_MAX ? text : text.slice(0, LOGGED_TEXT_MAX)
}

/** Prices frozen when a call was reserved. A fault of the reader is told and the text read anew; throws when it is unreadable. */
export function frozenTerms(
  { terms }: Pick<Pipeline, 'terms'>,
  text: string,
  onFault: (error: unknown) => void,
): PriceTerms {
  try {
    return readable(terms.terms(text))
  } catch (error) {
    onFault(error)
    return readable(readTerms(text))
  }
}

function readable(read: ReturnType<typeof readTerms>): PriceTerms {
  if (read.kind === 'unreadable') throw new Error(`frozen price terms cannot be read: ${read.reason}`)
  return read.terms
}

/**
 * First instant of the month a charge counts in, epoch ms. Where none can be told it counts in the month the account
 * stands in, which 0 says.
 */
export function monthStartAt(
  { monthOf }: Pick<Pipeline, 'monthOf'>,
  { at, timezone }: { readonly at: number; readonly timezone: string },
  onFault: (error: unknown) => void,
): number {
  try {
    return monthOf(at, timezone).from
  } catch (error) {
    onFault(error)
    return 0
  }
}

/** Does what no call may fail for: an error is logged, and the call goes on. `what` is the act in a few words. */
export function quietly(
  { telemetry }: Pick<Pipeline, 'telemetry'>,
  { requestId }: Pick<LoggedCall, 'requestId'>,
  what: string,
  act: () => void,
): void {
  try {
    act()
  } catch (error) {
    telemetry.log.error({ requestId, error, what }, 'a step of a call failed; the call goes on without it')
  }
}
