import { expect, test } from 'vitest'
import { type OfferedModel, type OfferedVendor, offerCatalogue } from './offer.ts'
import { TOKEN_PRICING } from '../../test/management/sample-catalogue.ts'

const model = (id: string, protocols: OfferedModel['protocols'] = ['chat']): OfferedModel => ({
  modelId: id,
  name: id.toUpperCase(),
  features: ['text'],
  contextTokens: 1000,
  maxOutputTokens: undefined,
  forwardModelId: `${id}-latest`,
  protocols,
  pricing: TOKEN_PRICING,
})
const vendor = (
  code: string,
  variable: string | undefined,
  models: readonly OfferedModel[],
): OfferedVendor => ({
  code,
  kind: code,
  name: code,
  variable,
  models,
})
const vendors = [
  vendor('alpha', 'ALPHA_API_KEY', [model('shared', ['chat', 'responses']), model('own')]),
  vendor('beta', 'BETA_API_KEY', [model('shared')]),
  vendor('sandbox', undefined, [model('sandbox-chat')]),
]

function told(environment: Record<string, string>): readonly string[] {
  return offerCatalogue(vendors, environment).map((change) => {
    if (change.kind === 'put-vendor') return `vendor ${change.vendor.code}`
    if (change.kind === 'put-credential') {
      return `credential ${change.vendorCode} ${change.secret?.secret?.unwrap() ?? 'none'}`
    }
    if (change.kind === 'put-model') return `model ${change.model.modelId}`
    if (change.kind !== 'put-chain') return change.kind
    const { modelId, vendorCode, protocol, priority } = change.chain
    return `chain ${modelId} ${vendorCode} ${protocol} ${priority}`
  })
}

test.each([
  [
    'a vendor that needs no key is always there',
    {},
    ['vendor sandbox', 'credential sandbox none', 'model sandbox-chat', 'chain sandbox-chat sandbox chat 1'],
  ],
  [
    'an empty variable is not set',
    { ALPHA_API_KEY: ' ' },
    ['vendor sandbox', 'credential sandbox none', 'model sandbox-chat', 'chain sandbox-chat sandbox chat 1'],
  ],
  [
    'a model two vendors list is one model with chains of both, the first vendor first',
    { ALPHA_API_KEY: 'a', BETA_API_KEY: 'b' },
    [
      'vendor alpha',
      'credential alpha a',
      'vendor beta',
      'credential beta b',
      'vendor sandbox',
      'credential sandbox none',
      'model shared',
      'chain shared alpha chat 1',
      'chain shared alpha responses 1',
      'model own',
      'chain own alpha chat 1',
      'chain shared beta chat 2',
      'model sandbox-chat',
      'chain sandbox-chat sandbox chat 1',
    ],
  ],
])('%s', (_sentence, environment, expected) => {
  expect(told(environment)).toEqual(expected)
})
