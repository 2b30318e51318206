import { afterAll } from 'vitest'
import type { CatalogueChange } from '../../src/storage/stores/records.ts'
import { type GatewayOptions, openGateway, type TestGateway } from './gateway.ts'
import { openScriptedUpstream, type ScriptedUpstream } from './scripted-upstream.ts'

export interface WithGateway<Name extends string> extends GatewayOptions {
  /** What vendors play, by the names that the file gives them. */
  readonly upstreams?: readonly Name[]
  /** What the gateway knows at first. */
  readonly catalogue?: (upstreams: Readonly<Record<Name, ScriptedUpstream>>) => readonly CatalogueChange[]
}

/** A gateway and what it calls, for all tests of a file; closed after the last one. */
export async function withGateway<const Name extends string = never>({
  upstreams: names = [],
  catalogue,
  ...options
}: WithGateway<Name> = {}): Promise<
  { readonly gateway: TestGateway } & Readonly<Record<Name, ScriptedUpstream>>
> {
  const opened = await Promise.all(names.map(async (name) => [name, await openScriptedUpstream()] as const))
  const gateway = await openGateway(options)
  afterAll(async () => {
    await gateway.close()
    for (const [, upstream] of opened) await upstream.close()
  })
  const upstreams = Object.fromEntries(opened) as Record<Name, ScriptedUpstream>
  if (catalogue !== undefined) await gateway.catalogue(...catalogue(upstreams))
  return { gateway, ...upstreams }
}
