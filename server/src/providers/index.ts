/** The registry: one line per vendor, the only place that lists them all. */
import { describeKind, type VendorKind } from './describe-kind.ts'
import { anthropic } from './anthropic/index.ts'
import { ark } from './ark/index.ts'
import { azureOpenai } from './azure-openai/index.ts'
import { bedrock, bedrockInvoke } from './bedrock/index.ts'
import { cohere } from './cohere/index.ts'
import { dashscope } from './dashscope/index.ts'
import { deepseek } from './deepseek/index.ts'
import { fal } from './fal/index.ts'
import { fireworks } from './fireworks/index.ts'
import { google } from './google/index.ts'
import { groq } from './groq/index.ts'
import { jina } from './jina/index.ts'
import { jimeng } from './jimeng/index.ts'
import { kling } from './kling/index.ts'
import { lmStudio } from './lm-studio/index.ts'
import { luma, lumaDreamMachine } from './luma/index.ts'
import { minimax } from './minimax/index.ts'
import { mistral } from './mistral/index.ts'
import { moonshot } from './moonshot/index.ts'
import { ollama } from './ollama/index.ts'
import { openai } from './openai/index.ts'
import { openaiCompatible } from './openai-compatible/index.ts'
import { openrouter } from './openrouter/index.ts'
import type { ChainProtocol, WireId } from '../core/catalogue.ts'
import { overEmbeddings } from './dialects/gemini/embeddings.ts'
import type { Dialect, PassedDialect, Provider } from './provider.ts'
import { replicate } from './replicate/index.ts'
import { runway } from './runway/index.ts'
import { sandbox } from './sandbox/index.ts'
import { siliconflow } from './siliconflow/index.ts'
import { together } from './together/index.ts'
import { vertex } from './vertex/index.ts'
import { vidu } from './vidu/index.ts'
import { vllm } from './vllm/index.ts'
import { voyage } from './voyage/index.ts'
import { xai } from './xai/index.ts'
import { zhipu } from './zhipu/index.ts'

const PROVIDERS: readonly Provider[] = [
  openai,
  openaiCompatible,
  azureOpenai,
  anthropic,
  bedrock,
  bedrockInvoke,
  google,
  vertex,
  deepseek,
  dashscope,
  zhipu,
  moonshot,
  minimax,
  ark,
  xai,
  mistral,
  cohere,
  jina,
  voyage,
  groq,
  openrouter,
  together,
  fireworks,
  siliconflow,
  ollama,
  vllm,
  lmStudio,
  kling,
  vidu,
  runway,
  luma,
  lumaDreamMachine,
  jimeng,
  fal,
  replicate,
  sandbox,
]

const byKind: ReadonlyMap<string, Provider> = new Map(PROVIDERS.map((provider) => [provider.kind, provider]))

/** undefined: no such vendor kind. */
export function providerOf(kind: string): Provider | undefined {
  return byKind.get(kind)
}

/**
 * The dialect of a vendor for a client of this protocol. `path`: the one it called, as the contract writes it; absent:
 * there is no client.
 */
export function dialectForClient(
  dialect: Dialect | PassedDialect,
  client: WireId,
  path?: string,
): Dialect | PassedDialect {
  if ('rewrittenPaths' in dialect && path !== undefined && dialect.rewrittenPaths?.includes(path) === false) {
    const { rewrite: _ofOtherPaths, ...rest } = dialect
    return rest
  }
  if (client !== 'gemini-embeddings' || dialect.protocol !== 'embeddings') return dialect
  const { geminiEmbeddings: own, rewrite, textPurpose, ...rest } = dialect
  return own ?? { ...rest, protocol: 'gemini-embeddings', rewrite: overEmbeddings(rewrite, textPurpose) }
}

export const providerKinds: readonly string[] = [...byKind.keys()]

/** What each kind needs, for operators who add a vendor. */
export const vendorKinds: readonly VendorKind[] = PROVIDERS.map(describeKind)

/** Its answers are made in this process: no network, no credential. */
export function answersOffline(kind: string, protocol: ChainProtocol): boolean {
  const provider = byKind.get(kind)
  if (protocol === 'video') return provider?.video?.respond !== undefined
  return provider?.dialects[protocol]?.respond !== undefined
}
