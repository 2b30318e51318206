/** The commands of docs/operating/organisations.md, run as they stand there. */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import { openCustomer } from '../gateway/customer.ts'
import { openMailbox } from '../notify/mailbox.ts'
import { withGateway } from '../gateway/with-gateway.ts'

const GUIDE = fileURLToPath(new URL('../../../docs/operating/organisations.md', import.meta.url))
const run = promisify(execFile)

const mailbox = await openMailbox()
afterAll(() => mailbox.close())
const { gateway } = await withGateway({
  environment: { SLUICE_SMTP_URL: mailbox.url, SLUICE_MAIL_FROM: 'teams@sluice.example' },
})

/** The guide's blocks of commands, each of them a command a line. */
function commandsOf(guide: string): readonly string[] {
  return [...guide.matchAll(/```sh\n([\s\S]*?)```/g)]
    .flatMap(([, block = '']) => block.replaceAll('\\\n', ' ').split('\n'))
    .filter((line) => line.startsWith('curl '))
}

async function hasCurl(): Promise<boolean> {
  try {
    // `--json` is of 7.82 and later.
    const { stdout } = await run('curl', ['--help', 'all'])
    return stdout.includes('--json')
  } catch (error) {
    if (error instanceof Error) return false
    throw error
  }
}

test('every command of the guide does what it says', async ({ skip }) => {
  if (!(await hasCurl())) skip('there is no curl here that knows --json')
  const ann = await openCustomer(gateway, { credits: 1_000 })
  const known: Record<string, string> = {
    API: `${gateway.baseUrl}/api/v1/user/user`,
    TOKEN: ann.headers['authorization']?.replace('Bearer ', '') ?? '',
  }
  const ask = async (command: string) => {
    const shell = command.replace(/^curl /, 'curl -sS --fail-with-body ')
    const { stdout } = await run('sh', ['-euc', shell], {
      env: { ...known, PATH: process.env['PATH'] ?? '' },
    })
    return (JSON.parse(stdout) as { readonly data: { readonly id: string } }).data
  }
  const commands = commandsOf(readFileSync(GUIDE, 'utf8'))
  expect(commands).toHaveLength(9)
  const [create = '', fund = '', invite = '', accept = '', ...acts] = commands
  known['TEAM'] = (await ask(create)).id
  expect(await ask(fund)).toMatchObject({ organisation: { credits: '500' } })
  await ask(invite)
  const { text = '' } = await mailbox.next('bob@example.com')
  known['INVITATION'] = /^invite-\S+$/m.exec(text)?.[0] ?? ''
  const bob = await openCustomer(gateway, { email: 'bob@example.com' })
  known['BOBS_TOKEN'] = bob.headers['authorization']?.replace('Bearer ', '') ?? ''
  const joined = await ask(accept)
  expect(joined).toMatchObject({ id: known['TEAM'], member: { monthly_cap_yuan: '20' } })
  known['MEMBER'] = (joined as unknown as { readonly member: { readonly id: string } }).member.id
  const answers = []
  for (const act of acts) answers.push(await ask(act))
  expect(answers).toMatchObject([
    { name: 'laptop', member: known['MEMBER'] },
    [],
    { id: known['TEAM'], credits: '500' },
    { monthly_cap_yuan: '50', policy: { concurrency: 4 } },
    { members: [] },
  ])
})
