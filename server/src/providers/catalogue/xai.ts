import type { EnvironmentVendor } from './listing.ts'

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
  ],
}
