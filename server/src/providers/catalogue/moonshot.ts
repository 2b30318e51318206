import type { EnvironmentVendor } from './listing.ts'

const PRICES = 'https://platform.kimi.com/docs/pricing/chat'

export const moonshotVendor: EnvironmentVendor = {
  code: 'moonshot',
  kind: 'moonshot',
  name: 'Moonshot AI (Kimi)',
  variable: 'MOONSHOT_API_KEY',
  models: [
    {
      modelId: 'kimi-k3',
      name: 'Kimi K3',
      features: ['text', 'image'],
      contextTokens: 1_000_000,
      maxOutputTokens: undefined,
      forwardModelId: 'kimi-k3',
      protocols: ['chat', 'responses', 'messages'],
      price: {
        currency: 'CNY',
        input: '20',
        output: '100',
        cachedInput: '2',
        source: PRICES,
        date: '2026-08-01',
        confidence: 'third-party',
        note: 'context length not verified',
      },
    },
    {
      modelId: 'kimi-k2.7-code',
      name: 'Kimi K2.7 Code',
      features: ['text', 'image'],
      contextTokens: 262_144,
      maxOutputTokens: undefined,
      forwardModelId: 'kimi-k2.7-code',
      protocols: ['chat', 'responses', 'messages'],
      price: {
        currency: 'USD',
        input: '0.95',
        output: '4',
        cachedInput: '0.19',
        source: PRICES,
        date: '2026-06-15',
        confidence: 'third-party',
        note: 'known in dollars only',
      },
    },
    {
      modelId: 'kimi-k2.6',
      name: 'Kimi K2.6',
      features: ['text', 'image'],
      contextTokens: 262_144,
      maxOutputTokens: undefined,
      forwardModelId: 'kimi-k2.6',
      protocols: ['chat', 'responses', 'messages'],
      price: {
        currency: 'USD',
        input: '0.95',
        output: '4',
        cachedInput: '0.16',
        source: PRICES,
        date: '2026-07-02',
        confidence: 'unverified',
        note: 'known in dollars only',
      },
    },
  ],
}
