import type { EnvironmentVendor, ListedModel } from './listing.ts'

const PRICES = 'https://www.volcengine.com/docs/82379/1544106'

export const arkVendor: EnvironmentVendor = {
  code: 'ark',
  kind: 'ark',
  name: 'Volcengine Ark (Doubao)',
  variable: 'ARK_API_KEY',
  models: [
    {
      modelId: 'doubao-seed-2.1-pro',
      name: 'Doubao Seed 2.1 Pro',
      features: ['text', 'image'],
      contextTokens: 256_000,
      maxOutputTokens: undefined,
      forwardModelId: 'doubao-seed-2-1-pro-260915',
      protocols: ['chat', 'responses'],
      price: {
        currency: 'CNY',
        input: '6',
        output: '30',
        source: PRICES,
        date: '2026-09-15',
        confidence: 'third-party',
      },
    },
    {
      modelId: 'doubao-seed-2.1-lite',
      name: 'Doubao Seed 2.1 Lite',
      features: ['text', 'image'],
      contextTokens: 256_000,
      maxOutputTokens: undefined,
      forwardModelId: 'doubao-seed-2-1-lite-260915',
      protocols: ['chat', 'responses'],
      price: {
        currency: 'CNY',
        input: '0.8',
        output: '2.7',
        source: PRICES,
        date: '2026-11-16',
        confidence: 'unverified',
        note: 'derived from a reseller’s price',
      },
    },
    {
      modelId: 'doubao-seed-2.1-turbo',
      name: 'Doubao Seed 2.1 Turbo',
      features: ['text', 'image'],
      contextTokens: 256_000,
      maxOutputTokens: undefined,
      forwardModelId: 'doubao-seed-2-1-turbo-260628',
      protocols: ['chat', 'responses'],
      price: {
        currency: 'CNY',
        input: '3.2',
        output: '16',
        source: PRICES,
        date: '2026-11-16',
        confidence: 'unverified',
        note: 'derived from a reseller’s price',
      },
    },
    seedance({
      modelId: 'doubao-seedance-2.0',
      name: 'Doubao Seedance 2.0',
      forwardModelId: 'doubao-seedance-2-0-260128',
      // 46 per million tokens.
      perVideoSecond: '0.9936',
      more: '1080p costs 2.4786 and 4k 5.0544 a second',
    }),
    seedance({
      modelId: 'doubao-seedance-2.0-fast',
      name: 'Doubao Seedance 2.0 Fast',
      forwardModelId: 'doubao-seedance-2-0-fast-260128',
      // 37 per million tokens.
      perVideoSecond: '0.7992',
    }),
    seedance({
      modelId: 'doubao-seedance-2.0-mini',
      name: 'Doubao Seedance 2.0 Mini',
      forwardModelId: 'doubao-seedance-2-0-mini-260615',
      // 23 per million tokens.
      perVideoSecond: '0.4968',
    }),
  ],
}

/** Billed by token; a second of 720p in 16:9 and 24 frames is 1280 × 720 × 24 / 1024 = 21 600 of them. */
function seedance(listed: {
  readonly modelId: string
  readonly name: string
  readonly forwardModelId: string
  readonly perVideoSecond: string
  readonly more?: string
}): ListedModel {
  const { modelId, name, forwardModelId, perVideoSecond, more } = listed
  return {
    modelId,
    name,
    features: ['video'],
    contextTokens: undefined,
    maxOutputTokens: undefined,
    forwardModelId,
    protocols: ['video'],
    price: {
      currency: 'CNY',
      perVideoSecond,
      source: PRICES,
      date: '2026-10-25',
      confidence: 'unverified',
      note: [
        'derived from the price of a token for 720p, read at third parties; reference videos are counted beside it',
        ...(more === undefined ? [] : [more]),
      ].join('; '),
    },
  }
}
