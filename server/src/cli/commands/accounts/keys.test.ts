/** `sluice keys list` beside what rotations leave behind; making, switching and rotating are shown in `run.test.ts`. */
import { expect, test } from 'vitest'
import { openCommandLine } from '../../../../test/cli/command-line.ts'
import { KEY } from '../../../core/calls/examples.ts'
import { createAccount, exampleApiKey, NOW } from '../../../storage/conformance/suite.ts'

test('keys list shows until when a former secret works, while one does', async () => {
  const line = await openCommandLine()
  const storage = await line.openStore({ now: () => NOW })
  try {
    await createAccount(storage)
    await storage.keys.create(exampleApiKey())
    const list = async (at: number) => {
      const { out } = await line.sluice(['keys', 'list'], { now: () => at })
      const json = await line.sluice(['keys', 'list', '--json'], { now: () => at })
      return { out, until: JSON.parse(json.out)[0].former_valid_until }
    }
    expect((await list(NOW)).until).toBeNull()
    const secret = { hash: 'f'.repeat(64), hint: 'sk-gateway-second' }
    await storage.keys.rotate(KEY, secret, { formerUntil: NOW + 60_000, at: NOW })
    const until = new Date(NOW + 60_000).toISOString()
    const during = await list(NOW)
    expect(during.until).toBe(until)
    expect(during.out).toMatch(/ EXPIRES +FORMER SECRET UNTIL\n/)
    expect(during.out).toContain(until)
    const after = await list(NOW + 60_000)
    expect(after.until).toBeNull()
    expect(after.out).not.toContain('FORMER')
    await storage.keys.patch(KEY, { expiresAt: NOW + 30_000 })
    expect((await list(NOW)).until).toBe(new Date(NOW + 30_000).toISOString())
  } finally {
    await storage.close()
    await line.remove()
  }
})
