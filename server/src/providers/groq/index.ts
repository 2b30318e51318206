import type { FailureWords } from '../../core/routing/failure.ts'
import { audioPath } from '../dialects/audio-path.ts'
import { chatDialect } from '../dialects/chat.ts'
import { passedDialect } from '../dialects/passed.ts'
import { responsesDialect } from '../dialects/responses.ts'
import type { Provider } from '../provider.ts'

const WORDS: FailureWords = {
  blocked_api_access: 'quota',
  model_terms_required: 'auth',
  model_decommissioned: 'not-found',
}

export const groq: Provider = {
  kind: 'groq',
  name: 'Groq',
  defaultBaseUrl: 'https://api.groq.com/openai/v1',
  publicFields: [],
  dialects: {
    speech: passedDialect({ protocol: 'speech', path: '/audio/speech', words: WORDS }),
    transcription: passedDialect({ protocol: 'transcription', path: audioPath, words: WORDS }),
    chat: chatDialect({
      capabilities: (model) => ({
        reasoningField: 'reasoning',
        ...(model.includes('gpt-oss')
          ? { reasoning: 'effort', efforts: ['low', 'medium', 'high'] }
          : model.includes('qwen')
            ? { reasoning: 'effort', efforts: ['none', 'medium'] }
            : {}),
        outputTokensField: 'max_completion_tokens',
        logprobs: false,
        candidates: false,
        images: model.includes('llama-4') ? 'url' : 'none',
        jsonSchema: /gpt-oss|llama-4|kimi/.test(model),
      }),
      words: WORDS,
    }),
    responses: responsesDialect({
      capabilities: (model) => ({
        reasoning: model.includes('gpt-oss') ? 'effort' : 'none',
        efforts: ['low', 'medium', 'high'],
        images: 'none',
      }),
      words: WORDS,
    }),
  },
}
