/** The address of a publisher's model in a project. */
import type { ForwardModelId } from '../../core/ids.ts'
import { below } from '../provider.ts'

export interface ModelPlace {
  readonly baseUrl: string
  readonly forwardModelId: ForwardModelId
  readonly fields: Readonly<Record<string, string>>
}

/** undefined: the credential has no project or no region. */
export function modelUrl(
  { baseUrl, forwardModelId, fields }: ModelPlace,
  publisher: string,
): string | undefined {
  const { project, region } = fields
  if (project === undefined || region === undefined) return undefined
  const host = baseUrl.replace('{region}-aiplatform.googleapis.com', hostOf(region))
  const model = encodeURIComponent(forwardModelId).replace('%40', '@')
  return below(host, `/projects/${project}/locations/${region}/publishers/${publisher}/models/${model}`)
}

/**
 * Each region has a host, `global` uses the one without a region, and the two multi-regions have another kind of host.
 */
function hostOf(region: string): string {
  if (region === 'global') return 'aiplatform.googleapis.com'
  if (region === 'us' || region === 'eu') return `aiplatform.${region}.rep.googleapis.com`
  return `${region}-aiplatform.googleapis.com`
}
