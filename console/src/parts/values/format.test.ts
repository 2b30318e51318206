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

test.each([
  [3_600, '1 h', '1 小时'],
  [60, '1 min', '1 分钟'],
  [18_000, '5 h', '5 小时'],
])('a time of %d s is told with a unit nobody mistakes', (seconds, inEnglish, inChinese) => {
  expect([english.period(seconds), chinese.period(seconds)]).toEqual([inEnglish, inChinese])
})

test('what is small or long ago is told with its unit, too', () => {
  expect([english.bytes(23), english.bytes(4_200), english.bytes(2_340_000)]).toEqual([
    '23 B',
    '4 kB',
    '2.3 MB',
  ])
  expect(english.ago(0, 29 * 60_000)).toBe('29 min ago')
  expect(english.ago(0, 9_000)).toBe('9 s ago')
  expect([english.list(['a', 'b']), chinese.list(['a', 'b'])]).toEqual(['a, b', 'a，b'])
})

test('moments are told in the person’s time zone', () => {
  expect(english.time('2026-11-22T23:30:00Z')).toBe('00:30:00')
  expect(chinese.time('2026-11-22T23:30:00Z')).toBe('07:30:00')
  expect(english.date('2026-11-22T23:30:00Z')).toBe('23 Nov 2026')
  expect(english.moment('2026-11-22T23:30:00Z')).toBe('23 Nov 2026, 00:30:00')
  expect(chinese.moment('2026-11-22T23:30:00Z')).toBe('2026年11月23日 07:30:00')
})
