import { chatDialect } from '../dialects/chat.ts'
import { besideMain, formMessagesWithoutCount, messagesDialect } from '../dialects/messages.ts'
import { responsesDialect } from '../dialects/responses.ts'
import type { Provider } from '../provider.ts'

export const deepseek: Provider = {
  kind: 'deepseek',
  name: 'DeepSeek',
  defaultBaseUrl: 'https://api.deepseek.com',
  publicFields: [],
  dialects: {
    chat: chatDialect({
      capabilities: (model) => ({
        reasoning: 'toggle',
        efforts: ['none', 'high', 'max'],
        // Tool calls made while thinking are refused without the reasoning that led to them.
        replayReasoning: true,
        jsonSchema: false,
        images: model.includes('flash') ? 'inline' : 'none',
        candidates: false,
        seed: false,
        parallelToolCalls: false,
        stopMax: 16,
        user: false,
      }),
    }),
    responses: responsesDialect({
      capabilities: (model) => ({
        reasoning: 'effort',
        efforts: ['none', 'high', 'max'],
        images: model.includes('flash') ? 'inline' : 'none',
        jsonSchema: false,
        metadata: false,
      }),
    }),
    messages: messagesDialect({
      form: (input) =>
        formMessagesWithoutCount(besideMain(input.baseUrl, { main: '/v1', messages: '/anthropic' }), input),
      capabilities: (model) => ({
        reasoning: 'toggle',
        efforts: ['none', 'high', 'max'],
        images: model.includes('flash') ? 'inline' : 'none',
        topK: false,
      }),
    }),
  },
}
