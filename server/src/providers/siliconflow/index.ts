import type { FailureWords } from '../../core/routing/failure.ts'
import { chatDialect } from '../dialects/chat.ts'
import { formMessagesWithoutCount, messagesDialect } from '../dialects/messages.ts'
import { passedDialect } from '../dialects/passed.ts'
import type { Provider } from '../provider.ts'

/** Numbers in a top-level `code`. */
const WORDS: FailureWords = {
  20012: 'not-found',
  20015: 'request',
  30001: 'quota',
  30011: 'quota',
  50505: 'overloaded',
  50603: 'overloaded',
}

/** Mainland address; the international one is `https://api.siliconflow.com/v1`. */
export const siliconflow: Provider = {
  kind: 'siliconflow',
  name: 'SiliconFlow',
  defaultBaseUrl: 'https://api.siliconflow.cn/v1',
  publicFields: [],
  dialects: {
    embeddings: passedDialect({ protocol: 'embeddings', path: '/embeddings', words: WORDS }),
    rerank: passedDialect({ protocol: 'rerank', path: '/rerank', words: WORDS }),
    chat: chatDialect({
      capabilities: () => ({
        reasoning: 'budget',
        reasoningSwitch: 'enable_thinking',
        efforts: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'],
        topK: true,
        seed: false,
        logprobs: false,
        user: false,
      }),
      words: WORDS,
    }),
    messages: messagesDialect({
      auth: { kind: 'bearer' },
      form: (input) => formMessagesWithoutCount(input.baseUrl.replace(/\/v1\/*$/, ''), input),
      words: WORDS,
    }),
  },
}
