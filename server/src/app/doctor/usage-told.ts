import type { Catalogue } from '../../core/catalogue.ts'
import { unpricedExtras } from '../../pipeline/stages/estimate.ts'
import { unreportedUsage } from '../../pipeline/explain/unreported-usage.ts'
import { finding, type RunningFinding } from '../../core/running-finding.ts'

/** Streams of reasoning models that end without usage are charged by an estimate. */
export function checkUsageTold(catalogue: Catalogue): readonly RunningFinding[] {
  const found = unreportedUsage(catalogue)
  if (found.length === 0) return [finding('usage-told', {})]
  return found.map((chain) => finding('usage-estimated', chain))
}

/** Extras that a client can request, which the vendor charges for and the model has no price for. */
export function checkSurcharges(catalogue: Catalogue): readonly RunningFinding[] {
  const found = unpricedExtras(catalogue)
  if (found.length === 0) return [finding('surcharges-priced', {})]
  return found.map((chain) => finding('surcharges-unpriced', { ...chain, extras: chain.extras.join(', ') }))
}
