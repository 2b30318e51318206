import { geminiDialect, geminiModelCapabilities, modelBelow } from '../dialects/gemini/gemini.ts'
import type { GeminiPlace } from '../dialects/gemini/generating.ts'
import { geminiImages } from '../dialects/gemini/images.ts'
import { geminiSpeech } from '../dialects/gemini/speech.ts'
import type { Provider } from '../provider.ts'
import { defaultBaseUrl } from './address.ts'
import { googleEmbeddings } from './embeddings.ts'
import { googleVideo } from './video.ts'

const PLACE: GeminiPlace = {
  auth: { kind: 'header', name: 'x-goog-api-key' },
  modelUrl: (input) => modelBelow(input.baseUrl, input.forwardModelId),
}

export const google: Provider = {
  kind: 'google',
  name: 'Google',
  defaultBaseUrl,
  publicFields: [],
  extraCosts: ['service_tier.priority', 'web_search', 'google_maps'],
  dialects: {
    embeddings: googleEmbeddings,
    images: geminiImages(PLACE),
    speech: geminiSpeech(PLACE),
    gemini: geminiDialect({
      ...PLACE,
      capabilities: geminiModelCapabilities,
      tierHeader: 'x-gemini-service-tier',
    }),
  },
  video: googleVideo,
}
