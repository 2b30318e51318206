/** The registry of endpoint kinds: one line each. */
import type { ChainProtocol } from '../../core/catalogue.ts'
import { COUNT } from './count.ts'
import { EMBEDDINGS } from './embeddings.ts'
import { GENERATE } from './generate.ts'
import { IMAGES } from './images.ts'
import type { EndpointKind } from './kind.ts'
import { MODERATION } from './moderation.ts'
import { RERANK } from './rerank.ts'
import { SPEECH } from './speech.ts'
import { STORED } from './stored.ts'
import { VIDEO } from './video.ts'

export const KINDS: readonly EndpointKind[] = [
  GENERATE,
  COUNT,
  STORED,
  VIDEO,
  EMBEDDINGS,
  MODERATION,
  RERANK,
  IMAGES,
  SPEECH,
]

/** The kind of calls whose clients speak so, or the kind that a chain serves. */
export function kindOf(protocol: ChainProtocol): EndpointKind {
  const kind = KINDS.find(({ flow, chains }) => IS_CALL[flow] && chains.includes(protocol))
  if (kind === undefined) throw new Error(`no kind of call is served over ${protocol}`)
  return kind
}

const IS_CALL: Readonly<Record<EndpointKind['flow'], boolean>> = {
  exchange: true,
  task: true,
  count: false,
  stored: false,
}

/** Where calls of a model with such a chain go, as the contract writes the paths. */
export function endpointsOf(protocol: ChainProtocol): readonly string[] {
  return kindOf(protocol)
    .paths.filter(({ methods }) => methods.includes('POST'))
    .map(({ path }) => path)
}
