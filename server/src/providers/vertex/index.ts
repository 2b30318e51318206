import { hostedClaudeCapabilities } from '../dialects/claude.ts'
import { geminiDialect, geminiModelCapabilities } from '../dialects/gemini/gemini.ts'
import type { GeminiPlace } from '../dialects/gemini/generating.ts'
import { geminiImages } from '../dialects/gemini/images.ts'
import { geminiSpeech } from '../dialects/gemini/speech.ts'
import { messagesDialect } from '../dialects/messages.ts'
import type { FormedRequest, FormInput, Provider } from '../provider.ts'
import { modelUrl } from './address.ts'
import { vertexEmbeddings } from './embeddings.ts'
import { vertexVideo } from './video.ts'

const PLACE: GeminiPlace = {
  auth: { kind: 'google-oauth' },
  modelUrl: (input) => modelUrl(input, 'google'),
}

/**
 * Gemini, Claude and Veo on Google Cloud, with a service account. `region` may be `global`, `us` or `eu`. `storage_uri`
 * (`gs://bucket/folder`) is where Veo stores its videos; without it they are inside its answers.
 */
export const vertex: Provider = {
  kind: 'vertex',
  name: 'Google Vertex AI',
  defaultBaseUrl: 'https://{region}-aiplatform.googleapis.com/v1',
  publicFields: ['project', 'region', 'storage_uri'],
  extraCosts: ['service_tier.priority', 'web_search', 'google_maps'],
  dialects: {
    embeddings: vertexEmbeddings,
    images: geminiImages(PLACE),
    speech: geminiSpeech(PLACE),
    gemini: geminiDialect({
      ...PLACE,
      capabilities: geminiModelCapabilities,
    }),
    messages: messagesDialect({
      auth: { kind: 'google-oauth' },
      form: formClaude,
      modelPlace: 'path',
      bodyEdit: { set: { anthropic_version: 'vertex-2023-10-16' }, remove: [] },
      capabilities: hostedClaudeCapabilities,
    }),
  },
  video: vertexVideo,
}

/** The version is in the body, not in a header; counting has another form and is left to the gateway. */
function formClaude(input: FormInput): FormedRequest | undefined {
  const model = modelUrl(input, 'anthropic')
  if (model === undefined || input.operation === 'count-tokens') return undefined
  const verb = input.operation === 'stream' ? 'streamRawPredict' : 'rawPredict'
  return { method: 'POST', url: `${model}:${verb}`, headers: {} }
}
