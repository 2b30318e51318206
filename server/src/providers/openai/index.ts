import { audioPath } from '../dialects/audio-path.ts'
import { chatDialect } from '../dialects/chat.ts'
import { allImagesDialect } from '../dialects/images-dialect.ts'
import { openAiChatCapabilities, openAiResponsesCapabilities } from '../dialects/openai-models.ts'
import { passedDialect } from '../dialects/passed.ts'
import { responsesDialect } from '../dialects/responses.ts'
import { below, type FormedRequest, type FormInput, type Provider } from '../provider.ts'
import { openaiVideo } from './video.ts'

export const openai: Provider = {
  kind: 'openai',
  name: 'OpenAI',
  defaultBaseUrl: 'https://api.openai.com/v1',
  publicFields: [],
  extraCosts: [
    'service_tier.priority',
    'service_tier.ultrafast',
    'web_search',
    'file_search',
    'code_interpreter',
    'image_generation',
  ],
  dialects: {
    images: allImagesDialect({}),
    speech: passedDialect({ protocol: 'speech', path: '/audio/speech' }),
    transcription: passedDialect({ protocol: 'transcription', path: audioPath }),
    embeddings: passedDialect({ protocol: 'embeddings', path: '/embeddings' }),
    moderation: passedDialect({ protocol: 'moderation', path: '/moderations' }),
    chat: chatDialect({ capabilities: openAiChatCapabilities }),
    responses: responsesDialect({
      form: formResponses,
      capabilities: openAiResponsesCapabilities,
      background: true,
    }),
  },
  video: openaiVideo,
}

function formResponses(input: FormInput): FormedRequest {
  const path = input.operation === 'count-tokens' ? '/responses/input_tokens' : '/responses'
  return { method: 'POST', url: below(input.baseUrl, path), headers: {} }
}
