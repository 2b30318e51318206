import { findUnpriced, unpricedTools } from '../../core/pricing/surcharges.ts'
import { providerOf } from '../../providers/index.ts'
import type { Dialect } from '../../providers/provider.ts'
import type { AdmittedCall } from '../call.ts'
import type { ConvertibleLeg } from '../lanes/convert-request.ts'
import { capabilitiesOf } from '../attempt/dialect.ts'
import type { Leg } from '../attempt/leg.ts'
import type { FinalFailure } from '../attempt/attempt-outcome.ts'

export type PricedLeg =
  | { readonly kind: 'priced'; readonly leg: Leg & Pick<ConvertibleLeg, 'unpricedTools'> }
  | { readonly kind: 'refused'; readonly failure: Extract<FinalFailure, { kind: 'unconvertible' }> }

/**
 * A chain for which a call is converted, without tools that cost extra and have no price. A field without a price is
 * refused. A client that uses its own credential keeps everything.
 */
export function priceLeg(
  { catalogue, scan }: Pick<AdmittedCall, 'catalogue' | 'scan'>,
  leg: Leg,
  dialect: Dialect,
): PricedLeg {
  const kind = catalogue.vendors.get(leg.chain.vendorCode)?.kind
  const extraCosts = (kind === undefined ? undefined : providerOf(kind)?.extraCosts) ?? []
  if (leg.byok || extraCosts.length === 0) return { kind: 'priced', leg }
  const { serviceTier, hostedTools } = capabilitiesOf(leg.chain, dialect)
  // The only field with extra cost that conversion passes on.
  const tiers = scan.extras.extraCostFields.filter((name) => name.startsWith('service_tier'))
  const unpriced = serviceTier ? findUnpriced(leg.model, tiers, extraCosts) : undefined
  if (unpriced !== undefined) return { kind: 'refused', failure: unpricedFailure(unpriced, leg) }
  const tools = unpricedTools(leg.model, hostedTools, extraCosts)
  return { kind: 'priced', leg: tools.length === 0 ? leg : { ...leg, unpricedTools: tools } }
}

function unpricedFailure(extra: string, { model }: Leg): Extract<FinalFailure, { kind: 'unconvertible' }> {
  const message = `${extra} costs extra at this model's vendor and has no price here: leave it out`
  return {
    kind: 'unconvertible',
    message: `${model.modelId}: ${message}`,
    details: { param: extra.split('.', 1)[0] ?? extra, reason: 'field_without_price' },
  }
}
