import { chatDialect } from '../dialects/chat.ts'
import { formMessagesWithoutCount, messagesDialect } from '../dialects/messages.ts'
import { passedDialect } from '../dialects/passed.ts'
import { responsesDialect } from '../dialects/responses.ts'
import { floatsOnly } from '../dialects/vectors.ts'
import type { Provider } from '../provider.ts'

/** On the operator's own machine; a key only if its server requires one. */
export const lmStudio: Provider = {
  kind: 'lm-studio',
  name: 'LM Studio',
  defaultBaseUrl: 'http://127.0.0.1:1234/v1',
  publicFields: [],
  ownServer: true,
  dialects: {
    embeddings: passedDialect({ protocol: 'embeddings', path: '/embeddings', rewrite: floatsOnly }),
    chat: chatDialect({
      capabilities: () => ({
        topK: true,
        images: 'inline',
        logprobs: false,
        candidates: false,
        // JSON mode without a schema is refused.
        jsonObject: false,
      }),
    }),
    responses: responsesDialect({
      capabilities: () => ({ reasoning: 'effort', efforts: ['low', 'medium', 'high'], images: 'inline' }),
    }),
    messages: messagesDialect({
      auth: { kind: 'bearer' },
      form: (input) => formMessagesWithoutCount(input.baseUrl.replace(/\/v1\/*$/, ''), input),
      capabilities: () => ({ cacheMarks: 'none' }),
    }),
  },
}
