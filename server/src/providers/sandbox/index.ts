/** Models that answer without a network, in all four protocols: for the first call, for demonstrations and tests. */
import type { ProtocolId } from '../../core/catalogue.ts'
import type { Capabilities } from '../../core/protocols/protocol.ts'
import { CHAT_CAPABILITIES } from '../dialects/chat.ts'
import { GEMINI_CAPABILITIES } from '../dialects/gemini/gemini.ts'
import { MESSAGES_CAPABILITIES } from '../dialects/messages.ts'
import { RESPONSES_CAPABILITIES } from '../dialects/responses.ts'
import { classifyFailure } from '../../core/routing/failure.ts'
import { below, type Dialect, type Provider } from '../provider.ts'
import { chatVoice } from './conversation/chat.ts'
import { sandboxEmbeddings } from './embeddings.ts'
import { geminiVoice } from './conversation/gemini.ts'
import { sandboxImages } from './images.ts'
import { messagesVoice } from './conversation/messages.ts'
import { sandboxModeration } from './moderation.ts'
import { sandboxRerank } from './rerank.ts'
import { respondAs } from './respond.ts'
import { responsesVoice } from './conversation/responses.ts'
import { sandboxSpeech } from './speech.ts'
import { sandboxTranscription } from './transcription.ts'
import { sandboxVideo } from './video/video.ts'
import type { Voice } from './conversation/voice.ts'

export const sandbox: Provider = {
  kind: 'sandbox',
  name: 'Sandbox',
  // Reserved for names that never resolve: nothing is ever sent there.
  defaultBaseUrl: 'https://sandbox.invalid',
  publicFields: [],
  dialects: {
    chat: dialect('chat', chatVoice, { ...CHAT_CAPABILITIES, customTools: true }),
    responses: dialect('responses', responsesVoice, { ...RESPONSES_CAPABILITIES, customTools: true }),
    messages: dialect('messages', messagesVoice, { ...MESSAGES_CAPABILITIES, jsonSchema: true }),
    gemini: dialect('gemini', geminiVoice, GEMINI_CAPABILITIES),
    embeddings: sandboxEmbeddings,
    images: sandboxImages,
    moderation: sandboxModeration,
    rerank: sandboxRerank,
    speech: sandboxSpeech,
    transcription: sandboxTranscription,
  },
  video: sandboxVideo,
}

function dialect(protocol: ProtocolId, voice: Voice, capabilities: Capabilities): Dialect {
  return {
    protocol,
    auth: { kind: 'none' },
    modelPlace: protocol === 'gemini' ? 'path' : 'body',
    form: ({ baseUrl, operation }) => {
      if (operation === 'count-tokens' && voice.count(0) === undefined) return undefined
      return { method: 'POST', url: below(baseUrl, `/${protocol}/${operation}`), headers: {} }
    },
    capabilities: (model) => ({
      ...capabilities,
      reasoning: model.includes('reasoning') ? 'toggle' : 'none',
    }),
    classify: (failure) => classifyFailure(failure),
    respond: (request) => respondAs(voice, request),
    ...(protocol === 'responses' ? { background: true as const } : {}),
  }
}
