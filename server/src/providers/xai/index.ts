import type { Capabilities } from '../../core/protocols/protocol.ts'
import { chatDialect } from '../dialects/chat.ts'
import { responsesDialect } from '../dialects/responses.ts'
import type { Provider } from '../provider.ts'
import { xaiImages } from './images.ts'
import { xaiSpeech } from './speech.ts'
import { xaiVideo } from './video.ts'

/** Its version of the messages protocol is deprecated by the vendor and not used here. */
export const xai: Provider = {
  kind: 'xai',
  name: 'xAI (Grok)',
  defaultBaseUrl: 'https://api.x.ai/v1',
  publicFields: [],
  extraCosts: ['web_search', 'x_search', 'code_interpreter'],
  dialects: {
    images: xaiImages,
    speech: xaiSpeech,
    chat: chatDialect({
      capabilities: (model) => ({ ...grok(model), ...(reasons(model) ? { stopMax: 0 } : {}) }),
    }),
    responses: responsesDialect({
      capabilities: (model) => ({ ...grok(model), hostedTools: ['web-search', 'code-interpreter'] }),
    }),
  },
  video: xaiVideo,
}

function grok(model: string): Partial<Capabilities> {
  const always: Partial<Capabilities> = { outputTokensField: 'max_completion_tokens', strictTools: true }
  if (!reasons(model)) return always
  // Reasoning models refuse penalties and stop sequences.
  return { ...always, reasoning: 'effort', efforts: ['none', 'low', 'medium', 'high'], penalties: false }
}

function reasons(model: string): boolean {
  return !model.includes('non-reasoning')
}
