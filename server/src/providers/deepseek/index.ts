import { chatDialect } from '../dialects/chat.ts'
import { besideMain, formMessagesWithoutCount, messagesDialect } from '../dialects/messages.ts'
import type { Provider } from '../provider.ts'

export const deepseek: Provider = {
  kind: 'deepseek',
  name: 'DeepSeek',
  defaultBaseUrl: 'https://api.deepseek.com',
  publicFields: [],
  dialects: {
    chat: chatDialect({
      capabilities: () => ({
        reasoning: 'toggle',
        efforts: ['none', 'high', 'max'],
        // Calls made while thinking are refused without the thoughts that led to them.
        replayReasoning: true,
        jsonSchema: false,
        images: 'none',
        candidates: false,
        seed: false,
        parallelToolCalls: false,
        stopMax: 16,
        user: false,
      }),
    }),
    messages: messagesDialect({
      form: (input) =>
        formMessagesWithoutCount(besideMain(input.baseUrl, { main: '/v1', messages: '/anthropic' }), input),
      capabilities: () => ({
        reasoning: 'toggle',
        efforts: ['none', 'high', 'max'],
        images: 'none',
        topK: false,
      }),
    }),
  },
}
