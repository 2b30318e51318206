import { expect, test } from 'vitest'
import { fuzzConnections } from '../../../test/fast-lane/fuzz-connections.ts'
import { FUZZ_SEED } from '../../../test/passthrough/test-kit.ts'

test('whatever arrives, in whatever pieces: no byte is lost or served twice, each call ends, and answers keep their order', async () => {
  const { served, handedOver, uncut, cut } = await fuzzConnections({ seed: FUZZ_SEED, cases: 1_500 })
  expect(served).toBeGreaterThan(2_000)
  expect(handedOver).toBeGreaterThan(300)
  expect(uncut).toBeGreaterThan(700)
  expect(cut).toBeGreaterThan(50)
})
