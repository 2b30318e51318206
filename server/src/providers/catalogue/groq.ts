import type { EnvironmentVendor } from './listing.ts'

const PRICES = 'https://groq.com/pricing'

export const groqVendor: EnvironmentVendor = {
  code: 'groq',
  kind: 'groq',
  name: 'Groq',
  variable: 'GROQ_API_KEY',
  models: [
    {
      modelId: 'groq-gpt-oss-120b',
      name: 'GPT-OSS 120B (Groq)',
      features: ['text'],
      contextTokens: 131_072,
      maxOutputTokens: 65_536,
      forwardModelId: 'openai/gpt-oss-120b',
      protocols: ['chat', 'responses'],
      price: {
        currency: 'USD',
        input: '0.15',
        output: '0.6',
        cachedInput: '0.075',
        source: PRICES,
        date: '2026-07-02',
        confidence: 'third-party',
      },
    },
    {
      modelId: 'groq-gpt-oss-20b',
      name: 'GPT-OSS 20B (Groq)',
      features: ['text'],
      contextTokens: 131_072,
      maxOutputTokens: 65_536,
      forwardModelId: 'openai/gpt-oss-20b',
      protocols: ['chat', 'responses'],
      price: {
        currency: 'USD',
        input: '0.075',
        output: '0.3',
        cachedInput: '0.0375',
        source: PRICES,
        date: '2026-07-02',
        confidence: 'third-party',
      },
    },
    {
      modelId: 'groq-llama-3.3-70b',
      name: 'Llama 3.3 70B (Groq)',
      features: ['text'],
      contextTokens: 131_072,
      maxOutputTokens: 32_768,
      forwardModelId: 'llama-3.3-70b-versatile',
      protocols: ['chat', 'responses'],
      price: {
        currency: 'USD',
        input: '0.59',
        output: '0.79',
        source: PRICES,
        date: '2026-07-02',
        confidence: 'third-party',
      },
    },
  ],
}
