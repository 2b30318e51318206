import type { EnvironmentVendor } from './listing.ts'

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
  ],
}
