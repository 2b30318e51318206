import { describe, expect, test } from 'vitest'
import { listCatalogue, listPricing } from './catalogue.ts'
import {
  sampleCatalogue,
  sampleChain,
  sampleCredential,
  sampleModel,
  sampleVendor,
  TOKEN_PRICING,
} from '../../../test/management/sample-catalogue.ts'

/** Where calls go that a chain answers. */
const pathsOf = (protocol: string) => [`/v1/${protocol}`]

const two = sampleCatalogue({
  vendors: [sampleVendor('alpha'), sampleVendor('beta')],
  models: [
    sampleModel('gpt-5', [
      sampleChain(11, 'gpt-5', 'alpha', { rateMultiplier: '0.8' }),
      sampleChain(12, 'gpt-5', 'beta'),
    ]),
  ],
})

describe('a row of the catalogue', () => {
  test('holds exactly the fields of a row (docs/reference/contract.md#2.1)', () => {
    expect(listCatalogue(two, pathsOf)[0]).toEqual({
      id: 11,
      model_id: 'gpt-5',
      name: 'Model gpt-5',
      status: 'enabled',
      client_visible: true,
      rate_multiplier: 0.8,
      vendor_code: 'alpha',
      vendor_name: 'ALPHA',
      forward_model_id: 'gpt-5-upstream',
      endpoints: ['/v1/chat'],
    })
  })

  test('represents one usable chain: two chains are two rows of the same model_id', () => {
    expect(listCatalogue(two, pathsOf).map((row) => [row.id, row.model_id, row.vendor_code])).toEqual([
      [11, 'gpt-5', 'alpha'],
      [12, 'gpt-5', 'beta'],
    ])
  })

  test.each([
    ['the model is disabled', { model: { status: 'disabled' } }],
    ['the model is in maintenance', { model: { status: 'maintenance' } }],
    ['the model is hidden from clients', { model: { clientVisible: false } }],
    ['the chain is disabled', { chain: { status: 'disabled' } }],
    ['the vendor is disabled', { vendor: { status: 'disabled' } }],
    ['the credential is disabled', { credential: { status: 'disabled' } }],
  ] as const)('is absent when %s', (_sentence, change) => {
    const catalogue = sampleCatalogue({
      vendors: [sampleVendor('alpha', 'vendor' in change ? change.vendor : {})],
      credentials: [sampleCredential('alpha', 'credential' in change ? change.credential : {})],
      models: [
        sampleModel(
          'm',
          [sampleChain(1, 'm', 'alpha', 'chain' in change ? change.chain : {})],
          'model' in change ? change.model : {},
        ),
      ],
    })
    expect(listCatalogue(catalogue, pathsOf)).toEqual([])
    expect(
      listPricing(catalogue, { userRate: undefined, modelId: undefined, vendorCode: undefined }, pathsOf),
    ).toEqual([])
  })

  test('is there whatever level the model requires', () => {
    const catalogue = sampleCatalogue({
      vendors: [sampleVendor('alpha')],
      models: [
        sampleModel('m', [sampleChain(1, 'm', 'alpha')], { requiredPlan: 3, requiredVerification: 2 }),
      ],
    })
    expect(listCatalogue(catalogue, pathsOf)).toHaveLength(1)
  })
})

describe('a pricing entry', () => {
  const all = { userRate: undefined, modelId: undefined, vendorCode: undefined }

  test('holds the fields of an entry and those added to it (docs/reference/contract.md#2.2, #D-names-19)', () => {
    expect(listPricing(two, all, pathsOf)[0]).toEqual({
      model_id: 'gpt-5',
      name: 'Model gpt-5',
      vendor_code: 'alpha',
      vendor_name: 'ALPHA',
      currency: 'CNY',
      support_features: ['text'],
      endpoints: ['/v1/chat'],
      billing_modes: ['token'],
      input_price: 9,
      output_price: 72,
      cache_input_price: 0.9,
      cache_output_price: 72,
      cache_write_price: 9,
      cache_write_1h_price: 9,
      request_price: 0,
      image_price: 0,
      video_price: 0,
      character_price: 0,
      audio_second_price: 0,
      rate_multiplier: 0.8,
      user_rate: 100,
    })
  })

  test('shows the rate of the account that asks', () => {
    expect(listPricing(two, { ...all, userRate: '85.5' }, pathsOf).map((entry) => entry.user_rate)).toEqual([
      85.5, 85.5,
    ])
  })

  test.each([
    ['model_id', { ...all, modelId: 'gpt-5' }, 2],
    ['an unknown model_id', { ...all, modelId: 'other' }, 0],
    ['vendor_code', { ...all, vendorCode: 'beta' }, 1],
    ['both', { ...all, modelId: 'gpt-5', vendorCode: 'alpha' }, 1],
  ])('is filtered by %s', (_filter, question, count) => {
    expect(listPricing(two, question, pathsOf)).toHaveLength(count)
  })

  test('is listed once for two chains of one vendor at one price', () => {
    const catalogue = sampleCatalogue({
      vendors: [sampleVendor('alpha')],
      models: [
        sampleModel('m', [
          sampleChain(1, 'm', 'alpha'),
          sampleChain(2, 'm', 'alpha', { protocol: 'responses' }),
          sampleChain(3, 'm', 'alpha', { rateMultiplier: '2' }),
        ]),
      ],
    })
    expect(listPricing(catalogue, all, pathsOf).map((entry) => entry.rate_multiplier)).toEqual([1, 2])
  })

  test.each([
    ['image', { billingModes: ['image'], imagePrice: '0.2' }, { image_price: 0.2 }],
    ['video_second', { billingModes: ['video_second'], videoPrice: '0.5' }, { video_price: 0.5 }],
    ['character', { billingModes: ['character'], characterPrice: '110' }, { character_price: 110 }],
    [
      'audio_second',
      { billingModes: ['audio_second'], audioSecondPrice: '0.0007' },
      { audio_second_price: 0.0007 },
    ],
    ['request', { billingModes: ['request'], requestPrice: '0.01' }, { request_price: 0.01 }],
  ] as const)('of a model billed by %s shows that mode and price', (mode, pricing, shown) => {
    const catalogue = sampleCatalogue({
      vendors: [sampleVendor('alpha')],
      models: [
        sampleModel('m', [sampleChain(1, 'm', 'alpha')], { pricing: { ...TOKEN_PRICING, ...pricing } }),
      ],
    })
    expect(listPricing(catalogue, all, pathsOf)[0]).toMatchObject({ billing_modes: [mode], ...shown })
  })
})
