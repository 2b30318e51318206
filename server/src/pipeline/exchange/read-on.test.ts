import { expect, test } from 'vitest'
import { accountId } from '../../core/ids.ts'
import { createReadOn } from './read-on.ts'

test('one account cannot pile up answers that nobody reads, and others are not kept from theirs', () => {
  const readOn = createReadOn()
  const storm = accountId('acc_storm')
  const begun = Array.from({ length: 60 }, () => readOn.begin(storm, 'answer')).filter(Boolean)
  expect(begun).toHaveLength(50)
  expect(readOn.begin(accountId('acc_other'), 'answer')).toBe(true)
  readOn.end(storm, 'answer')
  expect([readOn.begin(storm, 'answer'), readOn.begin(storm, 'answer')]).toEqual([true, false])
})

test('all accounts together have a bound', () => {
  const readOn = createReadOn()
  let begun = 0
  for (let account = 0; account < 40; account += 1)
    for (let call = 0; call < 40; call += 1)
      if (readOn.begin(accountId(`acc_${account}`), 'answer')) begun += 1
  expect(begun).toBe(1_000)
  for (let account = 0; account < 25; account += 1)
    for (let call = 0; call < 40; call += 1) readOn.end(accountId(`acc_${account}`), 'answer')
  expect(readOn.begin(accountId('acc_39'), 'answer')).toBe(true)
})

test('an end that has no beginning changes nothing', () => {
  const readOn = createReadOn()
  readOn.end(accountId('acc_1'), 'answer')
  expect(readOn.begin(accountId('acc_1'), 'answer')).toBe(true)
})

test('tasks have bounds of their own', () => {
  const readOn = createReadOn()
  const storm = accountId('acc_storm')
  while (readOn.begin(storm, 'answer'));
  let begun = 0
  while (readOn.begin(storm, 'task')) begun += 1
  expect(begun).toBe(200)
  readOn.end(storm, 'answer')
  expect(readOn.begin(storm, 'task')).toBe(false)
  for (let account = 0; account < 20; account += 1)
    while (readOn.begin(accountId(`acc_${account}`), 'task')) begun += 1
  expect(begun).toBe(2_000)
})
