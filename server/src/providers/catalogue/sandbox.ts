import type { EnvironmentVendor, ListedModel, TokenPrice, VideoPrice } from './listing.ts'

/** Small and invented, but not zero, so that a first call shows a charge. */
const INVENTED = {
  currency: 'CNY',
  source: 'invented: the sandbox calls nobody',
  date: '2026-11-21',
  confidence: 'vendor',
} as const
const PRICE: TokenPrice = { ...INVENTED, input: '1', output: '2', cachedInput: '0.1' }
const VIDEO_PRICE: VideoPrice = { ...INVENTED, perVideoSecond: '0.01' }

export const sandboxVendor: EnvironmentVendor = {
  code: 'sandbox',
  kind: 'sandbox',
  name: 'Sandbox (offline)',
  variable: undefined,
  models: [
    listed('sandbox-chat', 'Sandbox Chat (offline)'),
    listed('sandbox-reasoning', 'Sandbox Reasoning (offline)'),
    {
      modelId: 'sandbox-video',
      name: 'Sandbox Video (offline)',
      features: ['video'],
      contextTokens: undefined,
      maxOutputTokens: undefined,
      forwardModelId: 'sandbox-video',
      protocols: ['video'],
      price: VIDEO_PRICE,
    },
    {
      modelId: 'sandbox-embed',
      name: 'Sandbox Embeddings (offline)',
      features: ['text'],
      contextTokens: 8_192,
      maxOutputTokens: undefined,
      forwardModelId: 'sandbox-embed',
      protocols: ['embeddings'],
      price: { ...INVENTED, input: '0.1' },
    },
    {
      modelId: 'sandbox-moderate',
      name: 'Sandbox Moderation (offline)',
      features: ['text', 'image'],
      contextTokens: undefined,
      maxOutputTokens: undefined,
      forwardModelId: 'sandbox-moderate',
      protocols: ['moderation'],
      price: { ...INVENTED, perRequest: '0.001' },
    },
    {
      modelId: 'sandbox-rerank',
      name: 'Sandbox Rerank (offline)',
      features: ['text'],
      contextTokens: undefined,
      maxOutputTokens: undefined,
      forwardModelId: 'sandbox-rerank',
      protocols: ['rerank'],
      price: { ...INVENTED, perRequest: '0.002' },
    },
    {
      modelId: 'sandbox-image',
      name: 'Sandbox Image (offline)',
      features: ['image'],
      contextTokens: undefined,
      maxOutputTokens: undefined,
      forwardModelId: 'sandbox-image',
      protocols: ['images'],
      price: { ...INVENTED, perImage: '0.01' },
    },
    {
      modelId: 'sandbox-voice',
      name: 'Sandbox Voice (offline)',
      features: ['audio'],
      contextTokens: undefined,
      maxOutputTokens: undefined,
      forwardModelId: 'sandbox-voice',
      protocols: ['speech'],
      price: { ...INVENTED, perMillionCharacters: '100' },
    },
    {
      modelId: 'sandbox-listen',
      name: 'Sandbox Transcription (offline)',
      features: ['audio'],
      contextTokens: undefined,
      maxOutputTokens: undefined,
      forwardModelId: 'sandbox-listen',
      protocols: ['transcription'],
      price: { ...INVENTED, perAudioSecond: '0.0007' },
    },
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
