import { audioPath, TRANSCRIPTIONS } from '../dialects/audio-path.ts'
import { chatDialect } from '../dialects/chat.ts'
import { formMessagesWithoutCount, messagesDialect } from '../dialects/messages.ts'
import { passedDialect } from '../dialects/passed.ts'
import type { Provider } from '../provider.ts'
import { siliconflowImages } from './images.ts'
import { WORDS } from './words.ts'

/** Mainland address; the international one is `https://api.siliconflow.com/v1`. */
export const siliconflow: Provider = {
  kind: 'siliconflow',
  name: 'SiliconFlow',
  defaultBaseUrl: 'https://api.siliconflow.cn/v1',
  publicFields: [],
  dialects: {
    images: siliconflowImages,
    speech: passedDialect({ protocol: 'speech', path: '/audio/speech', words: WORDS }),
    transcription: passedDialect({
      protocol: 'transcription',
      path: audioPath,
      paths: [TRANSCRIPTIONS],
      words: WORDS,
    }),
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
