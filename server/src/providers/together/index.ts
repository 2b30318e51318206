import { chatDialect } from '../dialects/chat.ts'
import type { Provider } from '../provider.ts'

export const together: Provider = {
  kind: 'together',
  name: 'Together AI',
  defaultBaseUrl: 'https://api.together.ai/v1',
  publicFields: [],
  dialects: {
    chat: chatDialect({
      capabilities: (model) => ({
        ...(model.includes('gpt-oss') ? { reasoning: 'effort', efforts: ['low', 'medium', 'high'] } : {}),
        reasoningField: 'reasoning',
        topK: true,
        logprobs: false,
        user: false,
      }),
      words: { credit_limit_reached: 'quota', model_not_available: 'not-found' },
    }),
  },
}
