import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { platform } from 'node:os'
import { describe, expect, test } from 'vitest'
import { isGone, ownPlace } from './process-place.ts'

describe.skipIf(platform() !== 'linux')('on Linux', () => {
  const own = ownPlace() ?? ''
  const [boot = '', namespace = '', pid = '', started = ''] = own.split('/')

  test('this process runs', () => {
    expect(own).toMatch(/^[0-9a-f-]{36}\/pid:\[\d+\]\/\d+\/\d+$/)
    expect(isGone(own)).toBe(false)
  })

  test('a process that ended is gone, also when its number was given to another', async () => {
    const child = spawn(process.execPath, ['-e', ''])
    const childPid = String(child.pid)
    await once(child, 'exit')
    expect(isGone(`${boot}/${namespace}/${childPid}/1`)).toBe(true)
    expect(isGone(`${boot}/${namespace}/${pid}/${Number(started) + 1}`)).toBe(true)
  })

  test.each([
    ['another boot', `00000000-0000-0000-0000-000000000000/${namespace}/999999999/1`],
    ['another container', `${boot}/pid:[1]/999999999/1`],
    ['nothing readable', 'unreadable'],
  ])('%s: nothing is claimed', (_, place) => {
    expect(isGone(place)).toBe(false)
  })
  test.each<readonly [string, boolean, string | undefined, boolean]>([
    ['no process has its number', false, undefined, true],
    ['its number was given to another', true, '77', true],
    ['it runs', true, started, false],
    // `hidepid`, another user, no file descriptor left: a living process must not be taken over from.
    ['there is one of which the system tells no more', true, undefined, false],
  ])('%s', (_, exists, startedAt, expected) => {
    expect(isGone(own, { exists: () => exists, startOf: () => startedAt })).toBe(expected)
  })
})
