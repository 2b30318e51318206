/** The registry: one line a vendor, the only place that knows them all. */
import { anthropic } from './anthropic/index.ts'
import { google } from './google/index.ts'
import { openaiCompatible } from './openai-compatible/index.ts'
import { openai } from './openai/index.ts'
import type { Provider } from './provider.ts'
import { sandbox } from './sandbox/index.ts'

const PROVIDERS: readonly Provider[] = [openai, openaiCompatible, anthropic, google, sandbox]

const byKind: ReadonlyMap<string, Provider> = new Map(PROVIDERS.map((provider) => [provider.kind, provider]))

/** undefined: no such vendor kind. */
export function providerOf(kind: string): Provider | undefined {
  return byKind.get(kind)
}

export const providerKinds: readonly string[] = [...byKind.keys()]

/** Kinds that have no address of their own: the operator has to name one. */
export const kindsWithoutAddress: readonly string[] = PROVIDERS.filter(
  (provider) => provider.defaultBaseUrl === undefined,
).map((provider) => provider.kind)
