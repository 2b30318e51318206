import type { Environment } from '../../config/environment.ts'
import type { Catalogue } from '../../core/catalogue.ts'
import { offeredPresets } from '../presets.ts'
import { type Finding, warning } from '../../core/finding.ts'

/** Keys that came into the environment after the first start bring nothing by themselves. */
export function checkOffered(environment: Environment, catalogue: Catalogue): readonly Finding[] {
  return offeredPresets(environment, catalogue).map(({ code, name, variable }) =>
    warning(
      'vendors',
      `${variable ?? ''} is set, and the catalogue has no ${name}`,
      `sluice vendors add ${code}`,
    ),
  )
}
