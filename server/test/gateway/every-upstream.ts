/** A gateway with one model over each upstream protocol, all of them on one scripted upstream. */
import type { CatalogueChange } from '../../src/storage/stores/records.ts'
import { KINDS, type ProtocolName, PROTOCOLS } from './answers.ts'
import { type TestGateway, openGateway, putChain, putModel, putVendor } from './gateway.ts'
import { openScriptedUpstream, type ScriptedUpstream } from './scripted-upstream.ts'

export interface EveryUpstream {
  readonly gateway: TestGateway
  readonly upstream: ScriptedUpstream
  close(): Promise<void>
}

export interface UpstreamKind {
  readonly protocol: ProtocolName
  readonly url: string
  readonly kind: string
  readonly forward: string
}

/**
 * `over-chat`, `over-messages`, … are the models.
 * @param more what else stands in the catalogue for each protocol
 */
export async function openEveryUpstream(
  more: (upstream: UpstreamKind) => readonly CatalogueChange[] = () => [],
): Promise<EveryUpstream> {
  const upstream = await openScriptedUpstream()
  const gateway = await openGateway()
  for (const protocol of PROTOCOLS) {
    const [kind, forward] = KINDS[protocol]
    await gateway.catalogue(
      ...putVendor(`v-${protocol}`, upstream.url, { kind }),
      putModel(`over-${protocol}`),
      putChain({ model: `over-${protocol}`, vendor: `v-${protocol}`, protocol, forward }),
      ...more({ protocol, url: upstream.url, kind, forward }),
    )
  }
  return {
    gateway,
    upstream,
    async close() {
      await gateway.close()
      await upstream.close()
    },
  }
}
