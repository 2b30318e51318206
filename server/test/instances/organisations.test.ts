/** What people of an organisation do at the same moment, on both engines: somebody is first, and nothing is done twice or by halves. */
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { microCredits } from '../../src/core/money.ts'
import { hashToken, makeToken } from '../../src/management/identity/sessions/tokens.ts'
import { UNLIMITED } from '../../src/core/limits/policy.ts'
import { type Answer, postJson } from '../gateway/client.ts'
import { openCustomer } from '../gateway/customer.ts'
import { type TestGateway, openGateway, putChain, putModel, putVendor } from '../gateway/gateway.ts'
import { answerOk, openScriptedUpstream, type ScriptedUpstream } from '../gateway/scripted-upstream.ts'
import { openTeam, type Team } from '../gateway/team.ts'
import { createMigratedDatabase, type FreshDatabase } from '../postgres/fresh-database.ts'

const CREDIT = 1_000_000n

describe.each(['SQLite', 'PostgreSQL'] as const)('%s', (engine) => {
  let database: FreshDatabase | undefined
  let upstream: ScriptedUpstream
  let gateway: TestGateway
  let team: Team

  beforeAll(async () => {
    database = engine === 'SQLite' ? undefined : await createMigratedDatabase()
    upstream = await openScriptedUpstream()
    gateway = await openGateway({
      environment: {
        SLUICE_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
        ...(database === undefined ? {} : { SLUICE_DATABASE_URL: database.url }),
      },
    })
    await gateway.catalogue(
      ...putVendor('acme', upstream.url),
      putModel('m'),
      putChain({ model: 'm', vendor: 'acme' }),
    )
  })
  beforeEach(async () => {
    upstream.answer(answerOk({ prompt_tokens: 1_000, completion_tokens: 500 }))
    team = await openTeam(gateway, { credits: 0 })
  })
  afterAll(async () => {
    await gateway.close()
    await upstream.close()
    await database?.drop()
  })

  const one = (path = ''): string => `organisations/${team.id}${path}`
  const statuses = (answers: readonly Answer[]): readonly number[] =>
    answers.map(({ status }) => status).toSorted((left, right) => left - right)

  function call(key: string): Promise<Answer> {
    return postJson(
      `${gateway.baseUrl}/v1/chat/completions`,
      { model: 'm', max_tokens: 833, messages: [] },
      { authorization: `Bearer ${key}` },
    )
  }

  /** Calls that reach the upstream and wait there. */
  async function begin(key: string, count: number): Promise<() => Promise<readonly Answer[]>> {
    let release = (): void => undefined
    const released = new Promise<void>((resolve) => (release = resolve))
    const before = upstream.requests.length
    upstream.answer(async (request, response) => {
      await released
      await answerOk({ prompt_tokens: 1_000, completion_tokens: 500 })(request, response)
    })
    const running = Promise.all(Array.from({ length: count }, () => call(key)))
    await vi.waitFor(() => expect(upstream.requests.length).toBe(before + count), 60_000)
    return async () => {
      release()
      const answers = await running
      await gateway.settled()
      return answers
    }
  }

  const fund = (credits: number, key: string): Promise<Answer> =>
    team.owner.send('POST', one('/fund'), { credits: String(credits) }, { 'idempotency-key': key })

  test.each([
    ['demote', 'PATCH', { role: 'member' }],
    ['suspend', 'PATCH', { status: 'suspended' }],
    ['remove', 'DELETE', undefined],
  ] as const)('two owners who %s each other leave one', async (_what, method, body) => {
    const second = await team.join('owner')
    await Promise.all([
      team.owner.send(method, one(`/members/${second.member}`), body),
      second.send(method, one(`/members/${team.owner.member}`), body),
      team.owner.send('POST', one('/leave')),
      second.send('POST', one('/leave')),
    ])
    const members = await gateway.storage.organisations.members(team.id, { limit: 10, after: undefined })
    expect(members.filter(({ role, status }) => role === 'owner' && status === 'active')).toHaveLength(1)
  })

  test('an invitation accepted ten times at once makes one member, and taken back at once makes one or none', async () => {
    const email = `${team.id}@example.com`
    const guest = await openCustomer(gateway, { email })
    const token = makeToken('invite-').unwrap()
    const at = Date.now()
    const invitation = {
      id: `inv_${team.id}`,
      organisationId: team.id,
      email,
      role: 'member' as const,
      monthlyCap: microCredits(0n),
      policy: UNLIMITED,
      invitedBy: team.owner.id,
      createdAt: at,
      expiresAt: at + 60_000,
      tokenHash: hashToken(token),
    }
    await gateway.storage.organisations.invite(invitation)
    const accept = () => guest.send('POST', 'organisations/invitations/accept', { token })
    const [revoked, ...answers] = await Promise.all([
      team.owner.send('DELETE', one(`/invitations/${invitation.id}`)),
      ...Array.from({ length: 10 }, accept),
    ])
    const joined = await gateway.storage.organisations.member(team.id, guest.id)
    expect(revoked.status).toBe(joined === undefined ? 200 : 409)
    // Whoever asked before it was taken back had it; none got another membership than that one.
    const ids = answers.filter(({ status }) => status === 200).map(({ body }) => body.data)
    expect(new Set(ids.map((data) => JSON.stringify(data))).size).toBe(joined === undefined ? 0 : 1)
    expect(await gateway.storage.organisations.listOf(guest.id)).toHaveLength(joined === undefined ? 0 : 1)
  })

  test('an owner moves no more than they have, and what one key stands for once', async () => {
    const before = (await gateway.account(team.owner.id)).credits / CREDIT
    const tenth = Number(before) / 10
    const answers = await Promise.all(Array.from({ length: 12 }, (_, index) => fund(tenth, `f${index}`)))
    expect(statuses(answers)).toEqual([...Array<number>(10).fill(200), 409, 409])
    const again = await Promise.all(Array.from({ length: 5 }, () => fund(tenth, 'f0')))
    expect(new Set(again.map(({ body }) => JSON.stringify(body.data))).size).toBe(1)
    expect((await gateway.account(team.owner.id)).credits).toBe(0n)
    expect((await gateway.account(team.id)).credits).toBe(before * CREDIT)
  })

  test('it is not closed while a call runs, and no call begins once it is', async () => {
    await fund(1_000, 'all')
    const { key } = await gateway.newKey(team.id, { memberId: team.member.member })
    const end = await begin(key, 2)
    const close = () => team.owner.send('DELETE', one('?forfeit=true'))
    expect((await close()).body.message).toContain('wait for the running calls to end: 2 left')
    expect(statuses(await end())).toEqual([200, 200])
    const [first, , , second] = await Promise.all([close(), fund(1, 'late'), call(key), close(), call(key)])
    await gateway.settled()
    // Both may have met a running call; else one of them has closed it.
    if (first.status !== 200 && second.status !== 200) expect((await close()).status).toBe(200)
    expect(await gateway.storage.organisations.find(team.id)).toBeUndefined()
    const left = await gateway.account(team.id)
    expect(left).toMatchObject({ status: 'suspended', held: 0n })
    expect((await call(key)).status).toBe(401)
    expect((await fund(1, 'later')).status).toBe(403)
    expect((await gateway.account(team.id)).credits).toBe(left.credits)
  })

  test.each(['member', 'organisation'] as const)(
    'a cap of the %s that is lowered while calls run makes none of them free',
    async (whose) => {
      await fund(1_000, 'all')
      const { key } = await gateway.newKey(team.id, { memberId: team.member.member })
      const end = await begin(key, 3)
      const changed = await (whose === 'member'
        ? team.admin.send('PATCH', one(`/members/${team.member.member}`), { monthly_cap_yuan: '0.001' })
        : team.admin.act('PATCH', 'account', { monthly_cap_yuan: '0.001' }))
      expect(changed.status).toBe(200)
      expect(statuses(await end())).toEqual([200, 200, 200])
      // 1000 + 500 tokens at 10 and 30 yuan a million are 25 Credits.
      expect((await gateway.account(team.id)).credits).toBe(925n * CREDIT)
      expect((await call(key)).body.code).toBe(42906)
    },
  )

  test('a member who is removed while they call: what runs is settled, nothing begins', async () => {
    await fund(1_000, 'all')
    const { key } = await gateway.newKey(team.id, { memberId: team.member.member })
    const end = await begin(key, 3)
    const removal = team.admin.send('DELETE', one(`/members/${team.member.member}`))
    const meanwhile = Array.from({ length: 10 }, () => call(key))
    expect((await removal).status).toBe(200)
    const after = await Promise.all([call(key), call(key), call(key)])
    expect(after.map(({ body }) => body.code)).toEqual([40101, 40101, 40101])
    expect(statuses(await end())).toEqual([200, 200, 200])
    const passed = (await Promise.all(meanwhile)).filter(({ status }) => status === 200).length
    await gateway.settled()
    expect(await gateway.account(team.id)).toMatchObject({
      credits: (1_000n - 25n * BigInt(3 + passed)) * CREDIT,
      held: 0n,
    })
  })
})
