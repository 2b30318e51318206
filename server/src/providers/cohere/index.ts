import { TRANSCRIPTIONS } from '../dialects/audio-path.ts'
import { chatDialect } from '../dialects/chat.ts'
import { passedDialect } from '../dialects/passed.ts'
import { below, type Provider } from '../provider.ts'
import { cohereEmbeddings } from './embeddings.ts'

/** Its own API has versioned paths; OpenAI's chat form is below `/compatibility/v1`. */
export const cohere: Provider = {
  kind: 'cohere',
  name: 'Cohere',
  defaultBaseUrl: 'https://api.cohere.com',
  publicFields: [],
  dialects: {
    // Only the older version accepts documents as objects and returns documents.
    rerank: passedDialect({
      protocol: 'rerank',
      path: (called) => (called === '/v1/rerank' ? '/v1/rerank' : '/v2/rerank'),
    }),
    embeddings: cohereEmbeddings,
    transcription: passedDialect({
      protocol: 'transcription',
      path: '/v2/audio/transcriptions',
      paths: [TRANSCRIPTIONS],
    }),
    chat: chatDialect({
      form: ({ baseUrl, operation }) =>
        operation === 'count-tokens'
          ? undefined
          : { method: 'POST', url: below(baseUrl, '/compatibility/v1/chat/completions'), headers: {} },
    }),
  },
}
