import { chatDialect } from '../dialects/chat.ts'
import { formMessagesWithoutCount, messagesDialect } from '../dialects/messages.ts'
import { passedDialect } from '../dialects/passed.ts'
import { rankedList } from '../dialects/ranked-list.ts'
import { floatsOnly } from '../dialects/vectors.ts'
import type { Provider } from '../provider.ts'
import { WORDS } from './failure-words.ts'
import { fireworksImages } from './images.ts'

/** It refuses unknown members. */
const RANK_NAMES = {
  model: 'model',
  query: 'query',
  documents: 'documents',
  top_n: 'top_n',
  return_documents: 'return_documents',
  task: 'task',
}

export const fireworks: Provider = {
  kind: 'fireworks',
  name: 'Fireworks AI',
  defaultBaseUrl: 'https://api.fireworks.ai/inference/v1',
  publicFields: [],
  dialects: {
    images: fireworksImages,
    embeddings: passedDialect({
      protocol: 'embeddings',
      path: '/embeddings',
      words: WORDS,
      rewrite: floatsOnly,
    }),
    rerank: passedDialect({
      protocol: 'rerank',
      path: '/rerank',
      words: WORDS,
      // Otherwise it returns every document.
      rewrite: rankedList(RANK_NAMES, { return_documents: false }),
    }),
    chat: chatDialect({
      capabilities: () => ({ reasoning: 'effort', efforts: ['none', 'low', 'medium', 'high'], topK: true }),
      words: WORDS,
    }),
    messages: messagesDialect({
      auth: { kind: 'bearer' },
      form: (input) => formMessagesWithoutCount(input.baseUrl.replace(/\/v1\/*$/, ''), input),
      capabilities: () => ({ reasoning: 'budget', images: 'url' }),
    }),
  },
}
