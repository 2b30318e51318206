/** What a vendor of each kind answers in its own form to a call that is no conversation, and where it is called. */
import { type Answerer, answerJson } from '../gateway/scripted-upstream.ts'
import { GOOGLE_MODELS } from '../gateway/service-account.ts'
import type { CallName, VendorKind } from './kinds.ts'

export const PNG = 'iVBORw0KGgo='
export const SOUND = Buffer.from('RIFF of a kind')
export const VECTORS = [
  [0.5, -1],
  [0.25, 2],
]
const usage = { prompt_tokens: 3, total_tokens: 3 }
const listOf = (...embeddings: readonly unknown[]) =>
  answerJson({
    object: 'list',
    data: embeddings.map((embedding, index) => ({ object: 'embedding', index, embedding })),
    model: 'theirs',
    usage,
  })
const generated = (mimeType: string, data: string) =>
  answerJson({
    candidates: [{ content: { parts: [{ inlineData: { mimeType, data } }] }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 9, totalTokenCount: 12 },
  })
const bytes: Answerer = (_request, response) => {
  response.writeHead(200, { 'content-type': 'audio/wav' })
  response.end(SOUND)
}
/** Samples, and at last that there are no more. */
const spoken = (...audio: readonly object[]): Answerer => {
  const events = audio.map((one, at) => ({
    output: { audio: one, finish_reason: at === audio.length - 1 ? 'stop' : null },
  }))
  const text = events.map((one) => `event:result\ndata:${JSON.stringify(one)}\n\n`).join('')
  return answerJson(text, 200, { 'content-type': 'text/event-stream' })
}
export const PICTURE = 'https://pictures.example/1.png'
/** A task: ordered, asked for where `states` says, over. */
const byTask =
  (order: object, states: Readonly<Record<string, object>>): Answerer =>
  (request, response) =>
    answerJson(states[request.path] ?? order)(request, response)
/** `theirs` is all of its endpoint. */
const ofFal = byTask(
  { request_id: '1', status: 'IN_QUEUE' },
  {
    '/theirs/requests/1/status': { status: 'COMPLETED' },
    '/theirs/requests/1': { images: [{ url: PICTURE, content_type: 'image/png' }] },
  },
)
const ofReplicate = byTask(
  { id: '1', status: 'starting' },
  { '/predictions/1': { id: '1', status: 'succeeded', output: [PICTURE] } },
)
const ofKling = byTask(
  { code: 0, message: 'SUCCEED', data: { task_id: '1', task_status: 'submitted' } },
  {
    '/v1/images/generations/1': {
      code: 0,
      message: 'SUCCEED',
      data: { task_id: '1', task_status: 'succeed', task_result: { images: [{ index: 0, url: PICTURE }] } },
    },
  },
)
/** Ordered and asked for at one address, in the body. */
const ofJimeng: Answerer = (request, response) => {
  const asked = JSON.stringify(request.json()).includes('"task_id"')
  const data = asked ? { status: 'done', image_urls: [PICTURE], binary_data_base64: null } : { task_id: '1' }
  return answerJson({ code: 10_000, data, message: 'Success' })(request, response)
}
const ofLuma = byTask(
  { id: '1', state: 'queued' },
  {
    '/generations/1': {
      id: '1',
      state: 'completed',
      output: [{ type: 'image', url: PICTURE }],
      assets: { image: PICTURE, video: null },
    },
  },
)
const picture = answerJson({ created: 1, data: [{ b64_json: PNG }] })
const written = answerJson({ text: 'Hello' })
const judged = answerJson({ id: 'm', model: 'theirs', results: [{ flagged: true }] })
const ranked = [{ index: 1, relevance_score: 0.75 }]
const ofVertex = `${GOOGLE_MODELS}/theirs`
const vectors = {
  openai: [listOf(...VECTORS), '/embeddings'],
  google: [
    answerJson({ embeddings: VECTORS.map((values) => ({ values })) }),
    '/models/theirs:batchEmbedContents',
  ],
  vertex: [
    answerJson({
      predictions: VECTORS.map((values) => ({ embeddings: { values, statistics: { token_count: 2 } } })),
    }),
    `${ofVertex}:predict`,
  ],
  dashscope: [listOf(...VECTORS), '/embeddings'],
  voyage: [listOf(...VECTORS), '/embeddings'],
  jina: [listOf(...VECTORS), '/embeddings'],
  cohere: [
    answerJson({
      id: 'e',
      embeddings: { float: VECTORS },
      texts: ['one', 'two'],
      meta: { api_version: { version: '2' }, billed_units: { input_tokens: 3 } },
      response_type: 'embeddings_by_type',
    }),
    '/v2/embed',
  ],
  ark: [listOf(...VECTORS), '/embeddings'],
  mistral: [listOf(...VECTORS), '/embeddings'],
  'azure-openai': [listOf(...VECTORS), '/embeddings'],
  vllm: [listOf(...VECTORS), '/embeddings'],
  fireworks: [listOf(...VECTORS), '/embeddings'],
  'bedrock-invoke': [
    answerJson({ id: 'e', embeddings: { float: VECTORS }, response_type: 'embeddings_by_type' }),
    '/model/theirs/invoke',
  ],
} as const

export const UPSTREAMS: Readonly<
  Record<CallName, Readonly<Partial<Record<VendorKind, readonly [Answerer, ...paths: string[]]>>>>
> = {
  embeddings: vectors,
  'embeddings of Gemini': vectors,
  images: {
    openai: [picture, '/images/generations'],
    google: [generated('image/png', PNG), '/models/theirs:generateContent'],
    vertex: [generated('image/png', PNG), `${ofVertex}:generateContent`],
    dashscope: [
      answerJson({ output: { choices: [{ message: { content: [{ image: PICTURE }] } }] } }),
      '/api/v1/services/aigc/multimodal-generation/generation',
    ],
    fal: [ofFal, '/theirs', '/theirs/requests/1/status', '/theirs/requests/1'],
    replicate: [ofReplicate, '/models/theirs/predictions', '/predictions/1'],
    minimax: [
      answerJson({
        data: { image_urls: [PICTURE] },
        metadata: { success_count: '1', failed_count: '0' },
        base_resp: { status_code: 0, status_msg: 'success' },
      }),
      '/image_generation',
    ],
    siliconflow: [
      answerJson({ images: [{ url: PICTURE }], timings: { inference: 1 }, seed: 7 }),
      '/images/generations',
    ],
    ark: [picture, '/images/generations'],
    xai: [picture, '/images/generations'],
    kling: [ofKling, '/v1/images/generations', '/v1/images/generations/1'],
    jimeng: [ofJimeng, '/', '/'],
    luma: [ofLuma, '/generations', '/generations/1'],
    'luma-dream-machine': [ofLuma, '/generations/image', '/generations/1'],
    'bedrock-invoke': [answerJson({ images: [PNG] }), '/model/theirs/invoke'],
    'azure-openai': [picture, '/images/generations'],
  },
  'changed images': {
    openai: [picture, '/images/edits'],
    'azure-openai': [picture, '/images/edits'],
    xai: [answerJson({ data: [{ b64_json: PNG, mime_type: 'image/png' }] }), '/images/edits'],
    kling: [ofKling, '/v1/images/generations', '/v1/images/generations/1'],
    jimeng: [ofJimeng, '/', '/'],
    luma: [ofLuma, '/generations', '/generations/1'],
  },
  'varied images': { openai: [picture, '/images/variations'] },
  speech: {
    groq: [bytes, '/audio/speech'],
    'azure-openai': [bytes, '/audio/speech'],
    siliconflow: [bytes, '/audio/speech'],
    openai: [bytes, '/audio/speech'],
    minimax: [
      answerJson({
        data: { audio: SOUND.toString('hex'), status: 2 },
        extra_info: { audio_format: 'wav', usage_characters: 5 },
        base_resp: { status_code: 0, status_msg: 'success' },
      }),
      '/t2a_v2',
    ],
    google: [generated('audio/wav', SOUND.toString('base64')), '/models/theirs:generateContent'],
    vertex: [generated('audio/wav', SOUND.toString('base64')), `${ofVertex}:generateContent`],
    dashscope: [
      spoken({ data: SOUND.toString('base64') }, { data: '' }),
      '/api/v1/services/aigc/multimodal-generation/generation',
    ],
  },
  transcription: {
    groq: [written, '/audio/transcriptions'],
    mistral: [written, '/audio/transcriptions'],
    'azure-openai': [written, '/audio/transcriptions'],
    siliconflow: [written, '/audio/transcriptions'],
    vllm: [answerJson({ text: 'Hello', usage: { type: 'duration', seconds: 1 } }), '/audio/transcriptions'],
    openai: [written, '/audio/transcriptions'],
    dashscope: [
      answerJson({
        output: { choices: [{ finish_reason: 'stop', message: { content: [{ text: 'Hello' }] } }] },
      }),
      '/api/v1/services/aigc/multimodal-generation/generation',
    ],
  },
  translation: {
    openai: [written, '/audio/translations'],
    groq: [written, '/audio/translations'],
    'azure-openai': [written, '/audio/translations'],
    vllm: [written, '/audio/translations'],
  },
  rerank: {
    cohere: [answerJson({ id: 'r', results: ranked }), '/v2/rerank'],
    jina: [answerJson({ model: 'theirs', results: ranked, usage: { total_tokens: 9 } }), '/rerank'],
    vllm: [
      answerJson({
        id: 'r',
        model: 'theirs',
        usage: { prompt_tokens: 9, total_tokens: 9 },
        results: ranked.map((one) => ({ ...one, document: { text: 'red', multi_modal: null } })),
      }),
      '/rerank',
    ],
    fireworks: [
      answerJson({
        object: 'list',
        model: 'theirs',
        data: ranked,
        usage: { prompt_tokens: 9, total_tokens: 9 },
      }),
      '/rerank',
    ],
    'bedrock-invoke': [answerJson({ results: ranked }), '/model/theirs/invoke'],
    voyage: [answerJson({ object: 'list', data: ranked, usage: { total_tokens: 9 } }), '/rerank'],
    dashscope: [
      answerJson({ request_id: 'r', output: { results: ranked }, usage: { total_tokens: 9 } }),
      '/api/v1/services/rerank/text-rerank/text-rerank',
    ],
  },
  moderation: {
    openai: [judged, '/moderations'],
    mistral: [judged, '/moderations'],
  },
}
