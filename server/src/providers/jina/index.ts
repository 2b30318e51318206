import { passedDialect } from '../dialects/passed.ts'
import type { Provider } from '../provider.ts'

export const jina: Provider = {
  kind: 'jina',
  name: 'Jina AI',
  defaultBaseUrl: 'https://api.jina.ai/v1',
  publicFields: [],
  dialects: {
    rerank: passedDialect({ protocol: 'rerank', path: '/rerank' }),
    embeddings: passedDialect({ protocol: 'embeddings', path: '/embeddings' }),
  },
}
