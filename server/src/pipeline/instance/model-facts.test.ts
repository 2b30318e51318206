import { expect, test } from 'vitest'
import type { Catalogue, Model, Pricing } from '../../core/catalogue.ts'
import { modelId } from '../../core/ids.ts'
import { UNLIMITED } from '../../core/limits/policy.ts'
import { readTerms } from '../../core/pricing/read-terms.ts'
import { createModelFacts } from './model-facts.ts'

const PRICING: Pricing = {
  currency: 'CNY',
  billingModes: ['token'],
  inputPrice: '10',
  outputPrice: '40',
  cacheInputPrice: '0',
  cacheOutputPrice: null,
  cacheWritePrice: null,
  cacheWrite1hPrice: null,
  requestPrice: null,
  imagePrice: null,
  videoPrice: null,
  characterPrice: null,
  audioSecondPrice: null,
}

const MODEL: Model = {
  modelId: modelId('m'),
  name: 'm',
  createdAt: 0,
  status: 'enabled',
  clientVisible: true,
  supportFeatures: ['text'],
  requiredVerification: 0,
  requiredPlan: 0,
  contextTokens: undefined,
  maxOutputTokens: undefined,
  subscriptionCovered: true,
  pricing: PRICING,
  surcharges: {},
  refuse: [],
  chains: [],
}

const CATALOGUE: Catalogue = {
  settings: {
    currency: 'CNY',
    creditsPerUnit: '1000',
    otherCurrencies: {},
    timezone: 'Asia/Shanghai',
    keyPrefix: 'sk-gateway-',
    limits: UNLIMITED,
  },
  vendors: new Map(),
  credentials: new Map(),
  models: new Map([[MODEL.modelId, MODEL]]),
  groups: new Map(),
  plans: new Map(),
}

test('frozen terms say the prices there are, and read back they are the model’s own', () => {
  const text = createModelFacts().terms(MODEL, CATALOGUE)
  expect(text).not.toContain('null')
  expect(readTerms(text)).toMatchObject({
    kind: 'terms',
    terms: { pricing: PRICING, creditsPerUnit: '1000', multipliers: {} },
  })
})
