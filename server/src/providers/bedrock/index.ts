import { hostedClaudeCapabilities } from '../dialects/claude.ts'
import { formMessagesWithoutCount, messagesDialect } from '../dialects/messages.ts'
import { filledAddress, type Provider } from '../provider.ts'

/**
 * Claude on Amazon Bedrock, through the messages interface of the runtime endpoint. Signed with an access key, or with
 * a Bedrock API key as bearer. `bedrock-mantle.{region}.api.aws/anthropic` speaks the same and takes the API key only:
 * the signature names the runtime's service.
 */
export const bedrock: Provider = {
  kind: 'bedrock',
  name: 'Amazon Bedrock',
  defaultBaseUrl: 'https://bedrock-runtime.{region}.amazonaws.com/anthropic',
  publicFields: ['region'],
  dialects: {
    messages: messagesDialect({
      auth: { kind: 'aws-sigv4', service: 'bedrock' },
      form: (input) => {
        const base = filledAddress(input.baseUrl, input.fields)
        return base === undefined ? undefined : formMessagesWithoutCount(base, input)
      },
      capabilities: hostedClaudeCapabilities,
      words: {
        throttlingexception: 'rate-limited',
        servicequotaexceededexception: 'rate-limited',
        modelnotreadyexception: 'overloaded',
        modeltimeoutexception: 'overloaded',
        serviceunavailableexception: 'overloaded',
        accessdeniedexception: 'auth',
        unrecognizedclientexception: 'auth',
        resourcenotfoundexception: 'not-found',
        validationexception: 'request',
      },
    }),
  },
}
