import { audioPath, TRANSCRIPTIONS } from '../dialects/audio-path.ts'
import { chatDialect } from '../dialects/chat.ts'
import { passedDialect } from '../dialects/passed.ts'
import type { Provider } from '../provider.ts'
import { mistralSpeech } from './speech.ts'

export const mistral: Provider = {
  kind: 'mistral',
  name: 'Mistral AI',
  defaultBaseUrl: 'https://api.mistral.ai/v1',
  publicFields: [],
  dialects: {
    embeddings: passedDialect({ protocol: 'embeddings', path: '/embeddings' }),
    transcription: passedDialect({ protocol: 'transcription', path: audioPath, paths: [TRANSCRIPTIONS] }),
    speech: mistralSpeech,
    moderation: passedDialect({ protocol: 'moderation', path: '/moderations' }),
    chat: chatDialect({
      capabilities: (model) => ({
        reasoning: /magistral|mistral-(small|medium)/.test(model) ? 'effort' : 'none',
        efforts: ['none', 'high'],
        temperatureMax: 1.5,
        // It has its own `random_seed`.
        seed: false,
        logprobs: false,
        strictTools: true,
        // Call ids have exactly nine letters or digits.
        toolIdMax: 9,
        // Usage is always reported; the option is refused.
        includeUsage: false,
        documents: 'url',
        user: false,
      }),
    }),
  },
}
