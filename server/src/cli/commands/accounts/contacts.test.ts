import { afterAll, beforeAll, expect, test } from 'vitest'
import { type CommandLine, openCommandLine } from '../../../../test/cli/command-line.ts'

let line: CommandLine
beforeAll(async () => {
  line = await openCommandLine({ SLUICE_PHONE_REGION: 'CN' })
})
afterAll(() => line.remove())

const file = (phone: string, email: string) => JSON.stringify({ accounts: [{ phone, email, credits: 5 }] })

test('one account has one e-mail address and one number, however files and commands write them', async () => {
  const apply = (input: string, ...flags: readonly string[]) =>
    line.sluice(['apply', '-f', '-', ...flags], { input })
  expect((await apply(file('138 0013 8000', 'Person@Example.com'))).code).toBe(0)
  const again = file('+86-13800138000', ' person@EXAMPLE.com')
  expect((await apply(again, '--dry-run')).out).toBe('everything is as the file says\n')
  expect((await apply(again)).out).toBe('everything is as the file says\n')
  const { out } = await line.sluice(['export', '--json'])
  expect(JSON.parse(out)).toMatchObject({
    accounts: [{ email: 'person@example.com', phone: '+8613800138000' }],
  })
  for (const written of ['13800138000', '+86 138 0013 8000', 'PERSON@example.com']) {
    const shown = await line.sluice(['accounts', 'show', written, '--json'])
    expect(JSON.parse(shown.out)).toMatchObject({ phone: '+8613800138000' })
    expect((await line.sluice(['grant', written, '1'])).code).toBe(0)
  }
})
