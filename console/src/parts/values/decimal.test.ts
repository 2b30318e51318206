import { expect, test } from 'vitest'
import { compareDecimals, isZero, productOf, sumDecimals, timesDecimal } from './decimal.ts'

test.each([
  [['0.1', '0.2'], '0.300000'],
  [['188.836920', '0.000001'], '188.836921'],
  [['9007199254740993.000001', '1'], '9007199254740994.000001'],
  [['-1.5', '0.25'], '-1.250000'],
  [[], '0.000000'],
])('amounts are summed exactly: %j', (values, sum) => {
  expect(sumDecimals(values)).toBe(sum)
})

test.each([
  ['0', true],
  ['0.000000', true],
  ['0.000001', false],
  ['-0.5', false],
])('what is nothing is told apart: %s', (value, zero) => {
  expect(isZero(value)).toBe(zero)
})

test.each([
  ['286.4', '1000', '286400.000000'],
  ['0.000001', '0.5', '0.000000'],
  ['9007199254740993', '7.2', '64851834634135149.600000'],
])('%s times %s', (one, other, product) => {
  expect(timesDecimal(one, other)).toBe(product)
})

test.each([
  [['6214', '9', '0.000001', '1000', '90', '0.01'], '50.333400'],
  [['0.0000005', '1'], '0.000000'],
  [['0.0000015', '1'], '0.000002'],
  [['-0.0000025', '1.0000000001'], '-0.000003'],
  [['9007199254740991', '0.1234567'], '1111999096232782.103590'],
  [[], '1.000000'],
])('a product is rounded once: %j', (factors, product) => {
  expect(productOf(factors)).toBe(product)
})

test.each([
  ['0.1', '0.10', 0],
  ['9007199254740993', '9007199254740992', 1],
  ['-1', '0.5', -1],
])('%s beside %s', (one, other, order) => {
  expect(compareDecimals(one, other)).toBe(order)
})
