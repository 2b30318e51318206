import { expect, test } from 'vitest'
import { Secret } from '../../../core/secret.ts'
import { codeOf, decodeBase32, encodeBase32, findStep, makeSeed, seedAddress } from './totp.ts'

const KEY = Buffer.from('12345678901234567890')
const SEED = new Secret(encodeBase32(KEY))

test.each([
  [0, '755224'],
  [1, '287082'],
  [2, '359152'],
  [3, '969429'],
  [4, '338314'],
  [5, '254676'],
  [6, '287922'],
  [7, '162583'],
  [8, '399871'],
  [9, '520489'],
])('RFC 4226, appendix D: counter %i gives %s', (counter, code) => {
  expect(codeOf(KEY, counter, 6)).toBe(code)
})

test.each([
  [59, '94287082'],
  [1111111109, '07081804'],
  [1111111111, '14050471'],
  [1234567890, '89005924'],
  [2000000000, '69279037'],
  [20000000000, '65353130'],
])('RFC 6238, appendix B: second %i gives %s', (second, code) => {
  expect(codeOf(KEY, Math.floor(second / 30), 8)).toBe(code)
})

test.each([
  ['', ''],
  ['f', 'MY'],
  ['fo', 'MZXQ'],
  ['foo', 'MZXW6'],
  ['foob', 'MZXW6YQ'],
  ['fooba', 'MZXW6YTB'],
  ['foobar', 'MZXW6YTBOI'],
])('RFC 4648, section 10: %j is %j in base 32, and back', (text, encoded) => {
  expect(encodeBase32(Buffer.from(text))).toBe(encoded)
  expect(Buffer.from(decodeBase32(encoded)).toString()).toBe(text)
})

test('a code is taken half a minute early and late, and no more', () => {
  const at = 160_000
  const code = codeOf(KEY, 5, 6)
  expect(findStep(SEED, code, at)).toBe(5)
  expect(findStep(SEED, code, 119_999)).toBeUndefined()
  expect(findStep(SEED, code, 120_000)).toBe(5)
  expect(findStep(SEED, code, 209_999)).toBe(5)
  expect(findStep(SEED, code, 210_000)).toBeUndefined()
  expect(findStep(SEED, '000000', at)).toBeUndefined()
  expect(findStep(SEED, `${code}0`, at)).toBeUndefined()
})

test('a seed is 160 random bits, and its address names service and account', () => {
  const seed = makeSeed()
  expect(decodeBase32(seed.unwrap())).toHaveLength(20)
  expect(makeSeed().unwrap()).not.toBe(seed.unwrap())
  const address = new URL(seedAddress(SEED, { issuer: 'Sluice & Co', account: 'person@example.com' }))
  expect(address.protocol).toBe('otpauth:')
  expect(decodeURIComponent(address.pathname)).toContain('Sluice & Co:person@example.com')
  expect(address.searchParams.get('secret')).toBe(SEED.unwrap())
  expect(address.searchParams.get('issuer')).toBe('Sluice & Co')
})
