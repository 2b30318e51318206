import { describe, expect, test } from 'vitest'
import { providerOf } from '../index.ts'
import { CHAIN_PROTOCOL_IDS, isPassedForm, makesOutputTokens } from '../../core/catalogue.ts'
import {
  SANDBOX_EMBEDDING_MODEL,
  SANDBOX_IMAGE_MODEL,
  SANDBOX_SPEECH_MODEL,
  SANDBOX_TRANSCRIPTION_MODEL,
  SANDBOX_MODELS,
  SANDBOX_MODERATION_MODEL,
  SANDBOX_RERANK_MODEL,
  SANDBOX_VIDEO_MODEL,
} from '../sandbox/models.ts'
import { environmentVendors } from './index.ts'
import { pricingOf } from './listing.ts'
import { sandboxVendor } from './sandbox.ts'

const MODELS = environmentVendors.flatMap((vendor) => vendor.models.map((model) => ({ vendor, model })))

describe('the first catalogue', () => {
  test('knows every vendor whose usual environment variable it promises, and the sandbox without one', () => {
    expect(environmentVendors.map((vendor) => vendor.variable)).toEqual([
      'OPENAI_API_KEY',
      'ANTHROPIC_API_KEY',
      'GEMINI_API_KEY',
      'DEEPSEEK_API_KEY',
      'XAI_API_KEY',
      'MISTRAL_API_KEY',
      'DASHSCOPE_API_KEY',
      'MOONSHOT_API_KEY',
      'ZHIPU_API_KEY',
      'ARK_API_KEY',
      'MINIMAX_API_KEY',
      'GROQ_API_KEY',
      'OPENROUTER_API_KEY',
      undefined,
    ])
  })

  test('names each model and each vendor once: public ids are keys of the catalogue', () => {
    const ids = MODELS.map(({ model }) => model.modelId)
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([])
    const codes = environmentVendors.map((vendor) => vendor.code)
    expect(new Set(codes).size).toBe(codes.length)
  })

  test.each(MODELS)(
    '$model.modelId can be reached: its vendor speaks every protocol of its chains',
    ({ vendor, model }) => {
      const provider = providerOf(vendor.kind)
      expect(provider?.defaultBaseUrl).toBeDefined()
      expect(model.protocols.length).toBeGreaterThan(0)
      for (const protocol of model.protocols) {
        expect(protocol === 'video' ? provider?.video : provider?.dialects[protocol]).toBeDefined()
      }
    },
  )

  test.each(MODELS)(
    '$model.modelId has a price with source and date, plausible and above zero',
    ({ model }) => {
      const { price } = model
      const pricing = pricingOf(price)
      expect(price.source).toMatch(/^(https:\/\/\S+|invented: .+)$/)
      expect(price.date).toMatch(/^2026-\d\d-\d\d$/)
      if ('perVideoSecond' in price) {
        expect(model.protocols).toEqual(['video'])
        expect(pricing.billingModes).toEqual(['video_second'])
        expect(Number(pricing.videoPrice)).toBeGreaterThan(0)
        return
      }
      if ('perImage' in price) {
        expect(pricing.billingModes).toEqual(['image'])
        expect(Number(pricing.imagePrice)).toBeGreaterThan(0)
        return
      }
      if ('perMillionCharacters' in price) {
        expect(pricing.billingModes).toEqual(['character'])
        expect(Number(pricing.characterPrice)).toBeGreaterThan(0)
        return
      }
      if ('perAudioSecond' in price) {
        expect(model.protocols).toEqual(['transcription'])
        expect(pricing.billingModes).toEqual(['audio_second'])
        expect(Number(pricing.audioSecondPrice)).toBeGreaterThan(0)
        return
      }
      if ('perRequest' in price) {
        expect(pricing.billingModes).toEqual(['request'])
        expect(Number(pricing.requestPrice)).toBeGreaterThan(0)
        return
      }
      expect(Number(pricing.inputPrice)).toBeGreaterThan(0)
      // Output is never cheaper than input, a cache hit never more expensive, a cache write at most twice the input.
      if (price.output === undefined) expect(model.protocols.some(makesOutputTokens)).toBe(false)
      else expect(Number(price.output)).toBeGreaterThanOrEqual(Number(price.input))
      expect(Number(price.cachedInput ?? 0)).toBeLessThan(Number(price.input))
      expect(Number(price.cacheWrite1h ?? price.cacheWrite ?? 0)).toBeLessThanOrEqual(2 * Number(price.input))
      expect(model.maxOutputTokens ?? 1).toBeLessThanOrEqual(model.contextTokens ?? Number.POSITIVE_INFINITY)
    },
  )

  test('Claude ids are dotted in public and dashed upstream', () => {
    const claude = MODELS.filter(({ vendor }) => vendor.code === 'anthropic').map(({ model }) => model)
    expect(claude.length).toBeGreaterThan(3)
    for (const { modelId, forwardModelId } of claude) {
      expect(modelId).toMatch(/^claude-[a-z]+-\d\.\d$/)
      expect(forwardModelId).toBe(modelId.replace('.', '-'))
    }
  })

  test('OpenAI models have chat and responses chains or listen, sandbox models all four or one of the other kinds', () => {
    const protocolsOf = (code: string): unknown[] =>
      MODELS.filter(({ vendor }) => vendor.code === code).map(({ model }) => model.protocols.join(' '))
    expect(new Set(protocolsOf('openai'))).toEqual(new Set(['chat responses', 'transcription']))
    expect(new Set(protocolsOf('sandbox'))).toEqual(
      new Set(['chat responses messages gemini', 'video', ...CHAIN_PROTOCOL_IDS.filter(isPassedForm)]),
    )
  })

  test('the sandbox lists exactly the models that answer', () => {
    expect(sandboxVendor.models.map((model) => model.forwardModelId)).toEqual([
      ...SANDBOX_MODELS,
      SANDBOX_VIDEO_MODEL,
      SANDBOX_EMBEDDING_MODEL,
      SANDBOX_MODERATION_MODEL,
      SANDBOX_RERANK_MODEL,
      SANDBOX_IMAGE_MODEL,
      SANDBOX_SPEECH_MODEL,
      SANDBOX_TRANSCRIPTION_MODEL,
    ])
  })
})

describe('list prices', () => {
  const origin = { source: '', date: '', confidence: 'vendor' } as const

  test.each(['CNY', 'USD'] as const)('in %s stay as the vendor writes them', (currency) => {
    expect(
      pricingOf({ ...origin, currency, input: '0.8', output: '2.80', cachedInput: '0.0375' }),
    ).toMatchObject({
      currency,
      billingModes: ['token'],
      inputPrice: '0.8',
      outputPrice: '2.80',
      cacheInputPrice: '0.0375',
      cacheWritePrice: null,
      videoPrice: null,
    })
  })

  test('a price per second of video is the only price of its model', () => {
    expect(pricingOf({ ...origin, currency: 'USD', perVideoSecond: '0.05' })).toMatchObject({
      currency: 'USD',
      billingModes: ['video_second'],
      videoPrice: '0.05',
      inputPrice: null,
      requestPrice: null,
    })
  })
})
