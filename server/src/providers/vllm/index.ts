import { audioPath } from '../dialects/audio-path.ts'
import { chatDialect } from '../dialects/chat.ts'
import { formMessages, messagesDialect } from '../dialects/messages.ts'
import { passedDialect } from '../dialects/passed.ts'
import { responsesDialect } from '../dialects/responses.ts'
import type { Provider } from '../provider.ts'

/** The operator's own server; a key only if it was started with one. */
export const vllm: Provider = {
  kind: 'vllm',
  name: 'vLLM',
  defaultBaseUrl: 'http://127.0.0.1:8000/v1',
  publicFields: [],
  ownServer: true,
  dialects: {
    embeddings: passedDialect({ protocol: 'embeddings', path: '/embeddings' }),
    rerank: passedDialect({ protocol: 'rerank', path: '/rerank' }),
    // Its streams have the events of chats (docs/protocols.md#transcription).
    transcription: passedDialect({ protocol: 'transcription', path: audioPath }),
    chat: chatDialect({
      capabilities: (model) => ({
        ...(model.includes('gpt-oss') ? { reasoning: 'effort', efforts: ['low', 'medium', 'high'] } : {}),
        reasoningField: 'reasoning',
        topK: true,
        stopMax: 16,
        toolNameMax: 128,
        toolIdMax: 256,
        audio: true,
      }),
    }),
    responses: responsesDialect({}),
    messages: messagesDialect({
      auth: { kind: 'bearer' },
      form: (input) => formMessages(input.baseUrl.replace(/\/v1\/*$/, ''), input),
      capabilities: () => ({ cacheMarks: 'none' }),
    }),
  },
}
