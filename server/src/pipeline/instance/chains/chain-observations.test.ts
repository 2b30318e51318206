import { expect, test } from 'vitest'
import { chainId } from '../../../core/ids.ts'
import { OUTPUT_RATE_ASSUMED } from '../../../core/metering/chain-observation.ts'
import { sampleChain, sampleModel } from '../../../../test/management/sample-catalogue.ts'
import { createChainObservations } from './chain-observations.ts'

const [first, second] = [chainId(1), chainId(2)]
const model = sampleModel('m', [sampleChain(1, 'm', 'v'), sampleChain(2, 'm', 'v')])

test('the first client that leaves is charged by a default rate', () => {
  const observations = createChainObservations(() => 0)
  expect(observations.outputRate(first)).toBeUndefined()
  expect(observations.expectedRate(model, first)).toBe(OUTPUT_RATE_ASSUMED)
})

test('a chain that was not seen yet has the rate of the model’s other chains', () => {
  const observations = createChainObservations(() => 0)
  observations.finished(second, { outputTokens: 500, generatedMs: 10_000 })
  expect(observations.outputRate(first)).toBeUndefined()
  expect(observations.expectedRate(model, first)).toBeCloseTo(50)
})

test('what is written is read by another instance, which keeps what it saw itself', () => {
  const [one, other] = [createChainObservations(() => 1_000), createChainObservations(() => 0)]
  one.finished(first, { outputTokens: 500, generatedMs: 10_000, tokenCap: 1 })
  other.finished(first, { outputTokens: 900, generatedMs: 10_000 })
  const written = one.takeChanged()
  expect(one.takeChanged()).toEqual([])
  other.absorb(written)
  expect(other.trustsCap(first, 1_001)).toBe(false)
  expect(other.outputRate(first)).toBeCloseTo(90)
  const later = createChainObservations(() => 0)
  later.absorb(written)
  expect([later.trustsCap(first, 1_001), later.outputRate(first)]).toEqual([false, 50])
})

test('what could not be written is written with what came since', () => {
  const observations = createChainObservations(() => 0)
  observations.finished(first, { outputTokens: 500, generatedMs: 10_000 })
  observations.putBack(observations.takeChanged())
  observations.finished(second, { outputTokens: 500, generatedMs: 10_000 })
  expect(observations.takeChanged().map(({ chainId }) => chainId)).toEqual([first, second])
})

test('chains the catalogue no longer has are forgotten', () => {
  const observations = createChainObservations(() => 0)
  observations.finished(first, { outputTokens: 500, generatedMs: 10_000, tokenCap: 1 })
  expect(observations.trustsCap(first, 0)).toBe(false)
  observations.keepOnly(new Set([second]))
  expect(observations.trustsCap(first, 0)).toBe(true)
  expect(observations.outputRate(first)).toBeUndefined()
})
