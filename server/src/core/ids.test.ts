import { expect, test } from 'vitest'
import { uuidV7 } from './ids.ts'

test('the example of RFC 9562, appendix A.6', () => {
  const random = Uint8Array.from([0x18, 0xc4, 0xdc, 0x0c, 0x0c, 0x07, 0x39, 0x8f])
  expect(uuidV7({ at: 0x017f22e279b0, counter: 0xcc3, random })).toBe('017f22e2-79b0-7cc3-98c4-dc0c0c07398f')
})

test.each([
  [0, 0, '00000000-0000-7000-bff1-f2f3f4f5f6f7'],
  [1, 0xabc, '00000000-0001-7abc-bff1-f2f3f4f5f6f7'],
  [2 ** 48 - 1, 0xfff, 'ffffffff-ffff-7fff-bff1-f2f3f4f5f6f7'],
])('time %i and counter %i stand in front', (at, counter, id) => {
  const random = Uint8Array.from([0xff, 0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7])
  expect(uuidV7({ at, counter, random })).toBe(id)
})
