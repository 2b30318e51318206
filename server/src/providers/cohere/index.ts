import { chatDialect } from '../dialects/chat.ts'
import { passedDialect } from '../dialects/passed.ts'
import { below, type Provider } from '../provider.ts'
import { cohereEmbeddings } from './embeddings.ts'

/** Its own API has paths with versions; OpenAI's form of conversations lies beside it, below `/compatibility/v1`. */
export const cohere: Provider = {
  kind: 'cohere',
  name: 'Cohere',
  defaultBaseUrl: 'https://api.cohere.com',
  publicFields: [],
  dialects: {
    // Documents that are objects, and documents given back, are only known to the older version.
    rerank: passedDialect({
      protocol: 'rerank',
      path: (called) => (called === '/v1/rerank' ? '/v1/rerank' : '/v2/rerank'),
    }),
    embeddings: cohereEmbeddings,
    chat: chatDialect({
      form: ({ baseUrl, operation }) =>
        operation === 'count-tokens'
          ? undefined
          : { method: 'POST', url: below(baseUrl, '/compatibility/v1/chat/completions'), headers: {} },
    }),
  },
}
