import { chatDialect } from '../dialects/chat.ts'
import { imagesDialect } from '../dialects/images-dialect.ts'
import { passedDialect } from '../dialects/passed.ts'
import { responsesDialect } from '../dialects/responses.ts'
import type { Provider } from '../provider.ts'
import { arkVideo } from './video.ts'
import { WORDS } from './words.ts'

/** Volcengine's model service in Beijing; the international one is `https://ark.ap-southeast.bytepluses.com/api/v3`. */
export const ark: Provider = {
  kind: 'ark',
  name: 'Volcengine Ark (Doubao)',
  defaultBaseUrl: 'https://ark.cn-beijing.volces.com/api/v3',
  publicFields: [],
  dialects: {
    images: imagesDialect({ words: WORDS }),
    embeddings: passedDialect({ protocol: 'embeddings', path: '/embeddings', words: WORDS }),
    chat: chatDialect({
      capabilities: () => ({
        reasoning: 'effort',
        efforts: ['minimal', 'low', 'medium', 'high'],
        temperatureMax: 2,
        seed: false,
        candidates: false,
        parallelToolCalls: true,
        user: false,
      }),
      words: WORDS,
    }),
    responses: responsesDialect({
      capabilities: () => ({
        reasoning: 'effort',
        efforts: ['minimal', 'low', 'medium', 'high'],
        metadata: false,
      }),
      words: WORDS,
    }),
  },
  video: arkVideo,
}
