import { expect, test } from 'vitest'
import { fuzzRequests } from '../../../test/fast-lane/fuzz-requests.ts'
import { FUZZ_SEED } from '../../../test/passthrough/test-kit.ts'

test('what the fast lane takes of plain, unusual, spoiled and hostile requests, llhttp takes in the same meaning', () => {
  const { taken, left, handedOver } = fuzzRequests({ seed: FUZZ_SEED, cases: 20_000 })
  expect(taken).toBeGreaterThan(12_000)
  expect(left).toBeGreaterThan(4_000)
  expect(handedOver).toBeGreaterThan(1_000)
})
