import type { EnvironmentVendor, ListedModel, ListPrice } from './listing.ts'

/** Small and invented, but not zero, so that a first call shows money moving. */
const PRICE: ListPrice = {
  currency: 'CNY',
  input: '1',
  output: '2',
  cachedInput: '0.1',
  source: 'invented: the sandbox calls nobody',
  date: '2026-11-21',
  confidence: 'vendor',
}

export const sandboxVendor: EnvironmentVendor = {
  code: 'sandbox',
  kind: 'sandbox',
  name: 'Sandbox (offline)',
  variable: undefined,
  models: [
    listed('sandbox-chat', 'Sandbox Chat (offline)'),
    listed('sandbox-reasoning', 'Sandbox Reasoning (offline)'),
  ],
}

function listed(modelId: string, name: string): ListedModel {
  return {
    modelId,
    name,
    features: ['text', 'image'],
    contextTokens: 128_000,
    maxOutputTokens: 8_192,
    forwardModelId: modelId,
    protocols: ['chat', 'responses', 'messages', 'gemini'],
    price: PRICE,
  }
}
