import { audioPath } from '../dialects/audio-path.ts'
import { chatDialect } from '../dialects/chat.ts'
import { allImagesDialect } from '../dialects/images-dialect.ts'
import { formMessages, messagesDialect } from '../dialects/messages.ts'
import { passedDialect } from '../dialects/passed.ts'
import { responsesDialect } from '../dialects/responses.ts'
import type { Provider } from '../provider.ts'
import { openaiCompatibleVideo } from './video.ts'

/** Any server that claims to be compatible; the base address ends before `/chat/completions`, mostly with `/v1`. */
export const openaiCompatible: Provider = {
  kind: 'openai-compatible',
  name: 'OpenAI-compatible',
  defaultBaseUrl: undefined,
  publicFields: [],
  dialects: {
    images: allImagesDialect({}),
    speech: passedDialect({ protocol: 'speech', path: '/audio/speech' }),
    transcription: passedDialect({ protocol: 'transcription', path: audioPath }),
    rerank: passedDialect({ protocol: 'rerank', path: '/rerank' }),
    embeddings: passedDialect({ protocol: 'embeddings', path: '/embeddings' }),
    moderation: passedDialect({ protocol: 'moderation', path: '/moderations' }),
    chat: chatDialect({}),
    responses: responsesDialect({}),
    // Servers that are also compatible with Anthropic have it next to the others: the base address already ends with
    // `/v1`.
    messages: messagesDialect({
      auth: { kind: 'bearer' },
      form: (input) => formMessages(input.baseUrl.replace(/\/v1\/*$/, ''), input),
    }),
  },
  video: openaiCompatibleVideo,
}
