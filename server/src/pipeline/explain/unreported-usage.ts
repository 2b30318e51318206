/** Which chains report usage only on request, and what is lost without a request. */
import { type Catalogue, type Chain, type ChainProtocol, isProtocolId } from '../../core/catalogue.ts'
import { forwardModelId, type ForwardModelId } from '../../core/ids.ts'
import { usableChains } from '../../core/routing/order.ts'
import { providerOf } from '../../providers/index.ts'

/** `inject` for chat completions of vendors that report usage only on request; all others report it anyway. */
export function presetStreamUsage(
  kind: string | undefined,
  protocol: ChainProtocol,
  forward: ForwardModelId | string,
): Chain['streamUsage'] {
  return capabilitiesOf(kind, protocol, forward)?.includeUsage === true && protocol === 'chat'
    ? 'inject'
    : 'forward'
}

/** A chain, in terms that operators use. */
export interface NamedChain {
  readonly model: string
  readonly vendor: string
  readonly forward: string
}

/** Each usable chain whose model reasons and whose streams may end without their usage. */
export function unreportedUsage(catalogue: Catalogue): readonly NamedChain[] {
  return [...catalogue.models.values()].flatMap((model) =>
    usableChains(model, catalogue).flatMap((chain) => {
      const kind = catalogue.vendors.get(chain.vendorCode)?.kind
      if (chain.streamUsage === 'inject') return []
      if (presetStreamUsage(kind, chain.protocol, chain.forwardModelId) === 'forward') return []
      const reasoning =
        chain.capabilities.reasoning ??
        capabilitiesOf(kind, chain.protocol, chain.forwardModelId)?.reasoning ??
        'none'
      if (reasoning === 'none') return []
      return [{ model: model.modelId, vendor: chain.vendorCode, forward: chain.forwardModelId }]
    }),
  )
}

function capabilitiesOf(kind: string | undefined, protocol: ChainProtocol, forward: string) {
  const dialects = kind === undefined ? undefined : providerOf(kind)?.dialects
  return isProtocolId(protocol) ? dialects?.[protocol]?.capabilities(forwardModelId(forward)) : undefined
}
