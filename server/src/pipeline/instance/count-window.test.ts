import { expect, test } from 'vitest'
import { accountId } from '../../core/ids.ts'
import { createCountWindow } from './count-window.ts'

const [one, other] = [accountId('acc_1'), accountId('acc_2')]

test('an account may count so often in a minute, then waits for its remainder', () => {
  const waits = createCountWindow(2)
  expect([waits(one, 0), waits(one, 1_000), waits(one, 20_000)]).toEqual([undefined, undefined, 40_000])
  expect(waits(one, 59_999)).toBe(1)
  expect(waits(one, 60_000)).toBeUndefined()
})

test('one account’s counts are not another’s', () => {
  const waits = createCountWindow(1)
  expect([waits(one, 0), waits(other, 0), waits(one, 1)]).toEqual([undefined, undefined, 59_999])
})

test('where none are allowed, none are', () => {
  expect(createCountWindow(0)(one, 0)).toBe(60_000)
})
