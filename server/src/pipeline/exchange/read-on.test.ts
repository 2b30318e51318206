import { expect, test } from 'vitest'
import { accountId } from '../../core/ids.ts'
import { createReadOn } from './read-on.ts'

test('one account cannot pile up answers that nobody reads, and others are not kept from theirs', () => {
  const readOn = createReadOn()
  const storm = accountId('acc_storm')
  const begun = Array.from({ length: 60 }, () => readOn.begin(storm)).filter(Boolean)
  expect(begun).toHaveLength(50)
  expect(readOn.begin(accountId('acc_other'))).toBe(true)
  readOn.end(storm)
  expect([readOn.begin(storm), readOn.begin(storm)]).toEqual([true, false])
})

test('all accounts together have a bound', () => {
  const readOn = createReadOn()
  let begun = 0
  for (let account = 0; account < 40; account += 1)
    for (let call = 0; call < 40; call += 1) if (readOn.begin(accountId(`acc_${account}`))) begun += 1
  expect(begun).toBe(1_000)
  for (let account = 0; account < 25; account += 1)
    for (let call = 0; call < 40; call += 1) readOn.end(accountId(`acc_${account}`))
  expect(readOn.begin(accountId('acc_39'))).toBe(true)
})

test('an end that has no beginning changes nothing', () => {
  const readOn = createReadOn()
  readOn.end(accountId('acc_1'))
  expect(readOn.begin(accountId('acc_1'))).toBe(true)
})
