import { isJsonObject } from '../../core/json.ts'
import { classifyFailure, type FailureClass, type UpstreamFailure } from '../../core/routing/failure.ts'
import { chatDialect } from '../dialects/chat.ts'
import { formMessagesWithoutCount, messagesDialect } from '../dialects/messages.ts'
import { passedDialect } from '../dialects/passed.ts'
import { responsesDialect } from '../dialects/responses.ts'
import type { Provider } from '../provider.ts'

export const openrouter: Provider = {
  kind: 'openrouter',
  name: 'OpenRouter',
  defaultBaseUrl: 'https://openrouter.ai/api/v1',
  publicFields: [],
  extraCosts: ['web_search', 'plugins'],
  dialects: {
    embeddings: passedDialect({ protocol: 'embeddings', path: '/embeddings', classify }),
    chat: chatDialect({
      capabilities: (model) => ({
        reasoning: 'effort',
        reasoningField: 'reasoning',
        efforts: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'],
        topK: true,
        strictTools: true,
        documents: 'url',
        audio: true,
        cacheMarks: model.startsWith('anthropic/') ? 'anthropic' : 'none',
      }),
      classify,
    }),
    responses: responsesDialect({
      capabilities: () => ({
        reasoning: 'effort',
        efforts: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'],
      }),
      classify,
    }),
    messages: messagesDialect({
      auth: { kind: 'bearer' },
      form: (input) => formMessagesWithoutCount(input.baseUrl.replace(/\/v1\/*$/, ''), input),
      capabilities: () => ({ reasoning: 'budget', images: 'url' }),
      classify,
    }),
  },
}

/** A 403 that lists `reasons` is the moderation of a prompt; any other is about the key. */
function classify(failure: UpstreamFailure): FailureClass {
  const error = isJsonObject(failure.body) ? failure.body['error'] : undefined
  const metadata = isJsonObject(error) ? error['metadata'] : undefined
  if (failure.status === 403 && isJsonObject(metadata) && metadata['reasons'] !== undefined) {
    return { kind: 'refused-content' }
  }
  // `error.code` repeats the status, also inside a stream, where the status is 200.
  const code = isJsonObject(error) ? error['code'] : undefined
  const status = failure.status < 300 && typeof code === 'number' ? code : failure.status
  return classifyFailure({ ...failure, status })
}
