import { chatDialect } from '../dialects/chat.ts'
import { formMessagesWithoutCount, messagesDialect } from '../dialects/messages.ts'
import { passedDialect } from '../dialects/passed.ts'
import { responsesDialect } from '../dialects/responses.ts'
import type { Provider } from '../provider.ts'

/**
 * On the operator's own machine; needs no key there. In the cloud (`https://ollama.com/v1`) only a bearer key is
 * accepted.
 */
export const ollama: Provider = {
  kind: 'ollama',
  name: 'Ollama',
  defaultBaseUrl: 'http://127.0.0.1:11434/v1',
  publicFields: [],
  ownServer: true,
  dialects: {
    embeddings: passedDialect({ protocol: 'embeddings', path: '/embeddings' }),
    chat: chatDialect({
      capabilities: () => ({
        reasoning: 'effort',
        reasoningField: 'reasoning',
        efforts: ['none', 'low', 'medium', 'high'],
        images: 'inline',
        logprobs: false,
        candidates: false,
        parallelToolCalls: false,
        user: false,
      }),
    }),
    responses: responsesDialect({ capabilities: () => ({ images: 'inline', metadata: false }) }),
    messages: messagesDialect({
      auth: { kind: 'bearer' },
      form: (input) => formMessagesWithoutCount(input.baseUrl.replace(/\/v1\/*$/, ''), input),
      capabilities: () => ({ reasoning: 'toggle', efforts: ['none', 'high'], cacheMarks: 'none' }),
    }),
  },
}
