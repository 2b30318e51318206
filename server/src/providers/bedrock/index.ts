import {
  classifyFailure,
  type FailureClass,
  type FailureWords,
  withHint,
} from '../../core/routing/failure.ts'
import type { UpstreamFailure } from '../../core/routing/failure.ts'
import { hostedClaudeCapabilities } from '../dialects/claude.ts'
import { formMessagesWithoutCount, messagesDialect } from '../dialects/messages.ts'
import { below, filledAddress, type FormedRequest, type FormInput, type Provider } from '../provider.ts'

const AUTH = { kind: 'aws-sigv4', service: 'bedrock' } as const

const WORDS: FailureWords = {
  throttlingexception: 'rate-limited',
  servicequotaexceededexception: 'rate-limited',
  modelnotreadyexception: 'overloaded',
  modeltimeoutexception: 'overloaded',
  modelerrorexception: 'overloaded',
  modelstreamerrorexception: 'overloaded',
  serviceunavailableexception: 'overloaded',
  internalserverexception: 'overloaded',
  accessdeniedexception: 'auth',
  unrecognizedclientexception: 'auth',
  resourcenotfoundexception: 'not-found',
  validationexception: 'request',
}

/**
 * Claude on Amazon Bedrock, through the messages interface of the runtime endpoint. Signed with an access key, or with a
 * Bedrock API key as bearer. `bedrock-mantle.{region}.api.aws/anthropic` has the same interface but accepts only the API
 * key, because our signature names the runtime's service.
 */
export const bedrock: Provider = {
  kind: 'bedrock',
  name: 'Amazon Bedrock',
  defaultBaseUrl: 'https://bedrock-runtime.{region}.amazonaws.com/anthropic',
  publicFields: ['region'],
  dialects: {
    messages: messagesDialect({
      auth: AUTH,
      form: (input) => {
        const base = filledAddress(input.baseUrl, input.fields)
        return base === undefined ? undefined : formMessagesWithoutCount(base, input)
      },
      capabilities: hostedClaudeCapabilities,
      words: WORDS,
    }),
  },
}

/**
 * The same through InvokeModel, for what the messages interface cannot reach: inference profiles and provisioned
 * throughput by their ARN, and private endpoints of the runtime that offer nothing else. The model is in the path, the
 * version in the body, and a stream comes in AWS's binary frames: its events are passed on unchanged, re-framed as SSE by
 * the gateway.
 */
export const bedrockInvoke: Provider = {
  kind: 'bedrock-invoke',
  name: 'Amazon Bedrock (InvokeModel)',
  defaultBaseUrl: 'https://bedrock-runtime.{region}.amazonaws.com',
  publicFields: ['region'],
  dialects: {
    messages: messagesDialect({
      auth: AUTH,
      form: formInvoke,
      modelPlace: 'path',
      bodyEdit: { set: { anthropic_version: 'bedrock-2023-05-31' }, remove: ['stream'] },
      framing: 'aws-event-stream',
      capabilities: hostedClaudeCapabilities,
      classify: classifyInvoke,
    }),
  },
}

/** Counting has another form and is left to the gateway. */
function formInvoke(input: FormInput): FormedRequest | undefined {
  const base = filledAddress(input.baseUrl, input.fields)
  if (base === undefined || input.operation === 'count-tokens') return undefined
  const verb = input.operation === 'stream' ? 'invoke-with-response-stream' : 'invoke'
  const url = below(base, `/model/${encodeURIComponent(input.forwardModelId)}/${verb}`)
  return { method: 'POST', url, headers: { accept: 'application/json' } }
}

/** The body holds only a sentence; the kind of failure is in a header: `ThrottlingException:http://…`. */
function classifyInvoke(failure: UpstreamFailure): FailureClass {
  const [type = ''] = String(failure.headers['x-amzn-errortype'] ?? '').split(/[:#]/)
  const kind = WORDS[type.trim().toLowerCase()]
  return kind === undefined ? classifyFailure(failure, WORDS) : withHint(kind, failure)
}
