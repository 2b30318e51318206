import type { Environment } from '../../config/environment.ts'
import type { Catalogue } from '../../core/catalogue.ts'
import { offeredPresets } from '../presets.ts'
import { finding, type RunningFinding } from '../../core/running-finding.ts'

/** Vendor keys added to the environment after the first start have no effect by themselves. */
export function checkOffered(environment: Environment, catalogue: Catalogue): readonly RunningFinding[] {
  return offeredPresets(environment, catalogue).map(({ code, name, variable }) =>
    finding('vendor-offered', { variable: variable ?? '', vendor: name, preset: code }),
  )
}
