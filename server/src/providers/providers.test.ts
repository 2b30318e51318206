import { describe, expect, test } from 'vitest'
import type { Auth } from '../core/http-request.ts'
import { forwardModelId } from '../core/ids.ts'
import type { JsonValue } from '../core/json.ts'
import type { FailureKind } from '../core/routing/failure.ts'
import { providerKinds, providerOf, vendorKinds } from './index.ts'
import type { Dialect, Operation, PassedDialect, Provider, WireDialect } from './provider.ts'

const MODEL = forwardModelId('some-model-1')
const FIELDS = { region: 'us-east-1', project: 'my-project', resource: 'my-resource' }
const BEARER: Auth = { kind: 'bearer' }
const X_API_KEY: Auth = { kind: 'header', name: 'x-api-key' }

const VERTEX =
  'https://us-east-1-aiplatform.googleapis.com/v1/projects/my-project/locations/us-east-1/publishers/google/models/some-model-1'

const AWS: Auth = { kind: 'aws-sigv4', service: 'bedrock' }
const BEDROCK = 'https://bedrock-runtime.us-east-1.amazonaws.com'

const AZURE = 'https://my-resource.openai.azure.com/openai/v1'
const AZURE_KEY: Auth = { kind: 'header', name: 'api-key' }

/** kind, protocol, how it is authenticated, and where each vendor's documentation says a request goes. */
const DOCUMENTED: readonly [
  kind: string,
  protocol: WireDialect['protocol'],
  auth: Auth,
  url: string,
  count?: string,
][] = [
  ['openai', 'chat', BEARER, 'https://api.openai.com/v1/chat/completions'],
  [
    'openai',
    'responses',
    BEARER,
    'https://api.openai.com/v1/responses',
    'https://api.openai.com/v1/responses/input_tokens',
  ],
  ['openai', 'embeddings', BEARER, 'https://api.openai.com/v1/embeddings'],
  ['openai-compatible', 'embeddings', BEARER, 'https://operator.example/v1/embeddings'],
  ['sandbox', 'embeddings', { kind: 'none' }, 'https://sandbox.invalid/embeddings'],
  ['ollama', 'embeddings', BEARER, 'http://127.0.0.1:11434/v1/embeddings'],
  ['lm-studio', 'embeddings', BEARER, 'http://127.0.0.1:1234/v1/embeddings'],
  ['vllm', 'embeddings', BEARER, 'http://127.0.0.1:8000/v1/embeddings'],
  ['siliconflow', 'embeddings', BEARER, 'https://api.siliconflow.cn/v1/embeddings'],
  ['together', 'embeddings', BEARER, 'https://api.together.ai/v1/embeddings'],
  ['zhipu', 'embeddings', BEARER, 'https://open.bigmodel.cn/api/paas/v4/embeddings'],
  ['ark', 'embeddings', BEARER, 'https://ark.cn-beijing.volces.com/api/v3/embeddings'],
  ['fireworks', 'embeddings', BEARER, 'https://api.fireworks.ai/inference/v1/embeddings'],
  ['azure-openai', 'embeddings', AZURE_KEY, `${AZURE}/embeddings`],
  ['azure-openai', 'images', AZURE_KEY, `${AZURE}/images/generations`],
  ['azure-openai', 'speech', AZURE_KEY, `${AZURE}/audio/speech`],
  ['azure-openai', 'transcription', AZURE_KEY, `${AZURE}/audio/transcriptions`],
  ['together', 'speech', BEARER, 'https://api.together.ai/v1/audio/speech'],
  ['together', 'transcription', BEARER, 'https://api.together.ai/v1/audio/transcriptions'],
  ['siliconflow', 'images', BEARER, 'https://api.siliconflow.cn/v1/images/generations'],
  ['siliconflow', 'speech', BEARER, 'https://api.siliconflow.cn/v1/audio/speech'],
  ['siliconflow', 'transcription', BEARER, 'https://api.siliconflow.cn/v1/audio/transcriptions'],
  ['zhipu', 'speech', BEARER, 'https://open.bigmodel.cn/api/paas/v4/audio/speech'],
  ['zhipu', 'transcription', BEARER, 'https://open.bigmodel.cn/api/paas/v4/audio/transcriptions'],
  ['mistral', 'transcription', BEARER, 'https://api.mistral.ai/v1/audio/transcriptions'],
  ['minimax', 'images', BEARER, 'https://api.minimaxi.com/v1/image_generation'],
  ['openrouter', 'embeddings', BEARER, 'https://openrouter.ai/api/v1/embeddings'],
  ['openrouter', 'rerank', BEARER, 'https://openrouter.ai/api/v1/rerank'],
  ['openrouter', 'images', BEARER, 'https://openrouter.ai/api/v1/images'],
  ['openrouter', 'speech', BEARER, 'https://openrouter.ai/api/v1/audio/speech'],
  ['openrouter', 'transcription', BEARER, 'https://openrouter.ai/api/v1/audio/transcriptions'],
  ['mistral', 'speech', BEARER, 'https://api.mistral.ai/v1/audio/speech'],
  ['cohere', 'transcription', BEARER, 'https://api.cohere.com/v2/audio/transcriptions'],
  ['dashscope', 'embeddings', BEARER, 'https://dashscope.aliyuncs.com/compatible-mode/v1/embeddings'],
  [
    'fal',
    'images',
    { kind: 'header', name: 'authorization', prefix: 'Key ' },
    `https://queue.fal.run/${MODEL}`,
  ],
  ['replicate', 'images', BEARER, `https://api.replicate.com/v1/models/${MODEL}/predictions`],
  ['kling', 'images', { kind: 'jwt-hs256' }, 'https://api-singapore.klingai.com/v1/images/generations'],
  [
    'jimeng',
    'images',
    { kind: 'volc-hmac', service: 'cv', region: 'cn-north-1' },
    'https://visual.volcengineapi.com/?Action=CVSync2AsyncSubmitTask&Version=2022-08-31',
  ],
  ['luma', 'images', BEARER, 'https://agents.lumalabs.ai/v1/generations'],
  ['luma-dream-machine', 'images', BEARER, 'https://api.lumalabs.ai/dream-machine/v1/generations/image'],
  ['cohere', 'embeddings', BEARER, 'https://api.cohere.com/v2/embed'],
  ['cohere', 'chat', BEARER, 'https://api.cohere.com/compatibility/v1/chat/completions'],
  ['jina', 'embeddings', BEARER, 'https://api.jina.ai/v1/embeddings'],
  ['voyage', 'embeddings', BEARER, 'https://api.voyageai.com/v1/embeddings'],
  ['cohere', 'rerank', BEARER, 'https://api.cohere.com/v2/rerank'],
  ['jina', 'rerank', BEARER, 'https://api.jina.ai/v1/rerank'],
  ['voyage', 'rerank', BEARER, 'https://api.voyageai.com/v1/rerank'],
  [
    'dashscope',
    'rerank',
    BEARER,
    'https://dashscope.aliyuncs.com/api/v1/services/rerank/text-rerank/text-rerank',
  ],
  ['vllm', 'transcription', BEARER, 'http://127.0.0.1:8000/v1/audio/transcriptions'],
  ['fireworks', 'rerank', BEARER, 'https://api.fireworks.ai/inference/v1/rerank'],
  ['vllm', 'rerank', BEARER, 'http://127.0.0.1:8000/v1/rerank'],
  ['siliconflow', 'rerank', BEARER, 'https://api.siliconflow.cn/v1/rerank'],
  ['together', 'rerank', BEARER, 'https://api.together.ai/v1/rerank'],
  ['zhipu', 'moderation', BEARER, 'https://open.bigmodel.cn/api/paas/v4/moderations'],
  ['zhipu', 'rerank', BEARER, 'https://open.bigmodel.cn/api/paas/v4/rerank'],
  ['openai-compatible', 'rerank', BEARER, 'https://operator.example/v1/rerank'],
  ['sandbox', 'rerank', { kind: 'none' }, 'https://sandbox.invalid/rerank'],
  ['openai', 'images', BEARER, 'https://api.openai.com/v1/images/generations'],
  ['openai', 'speech', BEARER, 'https://api.openai.com/v1/audio/speech'],
  ['openai-compatible', 'speech', BEARER, 'https://operator.example/v1/audio/speech'],
  ['groq', 'speech', BEARER, 'https://api.groq.com/openai/v1/audio/speech'],
  [
    'dashscope',
    'speech',
    BEARER,
    'https://dashscope.aliyuncs.com/api/v1/services/aigc/multimodal-generation/generation',
  ],
  [
    'dashscope',
    'transcription',
    BEARER,
    'https://dashscope.aliyuncs.com/api/v1/services/aigc/multimodal-generation/generation',
  ],
  [
    'dashscope',
    'images',
    BEARER,
    'https://dashscope.aliyuncs.com/api/v1/services/aigc/multimodal-generation/generation',
  ],
  ['minimax', 'speech', BEARER, 'https://api.minimaxi.com/v1/t2a_v2'],
  [
    'google',
    'speech',
    { kind: 'header', name: 'x-goog-api-key' },
    'https://generativelanguage.googleapis.com/v1beta/models/some-model-1:generateContent',
  ],
  ['vertex', 'embeddings', { kind: 'google-oauth' }, `${VERTEX}:predict`],
  ['vertex', 'images', { kind: 'google-oauth' }, `${VERTEX}:generateContent`],
  ['vertex', 'speech', { kind: 'google-oauth' }, `${VERTEX}:generateContent`],
  ['sandbox', 'speech', { kind: 'none' }, 'https://sandbox.invalid/audio/speech'],
  ['openai', 'transcription', BEARER, 'https://api.openai.com/v1/audio/transcriptions'],
  ['openai-compatible', 'transcription', BEARER, 'https://operator.example/v1/audio/transcriptions'],
  ['groq', 'transcription', BEARER, 'https://api.groq.com/openai/v1/audio/transcriptions'],
  ['sandbox', 'transcription', { kind: 'none' }, 'https://sandbox.invalid/audio/transcriptions'],
  ['openai-compatible', 'images', BEARER, 'https://operator.example/v1/images/generations'],
  ['xai', 'speech', BEARER, 'https://api.x.ai/v1/tts'],
  [
    'fireworks',
    'images',
    BEARER,
    'https://api.fireworks.ai/inference/v1/workflows/some-model-1/text_to_image',
  ],
  ['xai', 'images', BEARER, 'https://api.x.ai/v1/images/generations'],
  ['ark', 'images', BEARER, 'https://ark.cn-beijing.volces.com/api/v3/images/generations'],
  ['zhipu', 'images', BEARER, 'https://open.bigmodel.cn/api/paas/v4/images/generations'],
  ['together', 'images', BEARER, 'https://api.together.ai/v1/images/generations'],
  ['sandbox', 'images', { kind: 'none' }, 'https://sandbox.invalid/images/generations'],
  [
    'google',
    'embeddings',
    { kind: 'header', name: 'x-goog-api-key' },
    'https://generativelanguage.googleapis.com/v1beta/models/some-model-1:batchEmbedContents',
  ],
  [
    'google',
    'images',
    { kind: 'header', name: 'x-goog-api-key' },
    'https://generativelanguage.googleapis.com/v1beta/models/some-model-1:generateContent',
  ],
  ['mistral', 'embeddings', BEARER, 'https://api.mistral.ai/v1/embeddings'],
  ['openai', 'moderation', BEARER, 'https://api.openai.com/v1/moderations'],
  ['openai-compatible', 'moderation', BEARER, 'https://operator.example/v1/moderations'],
  ['mistral', 'moderation', BEARER, 'https://api.mistral.ai/v1/moderations'],
  ['sandbox', 'moderation', { kind: 'none' }, 'https://sandbox.invalid/moderations'],
  ['openai-compatible', 'chat', BEARER, 'https://operator.example/v1/chat/completions'],
  ['openai-compatible', 'responses', BEARER, 'https://operator.example/v1/responses'],
  [
    'openai-compatible',
    'messages',
    BEARER,
    'https://operator.example/v1/messages',
    'https://operator.example/v1/messages/count_tokens',
  ],
  ['azure-openai', 'chat', AZURE_KEY, `${AZURE}/chat/completions`],
  ['azure-openai', 'responses', AZURE_KEY, `${AZURE}/responses`],
  [
    'anthropic',
    'messages',
    X_API_KEY,
    'https://api.anthropic.com/v1/messages',
    'https://api.anthropic.com/v1/messages/count_tokens',
  ],
  ['bedrock', 'messages', AWS, `${BEDROCK}/anthropic/v1/messages`],
  ['bedrock-invoke', 'embeddings', AWS, `${BEDROCK}/model/some-model-1/invoke`],
  ['bedrock-invoke', 'rerank', AWS, `${BEDROCK}/model/some-model-1/invoke`],
  ['bedrock-invoke', 'images', AWS, `${BEDROCK}/model/some-model-1/invoke`],
  ['bedrock-invoke', 'messages', AWS, `${BEDROCK}/model/some-model-1/invoke`],
  [
    'google',
    'gemini',
    { kind: 'header', name: 'x-goog-api-key' },
    'https://generativelanguage.googleapis.com/v1beta/models/some-model-1:generateContent',
    'https://generativelanguage.googleapis.com/v1beta/models/some-model-1:countTokens',
  ],
  [
    'vertex',
    'gemini',
    { kind: 'google-oauth' },
    'https://us-east-1-aiplatform.googleapis.com/v1/projects/my-project/locations/us-east-1/publishers/google/models/some-model-1:generateContent',
    'https://us-east-1-aiplatform.googleapis.com/v1/projects/my-project/locations/us-east-1/publishers/google/models/some-model-1:countTokens',
  ],
  [
    'vertex',
    'messages',
    { kind: 'google-oauth' },
    'https://us-east-1-aiplatform.googleapis.com/v1/projects/my-project/locations/us-east-1/publishers/anthropic/models/some-model-1:rawPredict',
  ],
  ['deepseek', 'chat', BEARER, 'https://api.deepseek.com/chat/completions'],
  ['deepseek', 'responses', BEARER, 'https://api.deepseek.com/responses'],
  ['deepseek', 'messages', X_API_KEY, 'https://api.deepseek.com/anthropic/v1/messages'],
  ['dashscope', 'chat', BEARER, 'https://dashscope.aliyuncs.com/compatible-mode/v1/chat/completions'],
  ['dashscope', 'responses', BEARER, 'https://dashscope.aliyuncs.com/compatible-mode/v1/responses'],
  ['dashscope', 'messages', X_API_KEY, 'https://dashscope.aliyuncs.com/apps/anthropic/v1/messages'],
  ['zhipu', 'chat', BEARER, 'https://open.bigmodel.cn/api/paas/v4/chat/completions'],
  ['zhipu', 'messages', X_API_KEY, 'https://open.bigmodel.cn/api/anthropic/v1/messages'],
  ['moonshot', 'chat', BEARER, 'https://api.moonshot.cn/v1/chat/completions'],
  ['moonshot', 'responses', BEARER, 'https://api.moonshot.cn/v1/responses'],
  ['moonshot', 'messages', BEARER, 'https://api.moonshot.cn/anthropic/v1/messages'],
  ['minimax', 'chat', BEARER, 'https://api.minimaxi.com/v1/chat/completions'],
  ['minimax', 'responses', BEARER, 'https://api.minimaxi.com/v1/responses'],
  ['minimax', 'messages', BEARER, 'https://api.minimaxi.com/anthropic/v1/messages'],
  ['ark', 'chat', BEARER, 'https://ark.cn-beijing.volces.com/api/v3/chat/completions'],
  ['ark', 'responses', BEARER, 'https://ark.cn-beijing.volces.com/api/v3/responses'],
  ['xai', 'chat', BEARER, 'https://api.x.ai/v1/chat/completions'],
  ['xai', 'responses', BEARER, 'https://api.x.ai/v1/responses'],
  ['mistral', 'chat', BEARER, 'https://api.mistral.ai/v1/chat/completions'],
  ['groq', 'chat', BEARER, 'https://api.groq.com/openai/v1/chat/completions'],
  ['groq', 'responses', BEARER, 'https://api.groq.com/openai/v1/responses'],
  ['openrouter', 'chat', BEARER, 'https://openrouter.ai/api/v1/chat/completions'],
  ['openrouter', 'responses', BEARER, 'https://openrouter.ai/api/v1/responses'],
  ['openrouter', 'messages', BEARER, 'https://openrouter.ai/api/v1/messages'],
  ['together', 'chat', BEARER, 'https://api.together.ai/v1/chat/completions'],
  ['fireworks', 'chat', BEARER, 'https://api.fireworks.ai/inference/v1/chat/completions'],
  ['fireworks', 'messages', BEARER, 'https://api.fireworks.ai/inference/v1/messages'],
  ['siliconflow', 'chat', BEARER, 'https://api.siliconflow.cn/v1/chat/completions'],
  ['siliconflow', 'messages', BEARER, 'https://api.siliconflow.cn/v1/messages'],
  ['ollama', 'chat', BEARER, 'http://127.0.0.1:11434/v1/chat/completions'],
  ['ollama', 'responses', BEARER, 'http://127.0.0.1:11434/v1/responses'],
  ['ollama', 'messages', BEARER, 'http://127.0.0.1:11434/v1/messages'],
  ['vllm', 'chat', BEARER, 'http://127.0.0.1:8000/v1/chat/completions'],
  ['vllm', 'responses', BEARER, 'http://127.0.0.1:8000/v1/responses'],
  [
    'vllm',
    'messages',
    BEARER,
    'http://127.0.0.1:8000/v1/messages',
    'http://127.0.0.1:8000/v1/messages/count_tokens',
  ],
  ['lm-studio', 'chat', BEARER, 'http://127.0.0.1:1234/v1/chat/completions'],
  ['lm-studio', 'responses', BEARER, 'http://127.0.0.1:1234/v1/responses'],
  ['lm-studio', 'messages', BEARER, 'http://127.0.0.1:1234/v1/messages'],
  ['sandbox', 'chat', { kind: 'none' }, 'https://sandbox.invalid/chat/generate'],
  [
    'sandbox',
    'responses',
    { kind: 'none' },
    'https://sandbox.invalid/responses/generate',
    'https://sandbox.invalid/responses/count-tokens',
  ],
  [
    'sandbox',
    'messages',
    { kind: 'none' },
    'https://sandbox.invalid/messages/generate',
    'https://sandbox.invalid/messages/count-tokens',
  ],
  [
    'sandbox',
    'gemini',
    { kind: 'none' },
    'https://sandbox.invalid/gemini/generate',
    'https://sandbox.invalid/gemini/count-tokens',
  ],
]

function dialectOf<Id extends WireDialect['protocol']>(kind: string, protocol: Id) {
  const dialect: Provider['dialects'][Id] | undefined = providerOf(kind)?.dialects[protocol]
  if (dialect === undefined) throw new Error(`${kind} does not speak ${protocol}`)
  return dialect
}

function urlOf(kind: string, protocol: WireDialect['protocol'], operation: Operation): string | undefined {
  const baseUrl = providerOf(kind)?.defaultBaseUrl ?? 'https://operator.example/v1'
  return dialectOf(kind, protocol).form({ baseUrl, forwardModelId: MODEL, operation, fields: FIELDS })?.url
}

function everyDialect(): readonly [kind: string, dialect: Dialect | PassedDialect][] {
  return providerKinds.flatMap((kind) =>
    Object.values(providerOf(kind)?.dialects ?? {}).map((dialect): [string, Dialect | PassedDialect] => [
      kind,
      dialect,
    ]),
  )
}

describe('every vendor', () => {
  test('has a row in the table of documented endpoints for each protocol it speaks', () => {
    const known = everyDialect().map(([kind, dialect]) => `${kind} ${dialect.protocol}`)
    expect(DOCUMENTED.map(([kind, protocol]) => `${kind} ${protocol}`).toSorted()).toEqual(known.toSorted())
  })

  test.each(DOCUMENTED)('%s speaks %s where its documentation says', (kind, protocol, auth, url, count) => {
    expect(dialectOf(kind, protocol).auth).toEqual(auth)
    expect(urlOf(kind, protocol, 'generate')).toBe(url)
    expect(urlOf(kind, protocol, 'count-tokens')).toBe(count)
  })

  test.each(everyDialect())('%s keeps the contract of a dialect', (kind, dialect) => {
    const provider = providerOf(kind)
    expect(provider?.kind).toBe(kind)
    expect(provider?.dialects[dialect.protocol]).toBe(dialect)
    const input = {
      baseUrl: provider?.defaultBaseUrl ?? 'http://10.0.0.7:8080/v1',
      forwardModelId: MODEL,
      fields: FIELDS,
    }
    for (const operation of ['generate', 'stream'] as const) {
      const formed = dialect.form({ ...input, operation })
      expect(formed?.method).toBe('POST')
      expect(URL.canParse(formed?.url ?? '')).toBe(true)
      expect(formed?.url).not.toMatch(/[{}]|undefined/)
      expect(Object.keys(formed?.headers ?? {}).filter((name) => name !== name.toLowerCase())).toEqual([])
      // A slash at the end of the base address changes nothing.
      expect(dialect.form({ ...input, operation, baseUrl: `${input.baseUrl}/` })?.url).toBe(formed?.url)
    }
    expect(dialect.modelPlace === 'path').toBe(
      (kind !== 'sandbox' && urlOf(kind, dialect.protocol, 'generate')?.includes(MODEL) === true) ||
        (kind === 'sandbox' && dialect.protocol === 'gemini'),
    )
    expect(dialect.respond === undefined).toBe(kind !== 'sandbox')
    if (!('capabilities' in dialect)) return
    const capabilities = dialect.capabilities(MODEL)
    expect(capabilities.reasoning === 'effort' && capabilities.efforts.length === 0).toBe(false)
  })

  test('without an address of its own is named to the operator', () => {
    expect(vendorKinds.filter(({ baseUrl }) => baseUrl === undefined).map(({ kind }) => kind)).toEqual([
      'openai-compatible',
    ])
  })
})

describe('addresses', () => {
  test.each<[string, Dialect['protocol'], string, string]>([
    ['deepseek', 'messages', 'https://api.deepseek.com/v1', 'https://api.deepseek.com/anthropic/v1/messages'],
    [
      'deepseek',
      'messages',
      'https://api.deepseek.com/anthropic',
      'https://api.deepseek.com/anthropic/v1/messages',
    ],
    ['moonshot', 'messages', 'https://api.moonshot.ai/v1/', 'https://api.moonshot.ai/anthropic/v1/messages'],
    ['zhipu', 'messages', 'https://api.z.ai/api/paas/v4', 'https://api.z.ai/api/anthropic/v1/messages'],
    [
      'dashscope',
      'messages',
      'https://ws1.ap-southeast-1.maas.aliyuncs.com/compatible-mode/v1',
      'https://ws1.ap-southeast-1.maas.aliyuncs.com/apps/anthropic/v1/messages',
    ],
    ['openai-compatible', 'messages', 'http://10.0.0.7:8080', 'http://10.0.0.7:8080/v1/messages'],
  ])('%s %s at %s is %s', (kind, protocol, baseUrl, url) => {
    const formed = dialectOf(kind, protocol).form({
      baseUrl,
      forwardModelId: MODEL,
      operation: 'stream',
      fields: {},
    })
    expect(formed?.url).toBe(url)
  })

  test.each([
    ['global', 'https://aiplatform.googleapis.com/v1/projects/my-project/locations/global'],
    ['eu', 'https://aiplatform.eu.rep.googleapis.com/v1/projects/my-project/locations/eu'],
    [
      'europe-west1',
      'https://europe-west1-aiplatform.googleapis.com/v1/projects/my-project/locations/europe-west1',
    ],
  ])('Vertex in %s', (region, start) => {
    const formed = dialectOf('vertex', 'messages').form({
      baseUrl: providerOf('vertex')?.defaultBaseUrl ?? '',
      forwardModelId: forwardModelId('claude-sonnet-4-5@20250929'),
      operation: 'stream',
      fields: { project: 'my-project', region },
    })
    expect(formed?.url).toBe(
      `${start}/publishers/anthropic/models/claude-sonnet-4-5@20250929:streamRawPredict`,
    )
  })

  test('a streamed Gemini call asks for SSE', () => {
    expect(urlOf('google', 'gemini', 'stream')).toMatch(/:streamGenerateContent\?alt=sse$/)
  })

  test('a streamed Bedrock invocation has another path, and its model is one segment of it', () => {
    const formed = dialectOf('bedrock-invoke', 'messages').form({
      baseUrl: 'https://vpce-1.bedrock-runtime.eu-west-1.vpce.amazonaws.com',
      forwardModelId: forwardModelId('arn:aws:bedrock:eu-west-1:1:application-inference-profile/x'),
      operation: 'stream',
      fields: { region: 'eu-west-1' },
    })
    expect(formed?.url).toBe(
      'https://vpce-1.bedrock-runtime.eu-west-1.vpce.amazonaws.com/model/arn%3Aaws%3Abedrock%3Aeu-west-1%3A1%3Aapplication-inference-profile%2Fx/invoke-with-response-stream',
    )
  })

  test.each(['azure-openai', 'bedrock', 'bedrock-invoke', 'vertex'])(
    '%s without its fields forms none',
    (kind) => {
      for (const dialect of Object.values(providerOf(kind)?.dialects ?? {})) {
        const baseUrl = providerOf(kind)?.defaultBaseUrl ?? ''
        expect(
          dialect.form({ baseUrl, forwardModelId: MODEL, operation: 'generate', fields: {} }),
        ).toBeUndefined()
      }
    },
  )

  test('Azure takes a dated or preview version when the credential names one', () => {
    const formed = dialectOf('azure-openai', 'responses').form({
      baseUrl: 'https://my-resource.openai.azure.com/openai/v1',
      forwardModelId: MODEL,
      operation: 'generate',
      fields: { api_version: 'preview' },
    })
    expect(formed?.url).toBe('https://my-resource.openai.azure.com/openai/v1/responses?api-version=preview')
  })

  test('the messages protocol names its version, Claude on Vertex in the body', () => {
    const form = (kind: string): unknown =>
      dialectOf(kind, 'messages').form({
        baseUrl: providerOf(kind)?.defaultBaseUrl ?? '',
        forwardModelId: MODEL,
        operation: 'generate',
        fields: FIELDS,
      })?.headers
    expect(form('anthropic')).toEqual({ 'anthropic-version': '2023-06-01' })
    expect(form('vertex')).toEqual({})
    expect(dialectOf('vertex', 'messages').bodyEdit).toEqual({
      set: { anthropic_version: 'vertex-2023-10-16' },
      remove: [],
    })
  })
})

/** Failures as vendors send them: kind, status, body, what it is. */
const FAILURES: readonly [kind: string, status: number, body: JsonValue, FailureKind][] = [
  ['openai', 429, { error: { code: 'insufficient_quota', type: 'insufficient_quota' } }, 'quota'],
  ['openai', 429, { error: { code: 'rate_limit_exceeded', type: 'tokens' } }, 'rate-limited'],
  ['openai', 401, { error: { code: 'invalid_api_key', type: 'invalid_request_error' } }, 'auth'],
  ['openai', 404, { error: { code: 'model_not_found', type: 'invalid_request_error' } }, 'not-found'],
  ['openai', 400, { error: { code: 'context_length_exceeded', type: 'invalid_request_error' } }, 'request'],
  [
    'azure-openai',
    400,
    { error: { code: 'content_filter', innererror: { code: 'ResponsibleAIPolicyViolation' } } },
    'refused-content',
  ],
  ['azure-openai', 404, { error: { code: 'DeploymentNotFound', message: '' } }, 'not-found'],
  ['anthropic', 529, { type: 'error', error: { type: 'overloaded_error' } }, 'overloaded'],
  ['anthropic', 402, { type: 'error', error: { type: 'billing_error' } }, 'quota'],
  ['anthropic', 403, { type: 'error', error: { type: 'permission_error' } }, 'auth'],
  ['bedrock', 400, { type: 'error', error: { type: 'ThrottlingException' } }, 'rate-limited'],
  [
    'google',
    400,
    { error: { status: 'INVALID_ARGUMENT', details: [{ reason: 'API_KEY_INVALID' }] } },
    'auth',
  ],
  [
    'bedrock-invoke',
    200,
    { error: { code: 'content_filter', type: 'invalid_request_error' } },
    'refused-content',
  ],
  ['google', 429, [{ error: { code: 429, status: 'RESOURCE_EXHAUSTED' } }], 'rate-limited'],
  ['deepseek', 402, { error: { message: 'Insufficient Balance', type: 'unknown_error' } }, 'quota'],
  ['dashscope', 400, { error: { code: 'Arrearage', type: 'Arrearage' } }, 'quota'],
  ['dashscope', 400, { error: { code: 'data_inspection_failed' } }, 'refused-content'],
  ['dashscope', 429, { code: 'Throttling.RateQuota', message: '' }, 'rate-limited'],
  ['zhipu', 429, { error: { code: '1113', message: '' } }, 'quota'],
  ['zhipu', 429, { error: { code: '1302', message: '' } }, 'rate-limited'],
  ['zhipu', 400, { error: { code: '1301', message: '' } }, 'refused-content'],
  ['moonshot', 429, { error: { type: 'exceeded_current_quota_error' } }, 'quota'],
  ['moonshot', 429, { error: { type: 'engine_overloaded_error' } }, 'overloaded'],
  ['moonshot', 429, { error: { type: 'rate_limit_reached_error' } }, 'rate-limited'],
  ['minimax', 200, { base_resp: { status_code: 1008, status_msg: 'insufficient balance' } }, 'quota'],
  [
    'fal',
    200,
    { error: { code: 'content_policy_violation', type: 'invalid_request_error' } },
    'refused-content',
  ],
  ['fal', 200, { error: { code: 'runner_scheduling_failure', type: 'api_error' } }, 'overloaded'],
  ['replicate', 200, { error: { code: 'E005', type: 'invalid_request_error' } }, 'refused-content'],
  ['replicate', 200, { error: { code: null, type: 'api_error' } }, 'overloaded'],
  ['minimax', 200, { base_resp: { status_code: '1004', status_msg: 'login fail' } }, 'auth'],
  ['minimax', 200, { base_resp: { status_code: 1002, status_msg: 'rate limit' } }, 'rate-limited'],
  ['minimax', 500, { error: { type: 'server_error' } }, 'overloaded'],
  ['ark', 403, { error: { code: 'AccountOverdueError', type: 'Forbidden' } }, 'quota'],
  ['ark', 429, { error: { code: 'ServerOverloaded', type: 'TooManyRequests' } }, 'overloaded'],
  ['ark', 400, { error: { code: 'InputTextRiskDetection', type: 'BadRequest' } }, 'refused-content'],
  ['groq', 400, { error: { code: 'model_decommissioned', type: 'invalid_request_error' } }, 'not-found'],
  ['openrouter', 403, { error: { code: 403, metadata: { reasons: ['violence'] } } }, 'refused-content'],
  ['openrouter', 403, { error: { code: 403 } }, 'auth'],
  ['openrouter', 402, { error: { code: 402 } }, 'quota'],
  ['openrouter', 200, { error: { code: 502, message: '' } }, 'overloaded'],
  ['openrouter', 200, { error: { code: 429, message: '' } }, 'rate-limited'],
  ['siliconflow', 403, { code: 30001, message: '' }, 'quota'],
  ['mistral', 422, { object: 'error', type: 'invalid_request_error' }, 'request'],
]

describe('failures', () => {
  test.each(FAILURES)('%s %i %j is %s', (kind, status, body, expected) => {
    for (const dialect of Object.values(providerOf(kind)?.dialects ?? {})) {
      expect(dialect.classify({ status, headers: {}, body }).kind).toBe(expected)
    }
  })

  test.each(everyDialect())('%s: plain statuses mean the same everywhere', (_kind, dialect) => {
    const kindOf = (status: number): string => dialect.classify({ status, headers: {}, body: undefined }).kind
    expect([401, 403, 402, 404, 429, 400, 413, 422, 408, 500, 502, 503, 504, 529].map(kindOf)).toEqual([
      'auth',
      'auth',
      'quota',
      'not-found',
      'rate-limited',
      'request',
      'request',
      'request',
      'overloaded',
      'overloaded',
      'overloaded',
      'overloaded',
      'overloaded',
      'overloaded',
    ])
  })
})

describe('models', () => {
  test.each<[string, Dialect['protocol'], string, Record<string, unknown>]>([
    ['openai', 'chat', 'gpt-4.1', { reasoning: 'none', sampling: 'all', stopMax: 4, systemRole: 'system' }],
    [
      'openai',
      'chat',
      'gpt-5',
      { reasoning: 'effort', sampling: 'none', stopMax: 0, systemRole: 'developer' },
    ],
    ['openai', 'responses', 'gpt-5.6-sol', { cacheMarks: 'breakpoint', outputTokensMin: 16 }],
    ['openai', 'responses', 'gpt-6-sol', { efforts: ['none', 'low', 'medium', 'high', 'xhigh', 'max'] }],
    [
      'openai',
      'responses',
      'gpt-6.2-sol',
      { efforts: ['low', 'medium', 'high', 'xhigh', 'max'], customTools: true },
    ],
    ['zhipu', 'chat', 'glm-5.3', { reasoning: 'effort', efforts: ['low', 'high', 'max'] }],
    ['zhipu', 'chat', 'glm-4.7', { reasoning: 'toggle' }],
    ['google', 'gemini', 'gemini-3.5-flash', { efforts: ['minimal', 'low', 'medium', 'high'] }],
    ['google', 'gemini', 'gemini-3.8-flash', { efforts: ['low', 'medium', 'high'] }],
    ['openai', 'chat', 'gpt-5-chat-latest', { reasoning: 'none', sampling: 'all' }],
    ['azure-openai', 'chat', 'o4-mini', { reasoning: 'effort', efforts: ['low', 'medium', 'high'] }],
    [
      'anthropic',
      'messages',
      'claude-3-5-haiku-20241022',
      { reasoning: 'none', prefill: true, sampling: 'all' },
    ],
    ['anthropic', 'messages', 'claude-3-7-sonnet-20250219', { reasoning: 'budget', sampling: 'all' }],
    [
      'anthropic',
      'messages',
      'claude-opus-4-20250514',
      { reasoning: 'budget', sampling: 'all', jsonSchema: false },
    ],
    [
      'anthropic',
      'messages',
      'claude-haiku-4-5-20251001',
      { reasoning: 'budget', sampling: 'one', jsonSchema: true },
    ],
    ['anthropic', 'messages', 'claude-opus-4-6', { reasoning: 'adaptive', sampling: 'one', prefill: false }],
    [
      'anthropic',
      'messages',
      'claude-opus-4-8',
      { reasoning: 'adaptive', sampling: 'none', midSystem: true },
    ],
    [
      'bedrock',
      'messages',
      'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
      { reasoning: 'budget', sampling: 'one' },
    ],
    ['anthropic', 'messages', 'claude-sonnet-5-5', { forcedTools: false, reasoning: 'adaptive' }],
    ['anthropic', 'messages', 'claude-opus-4-8', { forcedTools: true }],
    ['vertex', 'messages', 'claude-sonnet-5', { reasoning: 'adaptive', sampling: 'none' }],
    [
      'google',
      'gemini',
      'gemini-3.1-pro-preview',
      { reasoning: 'level', efforts: ['low', 'medium', 'high'] },
    ],
    ['google', 'gemini', 'gemini-2.5-flash', { reasoning: 'budget' }],
    ['google', 'gemini', 'gemini-2.0-flash', { reasoning: 'none' }],
    [
      'deepseek',
      'chat',
      'deepseek-v4-pro',
      { reasoning: 'toggle', replayReasoning: true, jsonSchema: false },
    ],
    ['groq', 'chat', 'openai/gpt-oss-120b', { reasoning: 'effort', reasoningField: 'reasoning' }],
    ['openrouter', 'chat', 'anthropic/claude-opus-4.6', { cacheMarks: 'anthropic' }],
    ['mistral', 'chat', 'mistral-large-2512', { toolIdMax: 9, includeUsage: false }],
  ])('%s %s %s', (kind, protocol, model, expected) => {
    expect(dialectOf(kind, protocol).capabilities(forwardModelId(model))).toMatchObject(expected)
  })

  test.each(['claude-opus-5-5', 'claude-fable-5-1', 'claude-fable-5'])(
    '%s cannot be told not to think',
    (model) => {
      expect(dialectOf('anthropic', 'messages').capabilities(forwardModelId(model)).efforts).not.toContain(
        'none',
      )
    },
  )

  test('Gemini reads the reasoning of Gemini wherever it is hosted; other signatures stay with their vendor', () => {
    const issuers = everyDialect().flatMap(([kind, dialect]) =>
      !('issuer' in dialect) || dialect.issuer === undefined ? [] : [[kind, dialect.issuer]],
    )
    expect(issuers).toEqual([
      ['google', 'google'],
      ['vertex', 'google'],
    ])
  })
})
