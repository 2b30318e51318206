import { expect, test } from 'vitest'
import {
  sampleCatalogue,
  sampleChain,
  sampleModel,
  sampleVendor,
} from '../../../test/management/sample-catalogue.ts'
import { listAdmission } from './admission.ts'

const catalogue = sampleCatalogue({
  vendors: [sampleVendor('alpha')],
  models: [
    sampleModel('open', [sampleChain(1, 'open', 'alpha'), sampleChain(2, 'open', 'alpha')], {
      requiredVerification: 0,
      requiredPlan: 0,
    }),
    sampleModel('closed', [sampleChain(3, 'closed', 'alpha')], { requiredVerification: 2, requiredPlan: 1 }),
    sampleModel('hidden', [sampleChain(4, 'hidden', 'alpha')], { clientVisible: false }),
    sampleModel('bare', []),
  ],
})
const everyChain = () => true

test('says what the account has not, of the models that are on offer', () => {
  const missing = (verification: number, planLevel: number) =>
    listAdmission(catalogue, { verification, planLevel }, everyChain).map((entry) => [
      entry.model_id,
      entry.missing,
    ])
  expect(missing(0, 0)).toEqual([
    ['open', []],
    ['closed', ['verification', 'plan']],
  ])
  expect(missing(1, 3)).toEqual([
    ['open', []],
    ['closed', ['verification']],
  ])
  expect(missing(2, 1)).toEqual([
    ['open', []],
    ['closed', []],
  ])
  expect(listAdmission(catalogue, { verification: 0, planLevel: 0 }, everyChain)[1]?.needs).toEqual({
    verification: 'enterprise',
    plan_level: 1,
  })
})

test('a model is as well as its chains: all answer, some, or none', () => {
  const health = (answering: readonly number[]) =>
    listAdmission(catalogue, { verification: 0, planLevel: 0 }, ({ id }) => answering.includes(id)).map(
      (entry) => entry.health,
    )
  expect(health([1, 2, 3])).toEqual(['up', 'up'])
  expect(health([2])).toEqual(['unsteady', 'down'])
  expect(health([])).toEqual(['down', 'down'])
})
