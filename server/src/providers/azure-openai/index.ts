import type { PassedFormId } from '../../core/catalogue.ts'
import type { Auth } from '../../core/http-request.ts'
import { audioPath } from '../dialects/audio-path.ts'
import { chatDialect } from '../dialects/chat.ts'
import { EDITS, GENERATIONS } from '../dialects/images-dialect.ts'
import { openAiChatCapabilities, openAiResponsesCapabilities } from '../dialects/openai-models.ts'
import { passedDialect } from '../dialects/passed.ts'
import { responsesDialect } from '../dialects/responses.ts'
import {
  below,
  filledAddress,
  type FormedRequest,
  type FormInput,
  type PassedDialect,
  type Provider,
} from '../provider.ts'

const AUTH: Auth = { kind: 'header', name: 'api-key' }

/** The v1 interface: the deployment is named in the body like any model, and no dated `api-version` is needed. */
export const azureOpenai: Provider = {
  kind: 'azure-openai',
  name: 'Azure OpenAI',
  defaultBaseUrl: 'https://{resource}.openai.azure.com/openai/v1',
  publicFields: ['resource', 'api_version'],
  extraCosts: [
    'service_tier.priority',
    'service_tier.ultrafast',
    'web_search',
    'file_search',
    'code_interpreter',
    'image_generation',
  ],
  dialects: {
    images: {
      ...passed('images', (called) => (called === EDITS ? '/images/edits' : '/images/generations')),
      paths: [GENERATIONS, EDITS],
    },
    speech: passed('speech', () => '/audio/speech'),
    transcription: passed('transcription', audioPath),
    embeddings: passed('embeddings', () => '/embeddings'),
    chat: chatDialect({
      auth: AUTH,
      form: (input) => (input.operation === 'count-tokens' ? undefined : form(input, '/chat/completions')),
      capabilities: openAiChatCapabilities,
    }),
    responses: responsesDialect({
      auth: AUTH,
      form: (input) => (input.operation === 'count-tokens' ? undefined : form(input, '/responses')),
      capabilities: openAiResponsesCapabilities,
      background: true,
    }),
  },
}

function passed(protocol: PassedFormId, pathOf: (called: string | undefined) => string): PassedDialect {
  return {
    ...passedDialect({ protocol, path: '', auth: AUTH }),
    form: (input) => (input.operation === 'count-tokens' ? undefined : form(input, pathOf(input.calledPath))),
  }
}

function form({ baseUrl, fields }: FormInput, path: string): FormedRequest | undefined {
  const base = filledAddress(baseUrl, fields)
  if (base === undefined) return undefined
  // `preview` enables features that are not generally available yet.
  const version = fields['api_version']
  const query = version === undefined ? '' : `?api-version=${encodeURIComponent(version)}`
  return { method: 'POST', url: below(base, path + query), headers: {} }
}
