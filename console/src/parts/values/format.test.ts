import { expect, test } from 'vitest'
import { formatOf } from './format.ts'

const english = formatOf('en', 'Europe/Berlin')
const chinese = formatOf('zh-CN', 'Asia/Shanghai')

test('all cells of a list share one, and no other language or zone has it', () => {
  expect(formatOf('en', 'Europe/Berlin')).toBe(english)
  expect(formatOf('en', 'Asia/Shanghai')).not.toBe(english)
})

test.each([
  ['188.836920', 2, '188', '.84'],
  ['412806.354210', 6, '412,806', '.354210'],
  ['9007199254740993.000001', 6, '9,007,199,254,740,993', '.000001'],
  ['-0.5', 2, '-0', '.50'],
])('an amount is cut at its point without losing a digit: %s', (value, digits, whole, fraction) => {
  expect(english.split(value, digits)).toEqual({ whole, fraction })
})

test.each([
  ['CNY', '¥', '¥'],
  ['USD', '$', '$'],
  ['EUR', '€', '€'],
  ['CHF', 'CHF', 'CHF'],
])('an amount of %s stands behind its sign', (currency, inEnglish, inChinese) => {
  expect([english.sign(currency), chinese.sign(currency)]).toEqual([inEnglish, inChinese])
})

test('the sign of a share never stands alone in a line', () => {
  expect(english.percent(0.0067, 1)).toBe('0.7\u00a0%')
  expect(chinese.percent(0.21)).toBe('21\u00a0%')
})

test.each([
  [410, '410 ms'],
  [11_480, '11.48 s'],
  [64_000, '1 m 04 s'],
])('%d ms are told as a person says it', (ms, text) => {
  expect(english.duration(ms)).toBe(text)
})

test('moments are told in the person’s time zone', () => {
  expect(english.time('2026-11-22T23:30:00Z')).toBe('00:30:00')
  expect(chinese.time('2026-11-22T23:30:00Z')).toBe('07:30:00')
  expect(english.date('2026-11-22T23:30:00Z')).toBe('23 Nov 2026')
})
