/** What a vendor of each kind answers in its own form to a call that is no conversation, and where it is called. */
import { type Answerer, answerJson } from '../gateway/scripted-upstream.ts'
import { GOOGLE_MODELS } from '../gateway/service-account.ts'
import type { CallName } from './kinds.ts'

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
/** The same in pieces, each of a type, and at last a link to all of it. */
const synthesized: Answerer = (request, response) => {
  const pieces = [SOUND.subarray(0, 4), SOUND.subarray(4)].map((piece) => ({
    output: { type: 'sentence-synthesis', audio: { data: piece.toString('base64') } },
  }))
  const last = { output: { finish_reason: 'stop', audio: { data: '', url: 'https://sound.example/1' } } }
  const text = [...pieces, last].map((one) => `data:${JSON.stringify(one)}\n\n`).join('')
  return answerJson(text, 200, { 'content-type': 'text/event-stream' })(request, response)
}
/** A place for the file, the file, a task, and the result where it lies. */
const byFile: Answerer = (request, response) => {
  const here = `http://${request.headers.host ?? ''}`
  const signed = { policy: 'p', signature: 's', oss_access_key_id: 'i' }
  const rules = { x_oss_object_acl: 'private', x_oss_forbid_overwrite: 'true' }
  const link = { subtask_status: 'SUCCEEDED', transcription_url: `${here}/result` }
  const hops: Readonly<Record<string, object>> = {
    '/api/v1/uploads': { data: { ...signed, ...rules, upload_host: `${here}/store`, upload_dir: 'd' } },
    '/store': {},
    '/api/v1/services/audio/asr/transcription': { output: { task_id: '1', task_status: 'PENDING' } },
    '/api/v1/tasks/1': { output: { task_id: '1', task_status: 'SUCCEEDED', results: [link] } },
    '/result': { transcripts: [{ text: 'Hello', sentences: [] }] },
  }
  return answerJson(hops[request.path] ?? {}, request.path in hops ? 200 : 404)(request, response)
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
const ranked = [{ index: 1, relevance_score: 0.75 }]
const ofVertex = `${GOOGLE_MODELS}/theirs`
const byInvocation = '/model/theirs/invoke'
const generation = '/api/v1/services/aigc/multimodal-generation/generation'

type Told = readonly [Answerer, ...paths: string[]]
interface ToldOfCall {
  /** What the vendors answer that have the form which most have. */
  readonly usual: Told
  /** Those that answer otherwise. */
  readonly others?: Readonly<Record<string, Told>>
}

const vectors: ToldOfCall = {
  usual: [listOf(...VECTORS), '/embeddings'],
  others: {
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
    'bedrock-invoke': [
      answerJson({ id: 'e', embeddings: { float: VECTORS }, response_type: 'embeddings_by_type' }),
      byInvocation,
    ],
  },
}

const TOLD: Readonly<Record<CallName, ToldOfCall>> = {
  embeddings: vectors,
  'embeddings of Gemini': vectors,
  images: {
    usual: [picture, '/images/generations'],
    others: {
      google: [generated('image/png', PNG), '/models/theirs:generateContent'],
      vertex: [generated('image/png', PNG), `${ofVertex}:generateContent`],
      dashscope: [
        answerJson({ output: { choices: [{ message: { content: [{ image: PICTURE }] } }] } }),
        generation,
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
      openrouter: [picture, '/images'],
      fireworks: [
        answerJson({ id: '1', base64: [`data:image/png;base64,${PNG}`], finishReason: 'SUCCESS', seed: 7 }),
        '/workflows/theirs/text_to_image',
      ],
      kling: [ofKling, '/v1/images/generations', '/v1/images/generations/1'],
      jimeng: [ofJimeng, '/', '/'],
      luma: [ofLuma, '/generations', '/generations/1'],
      'luma-dream-machine': [ofLuma, '/generations/image', '/generations/1'],
      'bedrock-invoke': [answerJson({ images: [PNG] }), byInvocation],
    },
  },
  'changed images': {
    usual: [picture, '/images/edits'],
    others: {
      openrouter: [picture, '/images'],
      kling: [ofKling, '/v1/images/generations', '/v1/images/generations/1'],
      jimeng: [ofJimeng, '/', '/'],
      luma: [ofLuma, '/generations', '/generations/1'],
    },
  },
  'varied images': { usual: [picture, '/images/variations'] },
  speech: {
    usual: [bytes, '/audio/speech'],
    others: {
      minimax: [
        answerJson({
          data: { audio: SOUND.toString('hex'), status: 2 },
          extra_info: { audio_format: 'wav', usage_characters: 5 },
          base_resp: { status_code: 0, status_msg: 'success' },
        }),
        '/t2a_v2',
      ],
      xai: [bytes, '/tts'],
      mistral: [answerJson({ audio_data: SOUND.toString('base64') }), '/audio/speech'],
      google: [generated('audio/wav', SOUND.toString('base64')), '/models/theirs:generateContent'],
      vertex: [generated('audio/wav', SOUND.toString('base64')), `${ofVertex}:generateContent`],
      dashscope: [spoken({ data: SOUND.toString('base64') }, { data: '' }), generation],
    },
  },
  'speech by CosyVoice': { usual: [synthesized, '/api/v1/services/audio/tts/SpeechSynthesizer'] },
  'transcription by Paraformer': {
    usual: [
      byFile,
      '/api/v1/uploads',
      '/store',
      '/api/v1/services/audio/asr/transcription',
      '/api/v1/tasks/1',
      '/result',
    ],
  },
  transcription: {
    usual: [written, '/audio/transcriptions'],
    others: {
      cohere: [written, '/v2/audio/transcriptions'],
      openrouter: [
        answerJson({ text: 'Hello', usage: { seconds: 2.5, cost: 0.0001 } }),
        '/audio/transcriptions',
      ],
      vllm: [answerJson({ text: 'Hello', usage: { type: 'duration', seconds: 1 } }), '/audio/transcriptions'],
      dashscope: [
        answerJson({
          output: { choices: [{ finish_reason: 'stop', message: { content: [{ text: 'Hello' }] } }] },
        }),
        generation,
      ],
    },
  },
  translation: { usual: [written, '/audio/translations'] },
  rerank: {
    usual: [answerJson({ model: 'theirs', results: ranked, usage: { total_tokens: 9 } }), '/rerank'],
    others: {
      cohere: [answerJson({ id: 'r', results: ranked }), '/v2/rerank'],
      openrouter: [
        answerJson({
          id: 'gen-rerank-1',
          model: 'theirs',
          results: ranked.map((one) => ({ ...one, document: { text: 'red' } })),
          usage: { search_units: 1, total_tokens: 9 },
        }),
        '/rerank',
      ],
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
      'bedrock-invoke': [answerJson({ results: ranked }), byInvocation],
      voyage: [answerJson({ object: 'list', data: ranked, usage: { total_tokens: 9 } }), '/rerank'],
      dashscope: [
        answerJson({ request_id: 'r', output: { results: ranked }, usage: { total_tokens: 9 } }),
        '/api/v1/services/rerank/text-rerank/text-rerank',
      ],
    },
  },
  moderation: {
    usual: [answerJson({ id: 'm', model: 'theirs', results: [{ flagged: true }] }), '/moderations'],
    others: {
      zhipu: [
        answerJson({
          id: 'm',
          result_list: [{ content_type: 'text', risk_level: 'REJECT', risk_type: ['ad'] }],
          usage: { moderation_text: { call_count: 1 } },
        }),
        '/moderations',
      ],
    },
  },
}

/** What a vendor answers to a call, and where it is called. */
export function toldBy(name: CallName, vendor: string): Told {
  const { usual, others } = TOLD[name]
  return others?.[vendor] ?? usual
}
