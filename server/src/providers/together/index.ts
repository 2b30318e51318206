import type { FailureWords } from '../../core/routing/failure.ts'
import { audioPath } from '../dialects/audio-path.ts'
import { chatDialect } from '../dialects/chat.ts'
import { imagesDialect } from '../dialects/images-dialect.ts'
import { passedDialect } from '../dialects/passed.ts'
import type { Provider } from '../provider.ts'

const WORDS: FailureWords = { credit_limit_reached: 'quota', model_not_available: 'not-found' }

export const together: Provider = {
  kind: 'together',
  name: 'Together AI',
  defaultBaseUrl: 'https://api.together.ai/v1',
  publicFields: [],
  dialects: {
    images: imagesDialect({ words: WORDS }),
    speech: passedDialect({ protocol: 'speech', path: '/audio/speech', words: WORDS }),
    transcription: passedDialect({ protocol: 'transcription', path: audioPath, words: WORDS }),
    embeddings: passedDialect({ protocol: 'embeddings', path: '/embeddings', words: WORDS }),
    rerank: passedDialect({ protocol: 'rerank', path: '/rerank', words: WORDS }),
    chat: chatDialect({
      capabilities: (model) => ({
        ...(model.includes('gpt-oss') ? { reasoning: 'effort', efforts: ['low', 'medium', 'high'] } : {}),
        reasoningField: 'reasoning',
        topK: true,
        logprobs: false,
        user: false,
      }),
      words: WORDS,
    }),
  },
}
