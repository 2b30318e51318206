import type { Catalogue } from '../../core/catalogue.ts'
import { unpricedWarnings } from '../../pipeline/stages/estimate.ts'
import { usageWarnings } from '../../pipeline/explain/usage-told.ts'
import { type Finding, ok, warning } from '../../core/finding.ts'

/** Streams of models that reason and end without their usage are charged by an estimate. */
export function checkUsageTold(catalogue: Catalogue): readonly Finding[] {
  const found = usageWarnings(catalogue)
  if (found.length === 0) return [ok('stream usage', 'every model that reasons tells what it used')]
  return found.map((words) => warning('stream usage', words, 'sluice apply with stream_usage: inject'))
}

/** What a client can ask for at the vendor's price and the model's own. */
export function checkSurcharges(catalogue: Catalogue): readonly Finding[] {
  const found = unpricedWarnings(catalogue)
  if (found.length === 0) return [ok('surcharges', 'what vendors charge extra for is priced or refused')]
  return found.map((words) => warning('surcharges', words, 'docs/reference/gateway-file.md, surcharges'))
}
