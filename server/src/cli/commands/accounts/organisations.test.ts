/** `sluice organisations`: who there is, with what they have; and accounts and keys as organisations have them. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type CommandLine, openCommandLine } from '../../../../test/cli/command-line.ts'
import { accountId, memberId } from '../../../core/ids.ts'
import { microCredits } from '../../../core/money.ts'
import { createAccount } from '../../../management/accounts/accounts.ts'
import { grantCredits } from '../../../management/money/grants.ts'
import { createKey } from '../../../management/keys/keys.ts'

const NOW = Date.UTC(2027, 0, 15)
const TEAM = accountId('acc_team')
const OWNER = memberId('mem_owner')

let line: CommandLine
beforeAll(async () => {
  line = await openCommandLine()
  const storage = await line.openStore({ now: () => NOW })
  const ann = await createAccount(storage, { email: 'ann@example.com' }, NOW)
  await storage.organisations.create(
    { id: TEAM, name: 'Rockets', createdAt: NOW },
    { id: OWNER, accountId: ann },
  )
  await storage.organisations.patchMember(OWNER, { monthlyCap: microCredits(50_000_000_000n) })
  await grantCredits(storage, {
    accountId: TEAM,
    amount: microCredits(1_500_000n),
    transactionId: 'grant:team',
    reference: undefined,
    at: NOW,
  })
  await createKey(
    storage,
    {
      accountId: TEAM,
      memberId: OWNER,
      name: 'laptop',
      secret: undefined,
      status: 'enabled',
      expiresAt: undefined,
      group: undefined,
      models: [],
      ipAllow: [],
      policy: undefined,
    },
    NOW,
  )
  await storage.close()
})
afterAll(() => line.remove())

const sluice = (...argv: readonly string[]) => line.sluice(argv, { now: () => NOW })

test('list shows every organisation with its people and its Credits', async () => {
  const { out } = await sluice('organisations')
  expect(out.split('\n').map((row) => row.split(/ {2,}/))).toEqual([
    ['ID', 'NAME', 'STATUS', 'MEMBERS', 'CREDITS', 'HELD', 'OWED', 'CREATED'],
    ['acc_team', 'Rockets', 'active', '1', '1.5', '0', '0', '2027-01-15'],
    [''],
  ])
  const { out: json } = await sluice('organisations', 'list', '--json')
  expect(JSON.parse(json)).toMatchObject([{ id: TEAM, name: 'Rockets', members: 1, credits: '1.5' }])
})

test('members shows who they are and what they may spend', async () => {
  const { out } = await sluice('organisations', 'members', TEAM)
  expect(out.split('\n').map((row) => row.split(/ {2,}/))).toEqual([
    ['ID', 'ACCOUNT', 'ROLE', 'STATUS', 'CAP', 'SPENT', 'HELD', 'CURRENCY', 'JOINED'],
    ['mem_owner', 'ann@example.com', 'owner', 'active', '50', '0', '0', 'CNY', '2027-01-15'],
    [''],
  ])
})

test('members of none says where all are listed', async () => {
  const { code, err } = await sluice('organisations', 'members', 'acc_none')
  expect(code).not.toBe(0)
  expect(err).toContain('sluice organisations list')
})

test('accounts say which of them are organisations, and keys whose they are', async () => {
  const { out } = await sluice('accounts', 'list')
  expect(out).toMatch(/ACCOUNT +KIND +ROLE/)
  expect(out).toMatch(/acc_team +Rockets +organisation/)
  expect(out).toMatch(/ann@example\.com +person/)
  const { out: keys } = await sluice('keys', 'list', '--json')
  expect(JSON.parse(keys)).toMatchObject([{ name: 'laptop', member: OWNER }])
})
