import { filledAddress, type FormInput, type FormedRequest, below, type Provider } from '../provider.ts'
import { chatDialect } from '../dialects/chat.ts'
import { openAiChatCapabilities, openAiResponsesCapabilities } from '../dialects/openai-models.ts'
import { responsesDialect } from '../dialects/responses.ts'

/** The v1 interface: the deployment is named in the body like any model, and no dated `api-version` is needed. */
export const azureOpenai: Provider = {
  kind: 'azure-openai',
  name: 'Azure OpenAI',
  defaultBaseUrl: 'https://{resource}.openai.azure.com/openai/v1',
  publicFields: ['resource', 'api_version'],
  dear: [
    'service_tier.priority',
    'service_tier.ultrafast',
    'web_search',
    'file_search',
    'code_interpreter',
    'image_generation',
  ],
  dialects: {
    chat: chatDialect({
      auth: { kind: 'header', name: 'api-key' },
      form: (input) => (input.operation === 'count-tokens' ? undefined : form(input, '/chat/completions')),
      capabilities: openAiChatCapabilities,
    }),
    responses: responsesDialect({
      auth: { kind: 'header', name: 'api-key' },
      form: (input) => (input.operation === 'count-tokens' ? undefined : form(input, '/responses')),
      capabilities: openAiResponsesCapabilities,
      background: true,
    }),
  },
}

function form({ baseUrl, fields }: FormInput, path: string): FormedRequest | undefined {
  const base = filledAddress(baseUrl, fields)
  if (base === undefined) return undefined
  // `preview` enables features that are not generally available yet.
  const version = fields['api_version']
  const query = version === undefined ? '' : `?api-version=${encodeURIComponent(version)}`
  return { method: 'POST', url: below(base, path + query), headers: {} }
}
