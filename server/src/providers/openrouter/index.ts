import { chatDialect } from '../dialects/chat.ts'
import { formMessagesWithoutCount, messagesDialect } from '../dialects/messages.ts'
import { passedDialect } from '../dialects/passed.ts'
import { responsesDialect } from '../dialects/responses.ts'
import type { Provider } from '../provider.ts'
import { classify } from './failures.ts'
import { openrouterImages } from './images.ts'
import { openrouterTranscription } from './transcription.ts'

export const openrouter: Provider = {
  kind: 'openrouter',
  name: 'OpenRouter',
  defaultBaseUrl: 'https://openrouter.ai/api/v1',
  publicFields: [],
  extraCosts: ['web_search', 'plugins'],
  dialects: {
    embeddings: passedDialect({ protocol: 'embeddings', path: '/embeddings', classify }),
    rerank: passedDialect({ protocol: 'rerank', path: '/rerank', classify }),
    images: openrouterImages,
    speech: passedDialect({ protocol: 'speech', path: '/audio/speech', classify }),
    transcription: openrouterTranscription,
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
