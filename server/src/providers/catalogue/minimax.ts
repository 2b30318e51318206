import type { EnvironmentVendor } from './listing.ts'

const PRICES = 'https://platform.minimaxi.com/docs/guides/pricing-paygo'

export const minimaxVendor: EnvironmentVendor = {
  code: 'minimax',
  kind: 'minimax',
  name: 'MiniMax',
  variable: 'MINIMAX_API_KEY',
  models: [
    {
      modelId: 'minimax-m3',
      name: 'MiniMax M3',
      features: ['text', 'image', 'video'],
      contextTokens: 1_000_000,
      maxOutputTokens: 128_000,
      forwardModelId: 'MiniMax-M3',
      protocols: ['chat', 'responses', 'messages'],
      price: {
        currency: 'CNY',
        input: '2.1',
        output: '8.4',
        cachedInput: '0.42',
        source: PRICES,
        date: '2026-09-11',
        confidence: 'third-party',
        note: 'permanent half price of the list; above 512 000 input tokens twice as much',
      },
    },
    {
      modelId: 'minimax-m2.7',
      name: 'MiniMax M2.7',
      features: ['text'],
      contextTokens: 204_800,
      maxOutputTokens: 131_072,
      forwardModelId: 'MiniMax-M2.7',
      protocols: ['chat', 'responses', 'messages'],
      price: {
        currency: 'CNY',
        input: '2.1',
        output: '8.4',
        cachedInput: '0.42',
        cacheWrite: '2.625',
        source: PRICES,
        date: '2026-09-11',
        confidence: 'vendor',
      },
    },
    {
      modelId: 'minimax-m2.7-highspeed',
      name: 'MiniMax M2.7 Highspeed',
      features: ['text'],
      contextTokens: 204_800,
      maxOutputTokens: 131_072,
      forwardModelId: 'MiniMax-M2.7-highspeed',
      protocols: ['chat', 'responses', 'messages'],
      price: {
        currency: 'CNY',
        input: '4.2',
        output: '16.8',
        cachedInput: '0.42',
        cacheWrite: '2.625',
        source: PRICES,
        date: '2026-09-11',
        confidence: 'vendor',
      },
    },
  ],
}
