/** Every pair of a call that is no conversation and a vendor: an official client, the gateway, an upstream in its own form. */
import { GoogleGenAI } from '@google/genai'
import { CohereClientV2 } from 'cohere-ai'
import OpenAI, { toFile } from 'openai'
import { expect, test } from 'vitest'
import { waveFile } from '../calls/wave-file.ts'
import { postJson } from '../gateway/client.ts'
import { putChain, putModel, putVendor } from '../gateway/gateway.ts'
import { openStand } from '../gateway/open-stand.ts'
import { keyPair } from '../gateway/key-pair.ts'
import { grantingTokens, serviceAccount, TOKEN } from '../gateway/service-account.ts'
import { PICTURE, PNG, SOUND, toldBy, VECTORS } from '../matrix/kind-answers.ts'
import {
  type CallName,
  chainProtocolOf,
  forwardOf,
  KIND_CELLS,
  type KindCell,
  kindCellId,
} from '../matrix/kinds.ts'

const modelOf = ({ name, vendor }: KindCell) => `${name.replaceAll(' ', '-')}-${vendor}`

const { gateway, upstream } = await openStand((at) => [
  ...[...new Set(KIND_CELLS.map(({ vendor }) => vendor))].flatMap((kind) =>
    putVendor(kind, at.upstream, { kind }),
  ),
  serviceAccount(at.upstream),
  keyPair('jimeng'),
  ...KIND_CELLS.flatMap((cell) => [
    putModel(modelOf(cell)),
    putChain({
      model: modelOf(cell),
      vendor: cell.vendor,
      protocol: chainProtocolOf(cell.call),
      forward: forwardOf(cell.call),
    }),
  ]),
])

const openai = new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.baseUrl}/v1`, maxRetries: 0 })
const cohere = new CohereClientV2({ token: gateway.key, baseUrl: gateway.baseUrl, maxRetries: 0 })
const google = new GoogleGenAI({
  apiKey: gateway.key,
  httpOptions: { baseUrl: gateway.baseUrl, retryOptions: { attempts: 1 } },
})

const INPUT = ['one', 'two']
const pixel = () => toFile(Buffer.from(PNG, 'base64'), 'a.png', { type: 'image/png' })
const sound = () => toFile(waveFile(1), 'a.wav')

async function spoken(model: string): Promise<string> {
  const answer = await openai.audio.speech.create({ model, input: 'Hello', voice: 'alloy' })
  return Buffer.from(await answer.arrayBuffer()).toString()
}

async function writtenDown(model: string): Promise<string> {
  return (await openai.audio.transcriptions.create({ model, file: await sound() })).text
}

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
    return data?.[0]?.b64_json ?? data?.[0]?.url
  },
  async 'varied images'(model) {
    const { data } = await openai.images.createVariation({ model, image: await pixel() })
    return data?.[0]?.b64_json
  },
  speech: spoken,
  'speech by CosyVoice': spoken,
  transcription: writtenDown,
  'transcription by Paraformer': writtenDown,
  async translation(model) {
    return (await openai.audio.translations.create({ model, file: await sound() })).text
  },
  async rerank(model) {
    const { results } = await cohere.rerank({ model, query: 'red', documents: ['blue', 'red'] })
    return results.map(({ index, relevanceScore }) => ({ index, relevanceScore }))
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
  'speech by CosyVoice': SOUND.toString(),
  transcription: 'Hello',
  'transcription by Paraformer': 'Hello',
  translation: 'Hello',
  rerank: [{ index: 1, relevanceScore: 0.75 }],
  moderation: [true],
}

/** The smallest body that `explain` takes for a call. */
function question({ call: { protocol, path } }: KindCell, model: string): object {
  if (protocol !== 'gemini-embeddings')
    return { protocol, path, body: { model, input: 'x' }, audio_seconds: 1 }
  return { protocol, model, body: { requests: [{ content: { parts: [{ text: 'x' }] } }] } }
}

const LINKED: readonly string[] = [
  'dashscope',
  'fal',
  'replicate',
  'minimax',
  'siliconflow',
  'kling',
  'jimeng',
  'luma',
  'luma-dream-machine',
]

/** Vendors that keep pictures behind addresses. */
function isLinked({ name, vendor }: KindCell): boolean {
  return LINKED.includes(vendor) && (name === 'images' || name === 'changed images')
}

const ROWS: Readonly<Record<CallName, string>> = {
  embeddings: '[D-embeddings-26]',
  'embeddings of Gemini': '[D-embeddings-27]',
  images: '[D-images-42]',
  'changed images': '[D-images-43]',
  'varied images': '[D-images-43]',
  speech: '[D-speech-18]',
  'speech by CosyVoice': '[D-speech-17]',
  transcription: '[D-transcription-30]',
  'transcription by Paraformer': '[D-transcription-31]',
  translation: '[D-transcription-30]',
  rerank: '[D-rerank-17]',
  moderation: '[D-moderation-10]',
}

test.each(KIND_CELLS.map((cell) => [`${kindCellId(cell)} ${ROWS[cell.name]}`, cell] as const))(
  '%s',
  async (_id, cell) => {
    const [answer, ...paths] = toldBy(cell.name, cell.vendor)
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
  },
)
