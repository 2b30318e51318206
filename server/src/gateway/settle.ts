import type { CallLogRow } from '../core/calls/log-row.ts'
import type { SettleOutcome } from '../core/calls/operations.ts'
import { tokensOf } from '../core/calls/recover.ts'
import type { Usage } from '../core/canonical/usage.ts'
import type { MeterReading } from '../core/metering/meter.ts'
import { priceCall } from '../core/pricing/price.ts'
import type { PriceTerms } from '../core/pricing/terms.ts'
import type { Leg } from './attempt.ts'
import type { ReservedCall } from './call.ts'
import { estimateInputTokens } from './count-tokens.ts'
import type { Gateway } from './gateway.ts'
import { baseLogRow } from './log-row.ts'
import { persist } from './persist.ts'

/** Prices the call at the model actually used and books charge, windows, slot and log row in one storage verb. */
export async function settle(
  gateway: Gateway,
  call: ReservedCall,
  answer: {
    readonly leg: Leg
    readonly reading: MeterReading
    readonly inputEstimated: boolean
    readonly row: Partial<CallLogRow>
    /** The charge is on disk, or cannot be put there now. */
    readonly onTried: () => void
  },
): Promise<void> {
  const { leg, reading } = answer
  const input = answer.inputEstimated ? await estimateInputTokens(gateway, call) : reading.usage.input
  const usage: Usage = { ...reading.usage, input }
  call.body.release()
  const { recipe, amount } = priceCall(
    { usage, images: reading.images, videoSeconds: 0, requests: 1 },
    { terms: termsOf(gateway, call, leg), chainId: leg.chain.id, userRate: call.reservation.userRate },
  )
  const at = gateway.now()
  const log: CallLogRow = {
    ...baseLogRow(call, at),
    ...answer.row,
    usage,
    usageSource: reading.source,
    images: reading.images,
    recipe,
    amount,
  }
  const charge = (): Promise<SettleOutcome> =>
    gateway.storage.calls.settle({
      callId: call.callId,
      keyId: call.key.id,
      accountId: call.account.id,
      at,
      monthStart: gateway.monthOf(at, call.catalogue.settings.timezone).from,
      modelId: leg.model.modelId,
      byok: leg.byok,
      credentialId: leg.byok ? undefined : leg.chain.credentialId,
      recipe,
      amount,
      tokens: tokensOf(usage),
      images: reading.images,
      videoSeconds: 0,
      log,
    })
  const outcome = await persist(gateway, call.requestId, charge, answer.onTried)
  gateway.observeEnd(outcome === undefined ? log : { ...log, deducted: outcome.deducted })
}

/** The prices frozen when the call was reserved, of the model actually used. */
function termsOf(gateway: Gateway, call: ReservedCall, leg: Leg): PriceTerms {
  const demand = leg.model === call.fallback ? call.fallbackDemand : call.demand
  const read = gateway.terms.terms((demand ?? call.demand).terms)
  if (read.kind === 'unreadable')
    throw new Error(`the price terms of ${leg.model.modelId} cannot be read: ${read.reason}`)
  return read.terms
}
