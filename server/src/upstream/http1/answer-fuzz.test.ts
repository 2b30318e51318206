import { expect, test } from 'vitest'
import { FUZZ_SEED } from '../../../test/passthrough/test-kit.ts'
import { fuzzAnswers } from '../../../test/upstream/fuzz-answers.ts'

test('what is taken of recorded, spoiled and hostile answers, llhttp and undici take in the same meaning', async () => {
  const { whole, refused } = await fuzzAnswers({ seed: FUZZ_SEED, cases: 1_500, undiciEvery: 50 })
  expect(whole).toBeGreaterThan(400)
  expect(refused).toBeGreaterThan(500)
})
