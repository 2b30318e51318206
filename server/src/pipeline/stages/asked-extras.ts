import { type Catalogue, type ChainProtocol, isProtocolId, type Model } from '../../core/catalogue.ts'
import { ROUNDS_OF_TOOLS } from '../../core/metering/possible-usage.ts'
import { comesUnder } from '../../core/pricing/surcharges.ts'
import { protocolOf } from '../../core/protocols/index.ts'
import { usableChains } from '../../core/routing/order.ts'
import { providerOf } from '../../providers/index.ts'
import type { ReceivedCall } from '../call.ts'

/** More flags than this in one header name nothing. */
const FLAGS_MAX = 64

/**
 * Everything a call asks for that some vendor charges for: fields with their values, tools that run at the vendor, and
 * the flags of headers that are passed on (`anthropic-beta.context-1m-2025-08-07`).
 */
export function askedExtras({
  scan,
  headers,
  endpoint,
}: Pick<ReceivedCall, 'scan' | 'headers' | 'endpoint'>): readonly string[] {
  const { dearFields, hostedTools } = scan.extras
  if (!isProtocolId(endpoint.protocol)) return NOTHING
  const flags = protocolOf(endpoint.protocol)
    .forwardedHeaders.filter((name) => name.endsWith('-beta'))
    .flatMap((name) => flagsOf(headers[name]).map((flag) => `${name}.${flag}`))
  return flags.length + dearFields.length + hostedTools.length === 0
    ? NOTHING
    : [...dearFields, ...hostedTools, ...flags]
}

const NOTHING: readonly string[] = []

/**
 * How often the tools at the vendor that a call offers may be used at the most. A client's own bound holds only where it
 * reaches every vendor as it was written.
 */
export function toolUsesMax(
  model: Model,
  call: Pick<ReceivedCall, 'scan'> & {
    readonly endpoint: { readonly protocol: ChainProtocol }
  },
  catalogue: Catalogue,
): number {
  const { toolUsesMax: asked } = call.scan.extras
  if (asked === 0) return 0
  const passed = usableChains(model, catalogue).every(({ protocol }) => protocol === call.endpoint.protocol)
  return passed ? asked : Math.max(asked, ROUNDS_OF_TOOLS)
}

function flagsOf(header: string | undefined): readonly string[] {
  if (header === undefined) return NOTHING
  return header
    .split(',', FLAGS_MAX)
    .map((flag) => flag.trim().toLowerCase())
    .filter((flag) => flag !== '')
}

/** One sentence for each usable chain whose vendor charges for what its model neither prices nor refuses. */
export function unpricedWarnings(catalogue: Catalogue): readonly string[] {
  return [...catalogue.models.values()].flatMap((model) => {
    const known = [...Object.keys(model.surcharges), ...model.refuse]
    return usableChains(model, catalogue).flatMap((chain) => {
      const kind = catalogue.vendors.get(chain.vendorCode)?.kind
      const dear = (kind === undefined ? undefined : providerOf(kind)?.dear) ?? []
      const unpriced = dear.filter((extra) => !known.some((name) => comesUnder(extra, name)))
      if (unpriced.length === 0) return []
      return [
        `${model.modelId} over ${chain.vendorCode}: the vendor charges extra for ${unpriced.join(', ')}, which have no price here; ` +
          'name them in surcharges or refuse of the model',
      ]
    })
  })
}
