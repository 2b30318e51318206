import { passedDialect } from '../dialects/passed.ts'
import { floatsOnly } from '../dialects/vectors.ts'
import type { Provider } from '../provider.ts'

export const jina: Provider = {
  kind: 'jina',
  name: 'Jina AI',
  defaultBaseUrl: 'https://api.jina.ai/v1',
  publicFields: [],
  dialects: {
    rerank: passedDialect({ protocol: 'rerank', path: '/rerank' }),
    embeddings: passedDialect({
      protocol: 'embeddings',
      path: '/embeddings',
      // Its own field for base64 is a different one (docs/protocols.md).
      rewrite: floatsOnly,
      textPurpose: {
        member: 'task',
        words: {
          RETRIEVAL_QUERY: 'retrieval.query',
          RETRIEVAL_DOCUMENT: 'retrieval.passage',
          SEMANTIC_SIMILARITY: 'text-matching',
        },
      },
    }),
  },
}
