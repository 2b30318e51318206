import { geminiDialect, geminiModelCapabilities, modelBelow } from '../dialects/gemini.ts'
import type { Provider } from '../provider.ts'
import { defaultBaseUrl } from './address.ts'
import { googleEmbeddings } from './embeddings.ts'
import { googleImages } from './images.ts'
import { googleVideo } from './video.ts'

export const google: Provider = {
  kind: 'google',
  name: 'Google',
  defaultBaseUrl,
  publicFields: [],
  dear: ['service_tier.priority', 'web_search', 'google_maps'],
  dialects: {
    embeddings: googleEmbeddings,
    images: googleImages,
    gemini: geminiDialect({
      auth: { kind: 'header', name: 'x-goog-api-key' },
      modelUrl: (input) => modelBelow(input.baseUrl, input.forwardModelId),
      capabilities: geminiModelCapabilities,
      tierHeader: 'x-gemini-service-tier',
    }),
  },
  video: googleVideo,
}
