import type { EnvironmentVendor, ListedModel } from './listing.ts'

const PRICES = 'https://help.aliyun.com/zh/model-studio/models'
const IN_DOLLARS = 'known in dollars only; the mainland price list is in yuan'

export const dashscopeVendor: EnvironmentVendor = {
  code: 'dashscope',
  kind: 'dashscope',
  name: 'Alibaba Cloud (Qwen)',
  variable: 'DASHSCOPE_API_KEY',
  models: [
    {
      modelId: 'qwen3.8-max',
      name: 'Qwen3.8 Max',
      features: ['text', 'image', 'video'],
      contextTokens: 1_000_000,
      maxOutputTokens: 131_072,
      forwardModelId: 'qwen3.8-max',
      protocols: ['chat', 'responses', 'messages'],
      price: {
        currency: 'USD',
        input: '2',
        output: '6',
        source: PRICES,
        date: '2026-08-03',
        confidence: 'third-party',
        note: IN_DOLLARS,
      },
    },
    {
      modelId: 'qwen3.7-max',
      name: 'Qwen3.7 Max',
      features: ['text'],
      contextTokens: 1_000_000,
      maxOutputTokens: 65_536,
      forwardModelId: 'qwen3.7-max',
      protocols: ['chat', 'responses', 'messages'],
      price: {
        currency: 'USD',
        input: '2.5',
        output: '7.5',
        cachedInput: '0.5',
        cacheWrite: '3.125',
        source: PRICES,
        date: '2026-07-02',
        confidence: 'third-party',
        note: IN_DOLLARS,
      },
    },
    {
      modelId: 'qwen3.7-plus',
      name: 'Qwen3.7 Plus',
      features: ['text', 'image', 'video'],
      contextTokens: 1_000_000,
      maxOutputTokens: 65_536,
      forwardModelId: 'qwen3.7-plus',
      protocols: ['chat', 'responses', 'messages'],
      price: {
        currency: 'USD',
        input: '0.5',
        output: '3',
        cachedInput: '0.05',
        cacheWrite: '0.625',
        source: PRICES,
        date: '2026-07-02',
        confidence: 'third-party',
        note: IN_DOLLARS,
      },
    },
    {
      modelId: 'qwen3.6-flash',
      name: 'Qwen3.6 Flash',
      features: ['text', 'image', 'video'],
      contextTokens: 1_000_000,
      maxOutputTokens: 65_536,
      forwardModelId: 'qwen3.6-flash',
      protocols: ['chat', 'responses', 'messages'],
      price: {
        currency: 'USD',
        input: '0.1875',
        output: '1.125',
        cacheWrite: '0.234375',
        source: PRICES,
        date: '2026-07-02',
        confidence: 'third-party',
        note: IN_DOLLARS,
      },
    },
    wan({ modelId: 'wan2.7-t2v', name: 'Wan 2.7 (text to video)' }),
    wan({ modelId: 'wan2.7-i2v', name: 'Wan 2.7 (image to video)' }),
    wan({ modelId: 'wan2.7-r2v', name: 'Wan 2.7 (references to video)' }),
  ],
}

/** At 1080P, the default resolution. 3.0 is not listed: it has no address that all accounts share. */
function wan({ modelId, name }: { readonly modelId: string; readonly name: string }): ListedModel {
  return {
    modelId,
    name,
    features: ['video'],
    contextTokens: undefined,
    maxOutputTokens: undefined,
    forwardModelId: modelId,
    protocols: ['video'],
    price: {
      currency: 'CNY',
      perVideoSecond: '1',
      source: 'https://help.aliyun.com/zh/model-studio/model-pricing',
      date: '2026-06-18',
      confidence: 'third-party',
      note: 'price of 1080P; 720P costs 0.6 a second',
    },
  }
}
