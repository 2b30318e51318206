/** Every pair of a call that is no conversation and a vendor: an official client, the gateway, an upstream in its own form. */
import { GoogleGenAI } from '@google/genai'
import { CohereClientV2 } from 'cohere-ai'
import OpenAI, { toFile } from 'openai'
import { expect, test } from 'vitest'
import { waveFile } from '../calls/wave-file.ts'
import { postJson } from '../gateway/client.ts'
import { putChain, putModel, putVendor } from '../gateway/gateway.ts'
import { openStand } from '../gateway/open-stand.ts'
import { type Answerer, answerJson } from '../gateway/scripted-upstream.ts'
import { GOOGLE_MODELS, grantingTokens, serviceAccount, TOKEN } from '../gateway/service-account.ts'
import { type CallName, KIND_CELLS, type KindCell, kindCellId, type VendorKind } from '../matrix/kinds.ts'

const modelOf = ({ name, vendor }: KindCell) => `${name.replaceAll(' ', '-')}-${vendor}`
const chainProtocol = ({ call }: KindCell) =>
  call.protocol === 'gemini-embeddings' ? 'embeddings' : call.protocol

const { gateway, upstream } = await openStand((at) => [
  ...[...new Set(KIND_CELLS.map(({ vendor }) => vendor))].flatMap((kind) =>
    putVendor(kind, at.upstream, { kind }),
  ),
  serviceAccount(at.upstream),
  ...KIND_CELLS.flatMap((cell) => [
    putModel(modelOf(cell)),
    putChain({ model: modelOf(cell), vendor: cell.vendor, protocol: chainProtocol(cell), forward: 'theirs' }),
  ]),
])

const openai = new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.baseUrl}/v1`, maxRetries: 0 })
const cohere = new CohereClientV2({ token: gateway.key, baseUrl: gateway.baseUrl, maxRetries: 0 })
const google = new GoogleGenAI({
  apiKey: gateway.key,
  httpOptions: { baseUrl: gateway.baseUrl, retryOptions: { attempts: 1 } },
})

const PNG = 'iVBORw0KGgo='
const SOUND = Buffer.from('RIFF of a kind')
const VECTORS = [
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
const PICTURE = 'https://pictures.example/1.png'
/** A task: ordered, asked for, over. `theirs` is all of its endpoint. */
const byTask: Answerer = (request, response) => {
  const order = { id: '1', request_id: '1', status: 'starting' }
  const states: Readonly<Record<string, object>> = {
    '/theirs/requests/1/status': { status: 'COMPLETED' },
    '/theirs/requests/1': { images: [{ url: PICTURE, content_type: 'image/png' }] },
    '/predictions/1': { id: '1', status: 'succeeded', output: [PICTURE] },
  }
  return answerJson(states[request.path] ?? order)(request, response)
}
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
} as const

/** What each vendor answers in its own form, and where it is called. */
const UPSTREAMS: Readonly<
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
    fal: [byTask, '/theirs', '/theirs/requests/1/status', '/theirs/requests/1'],
    replicate: [byTask, '/models/theirs/predictions', '/predictions/1'],
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
    'azure-openai': [picture, '/images/generations'],
  },
  'changed images': {
    openai: [picture, '/images/edits'],
    'azure-openai': [picture, '/images/edits'],
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
  },
  rerank: {
    cohere: [answerJson({ id: 'r', results: ranked }), '/v2/rerank'],
    jina: [answerJson({ model: 'theirs', results: ranked, usage: { total_tokens: 9 } }), '/rerank'],
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

const INPUT = ['one', 'two']
const pixel = () => toFile(Buffer.from(PNG, 'base64'), 'a.png', { type: 'image/png' })
const sound = () => toFile(waveFile(1), 'a.wav')

/** Asks through the official client; resolves with what it read. */
const ASK: Readonly<Record<CallName, (model: string) => Promise<unknown>>> = {
  async embeddings(model) {
    const { data } = await openai.embeddings.create({ model, input: INPUT, encoding_format: 'float' })
    return data.map(({ embedding }) => embedding)
  },
  async 'embeddings of Gemini'(model) {
    const { embeddings } = await google.models.embedContent({ model, contents: INPUT })
    return embeddings?.map(({ values }) => values)
  },
  async images(model) {
    const { data } = await openai.images.generate({ model, prompt: 'red' })
    return data?.[0]?.b64_json ?? data?.[0]?.url
  },
  async 'changed images'(model) {
    const { data } = await openai.images.edit({ model, prompt: 'red', image: await pixel() })
    return data?.[0]?.b64_json
  },
  async 'varied images'(model) {
    const { data } = await openai.images.createVariation({ model, image: await pixel() })
    return data?.[0]?.b64_json
  },
  async speech(model) {
    const answer = await openai.audio.speech.create({ model, input: 'Hello', voice: 'alloy' })
    return Buffer.from(await answer.arrayBuffer()).toString()
  },
  async transcription(model) {
    return (await openai.audio.transcriptions.create({ model, file: await sound() })).text
  },
  async translation(model) {
    return (await openai.audio.translations.create({ model, file: await sound() })).text
  },
  async rerank(model) {
    const { results } = await cohere.rerank({ model, query: 'red', documents: ['blue', 'red'] })
    return results
  },
  async moderation(model) {
    const { results } = await openai.moderations.create({ model, input: 'x' })
    return results.map(({ flagged }) => flagged)
  },
}

const READ: Readonly<Record<CallName, unknown>> = {
  embeddings: VECTORS,
  'embeddings of Gemini': VECTORS,
  images: PNG,
  'changed images': PNG,
  'varied images': PNG,
  speech: SOUND.toString(),
  transcription: 'Hello',
  translation: 'Hello',
  rerank: [{ index: 1, relevanceScore: 0.75 }],
  moderation: [true],
}

/** The smallest body that `explain` takes for a call. */
function question({ call: { protocol } }: KindCell, model: string): object {
  if (protocol !== 'gemini-embeddings') return { protocol, body: { model, input: 'x' }, audio_seconds: 1 }
  return { protocol, model, body: { requests: [{ content: { parts: [{ text: 'x' }] } }] } }
}

/** Vendors that keep pictures behind addresses. */
function isLinked({ name, vendor }: KindCell): boolean {
  return name === 'images' && ['dashscope', 'fal', 'replicate', 'minimax', 'siliconflow'].includes(vendor)
}

test.each(KIND_CELLS.map((cell) => [kindCellId(cell), cell] as const))('%s', async (_id, cell) => {
  const [answer, ...paths] = UPSTREAMS[cell.name][cell.vendor] ?? []
  if (answer === undefined) throw new Error('nobody says what this vendor answers')
  upstream.answer(grantingTokens(answer))
  const model = modelOf(cell)
  expect(await ASK[cell.name](model)).toEqual(isLinked(cell) ? PICTURE : READ[cell.name])
  const asked = upstream.requests.map((request) => request.path)
  expect(asked.filter((one) => one !== TOKEN)).toEqual(paths)
  const { body } = await postJson(`${gateway.baseUrl}/api/v1/user/user/explain`, question(cell, model), {
    authorization: `Bearer ${gateway.key}`,
  })
  const kind = cell.how === 'passed' ? 'passthrough' : 'converted'
  expect(body.data).toMatchObject({ routes: [{ chains: [{ conversion: { kind } }] }] })
})
