import { expect, test } from 'vitest'
import { COUNT_MAX, countInText, looseCount } from './count-in-text.ts'

test.each<[string, strict: number | undefined, loose: number | undefined]>([
  ['3', 3, 3],
  [' +3 ', 3, 3],
  ['3.0', 3, 3],
  ['007', 7, 7],
  ['1_0', undefined, 10],
  ['2e1', undefined, 20],
  ['1.5', undefined, 2],
  ['.5', undefined, 1],
  ['1e-9', undefined, 1],
  ['1e9', undefined, COUNT_MAX],
  ['1e400', undefined, COUNT_MAX],
  ['Infinity', undefined, COUNT_MAX],
  ['inf', undefined, COUNT_MAX],
  ['0', undefined, undefined],
  ['-3', undefined, undefined],
  ['NaN', undefined, undefined],
  ['', undefined, undefined],
  ['0x10', undefined, undefined],
  ['three', undefined, undefined],
])('%j is counted', (text, strict, loose) => {
  expect([countInText(text), looseCount(text)]).toEqual([strict, loose])
})
