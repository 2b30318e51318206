import type { EnvironmentVendor } from './listing.ts'

const PRICES = 'https://api-docs.deepseek.com/zh-cn/quick_start/pricing'
const PEAK = 'peak hours; half of it outside them (weekdays 9–12 and 14–18 Beijing time are peak)'

export const deepseekVendor: EnvironmentVendor = {
  code: 'deepseek',
  kind: 'deepseek',
  name: 'DeepSeek',
  variable: 'DEEPSEEK_API_KEY',
  models: [
    {
      modelId: 'deepseek-flash',
      name: 'DeepSeek V4.1 Flash',
      features: ['text', 'image'],
      contextTokens: 1_000_000,
      maxOutputTokens: 384_000,
      forwardModelId: 'deepseek-flash',
      protocols: ['chat', 'responses', 'messages'],
      price: {
        currency: 'CNY',
        input: '2',
        output: '8',
        cachedInput: '0.04',
        source: PRICES,
        date: '2026-11-01',
        confidence: 'vendor',
        note: PEAK,
      },
    },
    {
      modelId: 'deepseek-v4-pro',
      name: 'DeepSeek V4 Pro',
      features: ['text'],
      contextTokens: 1_000_000,
      maxOutputTokens: 384_000,
      forwardModelId: 'deepseek-v4-pro',
      protocols: ['chat', 'responses', 'messages'],
      price: {
        currency: 'CNY',
        input: '9',
        output: '27',
        cachedInput: '0.3',
        source: PRICES,
        date: '2026-11-01',
        confidence: 'vendor',
        note: PEAK,
      },
    },
  ],
}
