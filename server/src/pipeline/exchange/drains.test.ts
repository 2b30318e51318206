import { expect, test } from 'vitest'
import { accountId } from '../../core/ids.ts'
import { createDrains } from './drains.ts'

test('one account cannot pile up answers that nobody reads, and others are not kept from theirs', () => {
  const drains = createDrains()
  const storm = accountId('acc_storm')
  const begun = Array.from({ length: 60 }, () => drains.begin(storm, 'answer')).filter(Boolean)
  expect(begun).toHaveLength(50)
  expect(drains.begin(accountId('acc_other'), 'answer')).toBe(true)
  drains.end(storm, 'answer')
  expect([drains.begin(storm, 'answer'), drains.begin(storm, 'answer')]).toEqual([true, false])
})

test('all accounts together have a bound', () => {
  const drains = createDrains()
  let begun = 0
  for (let account = 0; account < 40; account += 1)
    for (let call = 0; call < 40; call += 1)
      if (drains.begin(accountId(`acc_${account}`), 'answer')) begun += 1
  expect(begun).toBe(1_000)
  for (let account = 0; account < 25; account += 1)
    for (let call = 0; call < 40; call += 1) drains.end(accountId(`acc_${account}`), 'answer')
  expect(drains.begin(accountId('acc_39'), 'answer')).toBe(true)
})

test('an end that has no beginning changes nothing', () => {
  const drains = createDrains()
  drains.end(accountId('acc_1'), 'answer')
  expect(drains.begin(accountId('acc_1'), 'answer')).toBe(true)
})

test('tasks have bounds of their own', () => {
  const drains = createDrains()
  const storm = accountId('acc_storm')
  while (drains.begin(storm, 'answer'));
  let begun = 0
  while (drains.begin(storm, 'task')) begun += 1
  expect(begun).toBe(200)
  drains.end(storm, 'answer')
  expect(drains.begin(storm, 'task')).toBe(false)
  for (let account = 0; account < 20; account += 1)
    while (drains.begin(accountId(`acc_${account}`), 'task')) begun += 1
  expect(begun).toBe(2_000)
})
