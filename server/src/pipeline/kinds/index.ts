/** The registry of endpoint kinds: one line each. */
import type { ChainProtocol } from '../../core/catalogue.ts'
import { providerOf } from '../../providers/index.ts'
import { COUNT } from './count.ts'
import { EMBEDDINGS } from './embeddings.ts'
import { GEMINI_EMBEDDINGS } from './gemini-embeddings.ts'
import { GENERATE } from './generate.ts'
import { IMAGES } from './images.ts'
import type { EndpointKind } from './kind.ts'
import { MODERATION } from './moderation.ts'
import { RERANK } from './rerank.ts'
import { SPEECH } from './speech.ts'
import { STORED } from './stored.ts'
import { TRANSCRIPTION } from './transcription.ts'
import { VIDEO } from './video.ts'

export const KINDS: readonly EndpointKind[] = [
  GENERATE,
  COUNT,
  STORED,
  VIDEO,
  EMBEDDINGS,
  GEMINI_EMBEDDINGS,
  MODERATION,
  RERANK,
  IMAGES,
  SPEECH,
  TRANSCRIPTION,
]

/** Kinds that are charged; the others are free questions. */
const CALLS = KINDS.filter(({ flow }) => flow === 'exchange' || flow === 'task')

/** The kind for calls in this protocol. */
export function kindOf(protocol: ChainProtocol): EndpointKind {
  const kind = CALLS.find(({ paths }) => paths.some((path) => path.protocol === protocol))
  if (kind === undefined) throw new Error(`no kind of call is spoken as ${protocol}`)
  return kind
}

/** Paths for calls in this protocol, as the contract writes them; the first is the usual one. */
export function pathsOf(protocol: ChainProtocol): readonly string[] {
  return kindOf(protocol)
    .paths.filter((path) => path.protocol === protocol)
    .map(({ path }) => path)
}

/** The paths for calls of a model with such a chain, as the contract writes them: those that its kind of vendor supports. */
export function endpointsOf(protocol: ChainProtocol, vendorKind: string | undefined): readonly string[] {
  const provider = vendorKind === undefined ? undefined : providerOf(vendorKind)
  const taken = protocol === 'video' ? undefined : provider?.dialects[protocol]?.paths
  return CALLS.filter(({ chains }) => chains.includes(protocol))
    .flatMap(({ paths }) => paths)
    .filter(({ methods }) => methods.includes('POST'))
    .map(({ path }) => path)
    .filter((path) => taken === undefined || taken.includes(path))
}
