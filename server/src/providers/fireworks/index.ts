import { chatDialect } from '../dialects/chat.ts'
import { formMessagesWithoutCount, messagesDialect } from '../dialects/messages.ts'
import type { Provider } from '../provider.ts'

export const fireworks: Provider = {
  kind: 'fireworks',
  name: 'Fireworks AI',
  defaultBaseUrl: 'https://api.fireworks.ai/inference/v1',
  publicFields: [],
  dialects: {
    chat: chatDialect({
      capabilities: () => ({ reasoning: 'effort', efforts: ['none', 'low', 'medium', 'high'], topK: true }),
      // A suspended account is answered with 412.
      words: { account_suspended: 'quota', precondition_failed: 'quota' },
    }),
    messages: messagesDialect({
      auth: { kind: 'bearer' },
      form: (input) => formMessagesWithoutCount(input.baseUrl.replace(/\/v1\/*$/, ''), input),
      capabilities: () => ({ reasoning: 'budget', images: 'url' }),
    }),
  },
}
