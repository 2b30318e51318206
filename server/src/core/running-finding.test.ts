import { describe, expect, test } from 'vitest'
import { failed } from './finding.ts'
import { finding, FINDING_CODES, hasFix, holesOf, unlooked } from './running-finding.ts'

describe('what a running gateway finds', () => {
  test('is told in English, with its code and what was put in for other languages', () => {
    expect(finding('directory-open', { directory: '/data', mode: '755' })).toEqual({
      check: 'data directory',
      state: 'warning',
      code: 'directory-open',
      parameters: { directory: '/data', mode: '755' },
      found: '/data is open to other users (755)',
      fix: 'chmod 700 /data',
    })
    expect(finding('mail-good', {})).toMatchObject({ state: 'ok', parameters: {}, fix: undefined })
  })

  test('is put in as it is, whatever stands in it', () => {
    expect(finding('mail-bad', { words: 'no {check} of $& here' }).found).toBe('no {check} of $& here')
  })

  test('keeps the name of a check that could not be made', () => {
    expect(unlooked('disk', failed('disk', 'EIO', 'look at the disk'))).toMatchObject({
      check: 'disk',
      state: 'failed',
      found: 'EIO',
      fix: 'look at the disk',
    })
  })

  test.each(FINDING_CODES)('%s names nothing that it does not fill', (code) => {
    expect(holesOf(code).every((name) => /^\w+$/.test(name))).toBe(true)
    const { state } = finding(code, Object.fromEntries(holesOf(code).map((name) => [name, 'x'])) as never)
    expect(state === 'ok').toBe(!hasFix(code))
  })
})
