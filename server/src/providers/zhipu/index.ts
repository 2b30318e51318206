import type { Capabilities } from '../../core/protocols/protocol.ts'
import { audioPath, TRANSCRIPTIONS } from '../dialects/audio-path.ts'
import { chatDialect } from '../dialects/chat.ts'
import { imagesDialect } from '../dialects/images-dialect.ts'
import { besideMain, formMessagesWithoutCount, messagesDialect } from '../dialects/messages.ts'
import { passedDialect } from '../dialects/passed.ts'
import { floatsOnly } from '../dialects/vectors.ts'
import type { Provider } from '../provider.ts'
import { WORDS } from './failure-words.ts'
import { zhipuModeration } from './moderation.ts'
import { zhipuVideo } from './video.ts'

/** Mainland address; the international one is `https://api.z.ai/api/paas/v4`. */
export const zhipu: Provider = {
  kind: 'zhipu',
  name: 'Zhipu AI (GLM)',
  defaultBaseUrl: 'https://open.bigmodel.cn/api/paas/v4',
  publicFields: [],
  dialects: {
    images: imagesDialect({ words: WORDS }),
    speech: passedDialect({ protocol: 'speech', path: '/audio/speech', words: WORDS }),
    transcription: passedDialect({
      protocol: 'transcription',
      path: audioPath,
      paths: [TRANSCRIPTIONS],
      words: WORDS,
    }),
    embeddings: passedDialect({
      protocol: 'embeddings',
      path: '/embeddings',
      words: WORDS,
      rewrite: floatsOnly,
    }),
    rerank: passedDialect({ protocol: 'rerank', path: '/rerank', words: WORDS }),
    moderation: zhipuModeration,
    chat: chatDialect({
      capabilities: (model) => ({
        ...reasoningOf(model),
        temperatureMax: 1,
        penalties: false,
        seed: false,
        logprobs: false,
        candidates: false,
        stopMax: 1,
        // Tool choices other than auto are refused, with and without thinking.
        forcedToolWithReasoning: false,
        parallelToolCalls: false,
        jsonSchema: false,
      }),
      words: WORDS,
    }),
    messages: messagesDialect({
      form: (input) =>
        formMessagesWithoutCount(
          besideMain(input.baseUrl, { main: '/paas/v4', messages: '/anthropic' }),
          input,
        ),
      capabilities: reasoningOf,
      words: WORDS,
    }),
  },
  video: zhipuVideo,
}

/** From 5.3 on the models always think and take an effort; before that thinking is a switch. */
function reasoningOf(model: string): Partial<Capabilities> {
  const version = Number(/^glm-(\d+(?:\.\d+)?)/.exec(model)?.[1] ?? 0)
  return version >= 5.3
    ? { reasoning: 'effort', efforts: ['low', 'high', 'max'] }
    : { reasoning: 'toggle', efforts: ['none', 'high'] }
}
