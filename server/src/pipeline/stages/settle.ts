import type { CallLogRow } from '../../core/ledger/log-row.ts'
import { ONE_CALL, type SettleOperation } from '../../core/ledger/operations.ts'
import { tokensOf } from '../../core/calls/recover.ts'
import type { Usage } from '../../core/canonical/usage.ts'
import type { MeterReading } from '../../core/metering/meter.ts'
import { MICRO_CREDITS_PER_CREDIT, type MicroCredits } from '../../core/money.ts'
import { type PricedCall, priceCall } from '../../core/pricing/price.ts'
import type { MadeExtras } from '../../core/pricing/surcharges.ts'
import type { ReservedCall } from '../call.ts'
import { frozenTerms, monthStartAt } from './charge-terms.ts'
import { estimateInputTokens } from '../instance/count-tokens.ts'
import type { Pipeline } from '../context.ts'
import { possibleUsage } from '../lanes/possible-usage.ts'
import { baseLogRow } from './log-row.ts'
import { persist, type PersistParts } from './persist.ts'
import { quietly } from '../quietly.ts'
import type { Recipe } from '../../core/ledger/recipe.ts'
import type { Leg } from '../attempt/leg.ts'

export type SettleParts = PersistParts & Pick<Pipeline, 'now' | 'observeEnd' | 'terms' | 'tokens'>

export interface Answered {
  readonly leg: Leg
  readonly reading: MeterReading
  readonly inputEstimated: boolean
  readonly extras: MadeExtras
  /** As far as they came. */
  readonly answerBytes: number
  readonly row: Partial<CallLogRow>
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
  const { usage, suspect } = possibleUsage(call, answer, await usageOf(pipeline, call, answer, faults))
  call.body.release()
  const { recipe, amount } = priced(pipeline, call, { ...answer, usage }, faults)
  const at = pipeline.now()
  const { timezone } = call.catalogue.settings
  const monthStart = monthStartAt(pipeline, { at, timezone }, (error) => faults.push(error))
  for (const error of faults) {
    pipeline.telemetry.log.error(
      { requestId: call.requestId, error },
      'a call is charged by the next best that is known',
    )
  }
  const log: CallLogRow = {
    ...baseLogRow(call, at),
    ...answer.row,
    ...(faults.length === 0 ? {} : { ending: 'gateway-error' }),
    usage,
    usageSource: reading.source,
    usageSuspect: suspect,
    images: reading.images,
    recipe,
    amount,
  }
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
    tokens: tokensOf(usage),
    images: reading.images,
    videoSeconds: 0,
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
async function usageOf(
  pipeline: Pick<Pipeline, 'tokens'>,
  call: ReservedCall,
  { reading, inputEstimated }: Answered,
  faults: unknown[],
): Promise<Usage> {
  if (!inputEstimated) return reading.usage
  try {
    return { ...reading.usage, input: await estimateInputTokens(pipeline, call) }
  } catch (error) {
    faults.push(error)
    return reading.usage
  }
}

function priced(
  pipeline: Pick<Pipeline, 'terms'>,
  call: ReservedCall,
  made: Pick<Answered, 'leg' | 'extras' | 'reading'> & { readonly usage: Usage },
  faults: unknown[],
): PricedCall {
  const { leg, usage, extras } = made
  const { images } = made.reading
  const { userRate, held } = call.reservation
  try {
    const demand = (leg.model === call.fallback ? call.fallbackDemand : undefined) ?? call.demand
    const terms = frozenTerms(pipeline, demand.terms, (error) => faults.push(error))
    return priceCall(
      { usage, images, videoSeconds: 0, ...(demand.estimate.pieces ?? ONE_CALL) },
      { terms, chainId: leg.chain.id, userRate, made: extras },
    )
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
