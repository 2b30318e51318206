import type { EnvironmentVendor } from './listing.ts'

const PRICES = 'https://docs.bigmodel.cn/cn/guide/start/pricing'

export const zhipuVendor: EnvironmentVendor = {
  code: 'zhipu',
  kind: 'zhipu',
  name: 'Zhipu AI (GLM)',
  variable: 'ZHIPU_API_KEY',
  models: [
    {
      modelId: 'glm-5.3',
      name: 'GLM-5.3',
      features: ['text'],
      contextTokens: 1_000_000,
      maxOutputTokens: 131_072,
      forwardModelId: 'glm-5.3',
      protocols: ['chat', 'messages'],
      price: {
        currency: 'CNY',
        input: '8',
        output: '28',
        cachedInput: '2',
        source: PRICES,
        date: '2026-09-08',
        confidence: 'vendor',
      },
    },
    {
      modelId: 'glm-5.3-flash',
      name: 'GLM-5.3 Flash',
      features: ['text', 'image', 'video'],
      contextTokens: 1_000_000,
      maxOutputTokens: 131_072,
      forwardModelId: 'glm-5.3-flash',
      protocols: ['chat', 'messages'],
      price: {
        currency: 'CNY',
        input: '0.8',
        output: '2.8',
        cachedInput: '0.23',
        source: PRICES,
        date: '2026-09-08',
        confidence: 'vendor',
        note: 'output maximum not verified',
      },
    },
    {
      modelId: 'glm-5.2',
      name: 'GLM-5.2',
      features: ['text'],
      contextTokens: 1_000_000,
      maxOutputTokens: 131_072,
      forwardModelId: 'glm-5.2',
      protocols: ['chat', 'messages'],
      price: {
        currency: 'CNY',
        input: '8',
        output: '28',
        cachedInput: '2',
        source: PRICES,
        date: '2026-08-19',
        confidence: 'unverified',
        note: 'taken to cost what GLM-5.3 does, as abroad',
      },
    },
  ],
}
