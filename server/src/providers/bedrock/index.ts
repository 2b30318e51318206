import { hostedClaudeCapabilities } from '../dialects/claude.ts'
import { formMessagesWithoutCount, messagesDialect } from '../dialects/messages.ts'
import { filledAddress, type Provider } from '../provider.ts'
import { bedrockEmbeddings } from './embeddings.ts'
import { bedrockImages } from './images.ts'
import { AUTH, classifyInvoke, formInvoke, WORDS } from './invoke.ts'
import { bedrockRerank } from './rerank.ts'

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
 * the gateway. Models that make vectors or pictures, or rank, are reached by it alone.
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
    embeddings: bedrockEmbeddings,
    rerank: bedrockRerank,
    images: bedrockImages,
  },
}
