import { chatDialect } from '../dialects/chat.ts'
import { besideMain, formMessagesWithoutCount, messagesDialect } from '../dialects/messages.ts'
import { responsesDialect } from '../dialects/responses.ts'
import type { Provider } from '../provider.ts'
import { classify } from './failures.ts'
import { minimaxImages } from './images.ts'
import { minimaxSpeech } from './speech.ts'
import { minimaxVideo } from './video.ts'

/** Mainland address; the international one is `https://api.minimax.io/v1`. */
export const minimax: Provider = {
  kind: 'minimax',
  name: 'MiniMax',
  defaultBaseUrl: 'https://api.minimaxi.com/v1',
  publicFields: [],
  dialects: {
    images: minimaxImages,
    speech: minimaxSpeech,
    chat: chatDialect({
      capabilities: () => ({
        temperatureMax: 1,
        penalties: false,
        seed: false,
        logprobs: false,
        candidates: false,
        stopMax: 0,
        parallelToolCalls: false,
        jsonSchema: false,
        images: 'none',
        user: false,
      }),
      classify,
    }),
    responses: responsesDialect({ classify }),
    messages: messagesDialect({
      auth: { kind: 'bearer' },
      form: (input) =>
        formMessagesWithoutCount(besideMain(input.baseUrl, { main: '/v1', messages: '/anthropic' }), input),
      capabilities: () => ({
        reasoning: 'toggle',
        efforts: ['none', 'high'],
        images: 'none',
        stopMax: 0,
        topK: false,
      }),
      classify,
    }),
  },
  video: minimaxVideo,
}
