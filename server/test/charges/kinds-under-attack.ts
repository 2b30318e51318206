/** One table of the kinds of calls that are no conversation, for attacks on their money and limits. */
import type { PassedFormId } from '../../src/core/catalogue.ts'
import type { WindowLimit } from '../../src/core/limits/policy.ts'
import { waveFile } from '../calls/wave-file.ts'
import { NO_TOKEN_PRICES, TOKEN_PRICES } from '../gateway/gateway.ts'
import { type Answerer, answerJson } from '../gateway/scripted-upstream.ts'

export const CREDIT = 1_000_000n

export interface Kind {
  readonly path: string
  readonly protocol: PassedFormId
  readonly pricing: typeof TOKEN_PRICES
  /** Without the model. A form: it asks with a file. */
  readonly asked: object | 'form'
  /** A whole answer; `usage` stands in its place for it. */
  readonly told: (usage: unknown) => object
  /** The answer is bytes; what `told` says is an error. */
  readonly bytes?: Buffer
  /** Of one call, µCr. */
  readonly price: bigint
  /** What usage that cannot be is charged; absent: it changes nothing. */
  readonly bounded?: (bodyBytes: number) => bigint
}

/** 10 Credits a token: no token is shorter than a byte, so each byte of a request holds as much. */
const PER_TOKEN = 10n * CREDIT
export const by = (mode: 'request' | 'image' | 'character' | 'audio_second', prices: object) => ({
  ...NO_TOKEN_PRICES,
  billingModes: [mode],
  ...prices,
})

const KINDS = {
  embeddings: {
    path: '/v1/embeddings',
    protocol: 'embeddings',
    pricing: { ...TOKEN_PRICES, inputPrice: '10000', outputPrice: null, cacheInputPrice: null },
    asked: { input: 'a few words of English' },
    told: (usage) => ({ object: 'list', data: [{ index: 0, embedding: [0.5] }], model: 'x', usage }),
    price: 5n * PER_TOKEN,
    bounded: (bytes) => BigInt(bytes + 10_000) * PER_TOKEN,
  },
  rerank: {
    path: '/v1/rerank',
    protocol: 'rerank',
    pricing: by('request', { requestPrice: '0.01' }),
    asked: { query: 'red', documents: ['blue', 'red'] },
    told: (usage) => ({
      results: [{ index: 1, relevance_score: 0.5 }],
      usage,
      meta: { billed_units: usage },
    }),
    price: 10n * CREDIT,
  },
  moderation: {
    path: '/v1/moderations',
    protocol: 'moderation',
    pricing: by('request', { requestPrice: '0.01' }),
    asked: { input: 'x' },
    told: (usage) => ({ id: 'm', model: 'x', results: [{ flagged: true }], usage }),
    price: 10n * CREDIT,
  },
  images: {
    path: '/v1/images/generations',
    protocol: 'images',
    pricing: by('image', { imagePrice: '0.3' }),
    asked: { prompt: 'red' },
    told: (usage) => ({ created: 1, data: [{ b64_json: 'iVBORw0KGgo=' }], usage }),
    price: 300n * CREDIT,
  },
  speech: {
    path: '/v1/audio/speech',
    protocol: 'speech',
    pricing: by('character', { characterPrice: '1000' }),
    asked: { input: 'Hello', voice: 'v' },
    told: (usage) => ({ error: { message: 'no', type: 'server_error' }, usage }),
    bytes: Buffer.alloc(4_096, 1),
    price: 5n * CREDIT,
  },
  transcription: {
    path: '/v1/audio/transcriptions',
    protocol: 'transcription',
    pricing: by('audio_second', { audioSecondPrice: '0.01' }),
    asked: 'form',
    told: (usage) => ({ text: 'Hello', usage }),
    price: 10n * CREDIT,
  },
  translation: {
    path: '/v1/audio/translations',
    protocol: 'transcription',
    pricing: by('audio_second', { audioSecondPrice: '0.01' }),
    asked: 'form',
    told: (usage) => ({ text: 'Hello', usage }),
    price: 10n * CREDIT,
  },
  embedContent: {
    path: '/v1beta/models/{model}:embedContent',
    protocol: 'embeddings',
    pricing: { ...TOKEN_PRICES, inputPrice: '10000', outputPrice: null, cacheInputPrice: null },
    asked: { content: { parts: [{ text: 'a few words of English' }] } },
    told: (usage) => ({ object: 'list', data: [{ index: 0, embedding: [0.5] }], model: 'x', usage }),
    price: 5n * PER_TOKEN,
    bounded: (bytes) => BigInt(bytes + 10_000) * PER_TOKEN,
  },
} as const satisfies Readonly<Record<string, Kind>>

export type KindName = keyof typeof KINDS
export const EVERY_NAME = Object.keys(KINDS).filter((name): name is KindName => name in KINDS)
/** One of each form of chains. */
export const NAMES = EVERY_NAME.filter((name) => name === kindOf(name).protocol)
export function kindOf(name: KindName): Kind {
  return KINDS[name]
}
export const pathOf = (name: KindName, model: string) => kindOf(name).path.replace('{model}', model)

/** What a limit counts of a call at its admission, and how much of it one takes. */
export const QUANTITIES: Readonly<
  Record<KindName, readonly [dimension: WindowLimit['dimension'], each: number]>
> = {
  embeddings: ['requests', 1],
  rerank: ['requests', 1],
  moderation: ['requests', 1],
  images: ['images', 1],
  speech: ['characters', 5],
  transcription: ['audio_seconds', 1],
  translation: ['audio_seconds', 1],
  embedContent: ['requests', 1],
}

export function bodyOf(name: KindName, model: string = name): FormData | string {
  const { asked, path } = kindOf(name)
  if (path.includes('{model}')) return JSON.stringify(asked)
  if (asked !== 'form') return JSON.stringify({ model, ...asked })
  const form = new FormData()
  form.set('model', model)
  form.set('file', new Blob([new Uint8Array(waveFile(1))], { type: 'audio/wav' }), 'a.wav')
  return form
}

/** A whole answer of the kind. */
export function well(name: KindName): Answerer {
  const { told, bytes } = kindOf(name)
  return bytes === undefined ? answerJson(told(undefined)) : sound(bytes)
}

export function sound(bytes: Buffer): Answerer {
  return (_request, response) => {
    response.writeHead(200, { 'content-type': 'audio/mpeg' })
    response.end(bytes)
  }
}
