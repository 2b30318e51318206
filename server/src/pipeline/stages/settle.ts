/** The two ends of a call: its answer is charged, or what was reserved for it is released. */
import type { CallLogRow } from '../../core/ledger/log-row.ts'
import type { Demand, SettleOperation } from '../../core/ledger/operations.ts'
import type { Usage } from '../../core/canonical/usage.ts'
import type { MeterReading } from '../../core/metering/meter.ts'
import { ONE_CALL, type Used } from '../../core/metering/quantities.ts'
import { MICRO_CREDITS_PER_CREDIT, type MicroCredits } from '../../core/money.ts'
import { type PricedCall, priceCall } from '../../core/pricing/price.ts'
import type { MadeExtras } from '../../core/pricing/surcharges.ts'
import type { ReservedCall } from '../call.ts'
import { estimateInputTokens } from '../instance/count-tokens.ts'
import type { Pipeline } from '../context.ts'
import { quietly } from '../../telemetry/background.ts'
import { possibleUsage } from './charged-reading.ts'
import { baseLogRow } from './log-row.ts'
import { freeMonthAt, monthStartAt, persist, type PersistParts } from './persist.ts'
import type { Recipe } from '../../core/ledger/recipe.ts'
import type { Leg } from '../attempt/leg.ts'
import { readTerms } from '../../core/pricing/read-terms.ts'
import type { PriceTerms } from '../../core/pricing/terms.ts'

export type SettleParts = PersistParts & Pick<Pipeline, 'now' | 'observeEnd' | 'terms' | 'tokens'>

/** What an answer's end says about its call. */
export type EndedRow = Partial<CallLogRow> & Pick<CallLogRow, 'ending'>

export interface Answered {
  readonly leg: Leg
  readonly reading: MeterReading
  readonly inputEstimated: boolean
  readonly extras: MadeExtras
  /** Bytes received. */
  readonly answerBytes: number
  readonly row: EndedRow
  /** The charge is stored, or cannot be stored now. */
  readonly onTried: () => void
}

/**
 * Prices the call at the model actually used and books charge, windows, slot and log row in one storage verb. If a step
 * fails, the best known figure is used instead and the row says `gateway-error`: a fault of the gateway never makes an
 * answer free. False: the store has not accepted it yet.
 */
export function settle(pipeline: SettleParts, call: ReservedCall, answer: Answered): Promise<boolean> {
  const faults: unknown[] = []
  const told = answer.reading.usage
  if (!answer.inputEstimated) return settleCounted(pipeline, call, answer, { told, faults })
  return withCountedInput(pipeline, call, answer, faults).then((counted) =>
    settleCounted(pipeline, call, answer, { told: counted, faults }),
  )
}

function settleCounted(
  pipeline: SettleParts,
  call: ReservedCall,
  answer: Answered,
  { told, faults }: { readonly told: Usage; readonly faults: unknown[] },
): Promise<boolean> {
  const { leg, reading } = answer
  const { usage, suspect } = possibleUsage(call, answer, told)
  call.body.release()
  const { requests, characters, audioSeconds } = demandOf(call, leg).estimate.pieces ?? ONE_CALL
  const used: Used = { usage, images: reading.images, videoSeconds: 0, requests, characters, audioSeconds }
  const { recipe, amount } = priced(pipeline, call, { used, answer }, faults)
  const at = pipeline.now()
  const { timezone } = call.catalogue.settings
  const monthStart = monthStartAt(pipeline, { at, timezone }, (error) => faults.push(error))
  tellFaults(pipeline, call, faults)
  const log = baseLogRow(call, at, answer.row, {
    ending: faults.length === 0 ? answer.row.ending : 'gateway-error',
    usage,
    usageSource: reading.source,
    usageSuspect: suspect,
    images: used.images,
    characters,
    audioSeconds,
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
  return persist(pipeline, charge, answer.onTried).then((outcome) => {
    quietly(pipeline, call, 'count an ended call', () =>
      // A repeated write returns no amount: the row has it.
      pipeline.observeEnd(log, outcome?.first === true ? outcome.deducted : undefined),
    )
    return outcome !== undefined
  })
}

function tellFaults(
  { telemetry }: Pick<Pipeline, 'telemetry'>,
  { requestId }: ReservedCall,
  faults: readonly unknown[],
): void {
  for (const error of faults)
    telemetry.log.error({ requestId, error }, 'a call is charged by the best figure that is known')
}

/** Input is counted if the upstream reported none; if that fails, the quick estimate of the hold is used. */
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
  { used, answer }: { readonly used: Used; readonly answer: Pick<Answered, 'leg' | 'extras'> },
  faults: unknown[],
): PricedCall {
  const { leg, extras } = answer
  const { userRate, held } = call.reservation
  try {
    const terms = frozenTerms(pipeline, demandOf(call, leg).terms, (error) => faults.push(error))
    return priceCall(used, { terms, chainId: leg.chain.id, userRate, made: extras })
  } catch (error) {
    faults.push(error)
    return asHeld(held)
  }
}

/** If no price can be computed, the call costs what was held for it. */
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
    monthStart: freeMonthAt(pipeline, call.callId, { at, timezone: call.catalogue.settings.timezone }),
    sent,
    log,
  })
  quietly(pipeline, call, 'count an ended call', () => pipeline.observeEnd(log))
}

/**
 * Prices frozen when a call was reserved. If the cached reader fails, that is logged and the text is read again; throws
 * when it is unreadable.
 */
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
