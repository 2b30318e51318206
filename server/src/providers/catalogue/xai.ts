import type { EnvironmentVendor, ListedModel } from './listing.ts'

const PRICES = 'https://docs.x.ai/docs/models'
const LONG = 'prompts of 200 000 tokens and more cost twice as much'

export const xaiVendor: EnvironmentVendor = {
  code: 'xai',
  kind: 'xai',
  name: 'xAI',
  variable: 'XAI_API_KEY',
  models: [
    {
      modelId: 'grok-4.7',
      name: 'Grok 4.7',
      features: ['text', 'image'],
      contextTokens: 500_000,
      maxOutputTokens: undefined,
      forwardModelId: 'grok-4.7',
      protocols: ['chat', 'responses'],
      price: {
        currency: 'USD',
        input: '2',
        output: '6',
        cachedInput: '0.5',
        source: PRICES,
        date: '2026-09-29',
        confidence: 'third-party',
        note: LONG,
      },
    },
    {
      modelId: 'grok-4.6',
      name: 'Grok 4.6',
      features: ['text', 'image'],
      contextTokens: 500_000,
      maxOutputTokens: undefined,
      forwardModelId: 'grok-4.6',
      protocols: ['chat', 'responses'],
      price: {
        currency: 'USD',
        input: '2',
        output: '6',
        cachedInput: '0.5',
        source: PRICES,
        date: '2026-08-13',
        confidence: 'third-party',
        note: LONG,
      },
    },
    {
      modelId: 'grok-4.3',
      name: 'Grok 4.3',
      features: ['text', 'image'],
      contextTokens: 1_000_000,
      maxOutputTokens: undefined,
      forwardModelId: 'grok-4.3',
      protocols: ['chat', 'responses'],
      price: {
        currency: 'USD',
        input: '1.25',
        output: '2.5',
        cachedInput: '0.2',
        source: PRICES,
        date: '2026-07-13',
        confidence: 'third-party',
        note: LONG,
      },
    },
    imagine({
      modelId: 'grok-imagine-video-1.5',
      name: 'Grok Imagine Video 1.5',
      perVideoSecond: '0.08',
      more: '720p costs 0.14 and 1080p 0.25 a second, an input image 0.01',
    }),
    imagine({
      modelId: 'grok-imagine-video-1.5-lite',
      name: 'Grok Imagine Video 1.5 Lite',
      perVideoSecond: '0.02',
      more: '720p costs 0.03 a second, an input image 0.01',
    }),
    imagine({
      modelId: 'grok-imagine-video',
      name: 'Grok Imagine Video',
      perVideoSecond: '0.05',
      more: '720p costs 0.07 a second, an input image 0.002',
    }),
  ],
}

/** At 480p, the default resolution. */
function imagine(listed: {
  readonly modelId: string
  readonly name: string
  readonly perVideoSecond: string
  readonly more: string
}): ListedModel {
  const { modelId, name, perVideoSecond, more } = listed
  return {
    modelId,
    name,
    features: ['video'],
    contextTokens: undefined,
    maxOutputTokens: undefined,
    forwardModelId: modelId,
    protocols: ['video'],
    price: {
      currency: 'USD',
      perVideoSecond,
      source: `https://docs.x.ai/developers/models/${modelId}`,
      date: '2026-10-12',
      confidence: 'third-party',
      note: `price of 480p; ${more}`,
    },
  }
}
