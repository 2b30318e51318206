import { afterAll, afterEach } from 'vitest'
import type { CatalogueChange } from '../../src/storage/stores/records.ts'
import { openGateway, type TestGateway } from './gateway.ts'
import { openScriptedUpstream, type ScriptedUpstream } from './scripted-upstream.ts'

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

/**
 * A gateway before two vendors, for all tests of a file. After each test its chains are well again and the vendors have forgotten
 * what they were asked; after the last one everything is closed.
 */
export async function openStand(
  catalogue: (at: StandAddresses) => readonly CatalogueChange[],
): Promise<Stand> {
  const upstream = await openScriptedUpstream()
  const spare = await openScriptedUpstream()
  const gateway = await openGateway()
  afterAll(async () => {
    await gateway.close()
    await upstream.close()
    await spare.close()
  })
  afterEach(async () => {
    await gateway.resetHealth()
    upstream.requests.length = 0
    spare.requests.length = 0
  })
  await gateway.catalogue(...catalogue({ upstream: upstream.url, spare: spare.url }))
  return { gateway, upstream, spare }
}
