import { afterEach } from 'vitest'
import type { CatalogueChange } from '../../src/storage/stores/records.ts'
import type { GatewayOptions, TestGateway } from './gateway.ts'
import type { ScriptedUpstream } from './scripted-upstream.ts'
import { withGateway } from './with-gateway.ts'

export interface Stand {
  readonly gateway: TestGateway
  readonly upstream: ScriptedUpstream
  /** Of a second vendor. */
  readonly spare: ScriptedUpstream
}

/** Base addresses, for vendors. */
export interface StandAddresses {
  readonly upstream: string
  readonly spare: string
}

/** A gateway before two vendors. After each test its chains are well again and the vendors have forgotten what they were asked. */
export async function openStand(
  catalogue: (at: StandAddresses) => readonly CatalogueChange[],
  options: GatewayOptions = {},
): Promise<Stand> {
  const stand = await withGateway({
    ...options,
    upstreams: ['upstream', 'spare'],
    catalogue: ({ upstream, spare }) => catalogue({ upstream: upstream.url, spare: spare.url }),
  })
  const { gateway, upstream, spare } = stand
  afterEach(async () => {
    await gateway.resetHealth()
    upstream.requests.length = 0
    spare.requests.length = 0
  })
  return stand
}
