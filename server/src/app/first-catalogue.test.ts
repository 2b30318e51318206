import { expect, test } from 'vitest'
import { firstCatalogue } from './first-catalogue.ts'
import type { EnvironmentVendor, ListedModel } from '../providers/catalogue/listing.ts'
import { environmentVendors } from '../providers/catalogue/index.ts'

const price = {
  currency: 'CNY',
  input: '1',
  output: '2',
  source: 'invented: a test',
  date: '2026-01-01',
} as const

function listed(modelId: string, name: string): ListedModel {
  return {
    modelId,
    name,
    features: ['text'],
    contextTokens: undefined,
    maxOutputTokens: undefined,
    forwardModelId: `${name}/${modelId}`,
    protocols: ['chat'],
    price: { ...price, confidence: 'unverified' },
  }
}

const vendor = (code: string, ...models: readonly ListedModel[]): EnvironmentVendor => ({
  code,
  kind: 'openai-compatible',
  name: code,
  variable: `${code.toUpperCase()}_API_KEY`,
  models,
})

test('a model that two vendors list is one model with a chain over each', () => {
  const known = [
    vendor('first', listed('shared', 'as the first says'), listed('own', 'own')),
    vendor('second', listed('shared', 'as the second says')),
  ]
  const changes = firstCatalogue({ FIRST_API_KEY: 'a', SECOND_API_KEY: 'b' }, known)
  const models = changes.flatMap((change) => (change.kind === 'put-model' ? [change.model] : []))
  expect(models.map((model) => [model.modelId, model.name])).toEqual([
    ['shared', 'as the first says'],
    ['own', 'own'],
  ])
  const chains = changes.flatMap((change) => (change.kind === 'put-chain' ? [change.chain] : []))
  expect(chains.map((chain) => [chain.modelId, chain.vendorCode])).toEqual([
    ['shared', 'first'],
    ['own', 'first'],
    ['shared', 'second'],
  ])
  const alone = firstCatalogue({ SECOND_API_KEY: 'b' }, known)
  expect(alone.flatMap((change) => (change.kind === 'put-model' ? [change.model.name] : []))).toEqual([
    'as the second says',
  ])
})

test('no change of the real offer is made twice', () => {
  const environment = Object.fromEntries(environmentVendors.map((one) => [one.variable ?? '', 'a key']))
  const changes = firstCatalogue(environment)
  const keys = [
    ...changes.flatMap((change) => (change.kind === 'put-vendor' ? [`vendor ${change.vendor.code}`] : [])),
    ...changes.flatMap((change) => (change.kind === 'put-model' ? [`model ${change.model.modelId}`] : [])),
    ...changes.flatMap((change) => (change.kind === 'put-chain' ? [JSON.stringify(change.chain)] : [])),
  ]
  expect(new Set(keys).size).toBe(keys.length)
})
