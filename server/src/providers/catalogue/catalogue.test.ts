import { describe, expect, test } from 'vitest'
import { providerOf } from '../index.ts'
import { SANDBOX_MODELS, SANDBOX_VIDEO_MODEL } from '../sandbox/models.ts'
import { environmentVendors } from './index.ts'
import { multiply, pricingOf, YUAN_PER_USD } from './listing.ts'
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
      expect(Number(pricing.inputPrice)).toBeGreaterThan(0)
      // Output is never cheaper than input, a cache hit never dearer, a cache write at most twice the input.
      expect(Number(price.output)).toBeGreaterThanOrEqual(Number(price.input))
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

  test('OpenAI models have chat and responses chains, sandbox models all four or video', () => {
    const protocolsOf = (code: string): unknown[] =>
      MODELS.filter(({ vendor }) => vendor.code === code).map(({ model }) => model.protocols.join(' '))
    expect(new Set(protocolsOf('openai'))).toEqual(new Set(['chat responses']))
    expect(new Set(protocolsOf('sandbox'))).toEqual(new Set(['chat responses messages gemini', 'video']))
  })

  test('the sandbox lists exactly the models that answer', () => {
    expect(sandboxVendor.models.map((model) => model.forwardModelId)).toEqual([
      ...SANDBOX_MODELS,
      SANDBOX_VIDEO_MODEL,
    ])
  })
})

describe('prices in yuan', () => {
  test('a price in yuan stays as the vendor writes it', () => {
    const price = {
      currency: 'CNY',
      input: '0.8',
      output: '2.80',
      source: '',
      date: '',
      confidence: 'vendor',
    } as const
    expect(pricingOf(price)).toMatchObject({ inputPrice: '0.8', outputPrice: '2.80', cacheInputPrice: null })
  })

  test('a price in dollars is converted exactly', () => {
    const price = {
      currency: 'USD',
      input: '0.1',
      output: '8',
      cachedInput: '0.0375',
      source: '',
      date: '',
      confidence: 'vendor',
    } as const
    expect(YUAN_PER_USD).toBe('7.2')
    expect(pricingOf(price)).toMatchObject({
      inputPrice: '0.72',
      outputPrice: '57.6',
      cacheInputPrice: '0.27',
    })
  })

  test('a price per second of video is the only price of its model', () => {
    const price = {
      currency: 'USD',
      perVideoSecond: '0.05',
      source: '',
      date: '',
      confidence: 'vendor',
    } as const
    expect(pricingOf(price)).toMatchObject({
      billingModes: ['video_second'],
      videoPrice: '0.36',
      inputPrice: null,
      requestPrice: null,
    })
  })

  test.each([
    ['0.1', '0.2', '0.02'],
    ['10', '7.2', '72'],
    ['0.234375', '7.2', '1.6875'],
    ['0', '7.2', '0'],
    ['123456789.123456789', '1', '123456789.123456789'],
  ])('%s × %s = %s', (one, other, product) => {
    expect(multiply(one, other)).toBe(product)
  })

  test('what is no plain decimal is refused', () => {
    expect(() => multiply('1e3', '7.2')).toThrow('not a plain decimal')
  })
})
