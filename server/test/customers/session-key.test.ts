/** The key a session calls with: what it may, and everything that must not come of it. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type AdminGateway, openAdminGateway } from '../gateway/admin-gateway.ts'
import { type Answer, postJson, readAnswer } from '../gateway/client.ts'
import { type Customer, openCustomer } from '../gateway/customer.ts'
import { putChain, putModel, putVendor } from '../gateway/gateway.ts'
import { openTeam } from '../gateway/team.ts'

interface Issued {
  readonly id: string
  readonly key: string
  readonly expires_at: string
}

const SESSION_KEY = '/api/v1/user/user/session-key'
const REFUSED = { status: 401, body: { error: { code: '40101' } } }

let admin: AdminGateway
let customer: Customer
/** How far the gateway's clock is ahead. */
let ahead = 0

beforeAll(async () => {
  admin = await openAdminGateway({ now: () => Date.now() + ahead })
  await admin.gateway.catalogue(
    ...putVendor('acme', admin.upstream.url),
    putModel('plain'),
    putChain({ model: 'plain', vendor: 'acme' }),
  )
})
beforeEach(async () => {
  customer = await openCustomer(admin.gateway)
})
afterAll(() => admin.close())

const issue = (headers = customer.headers): Promise<Issued> =>
  customer.ask('POST', 'session-key', undefined, headers)
const call = (key: string): Promise<Answer> => admin.call('plain', key)
const codeOf = ({ body }: Answer): unknown => body.code ?? Number(body.error?.code)

describe('a key of a session', () => {
  test('calls models in the person’s name, for an hour at most, and the call is in their log', async () => {
    const { id, key, expires_at: end } = await issue()
    expect((await call(key)).status).toBe(200)
    expect(Date.parse(end) - (Date.now() + ahead)).toBeLessThanOrEqual(3_600_000)
    expect(await admin.gateway.lastLog()).toMatchObject({ accountId: customer.id, keyId: id })
    expect(await customer.ask('GET', 'logs')).toMatchObject([{ key_id: id }])
    ahead += 3_600_001
    expect(codeOf(await call(key))).toBe(40103)
  })

  test('ends no later than the session does', async () => {
    ahead += 90 * 86_400_000 - 60_000
    const { id } = customer
    const headers = { ...(await admin.gateway.signIn(id)).headers }
    const { sessions } = admin.gateway.storage.identity
    const [session] = await sessions.list(id, Date.now() + ahead)
    ahead += 14 * 86_400_000 - 60_000
    const { expires_at: end } = await issue(headers)
    expect(Date.parse(end)).toBe(session?.idleEndsAt)
  })

  test('stands in no list, and cannot be read, changed, rotated or deleted as a key of the person’s own', async () => {
    const { id } = await issue()
    const listed = await customer.ask<readonly { readonly id: string }[]>('GET', 'keys')
    expect(listed.map((key) => key.id)).toEqual([customer.keyId])
    expect(await customer.ask('GET', 'keys/limits')).toHaveLength(1)
    for (const [method, path, body] of [
      ['GET', `keys/${id}`, undefined],
      ['PATCH', `keys/${id}`, { expires_at: null }],
      ['POST', `keys/${id}/rotate`, { overlap_seconds: 60 }],
      ['DELETE', `keys/${id}`, undefined],
    ] as const)
      expect(codeOf(await customer.send(method, path, body)), method).toBe(40403)
  })

  test('is one, however many are asked for: the former secret ends, and the next session takes it over', async () => {
    const other = (await admin.gateway.signIn(customer.id)).headers
    const issued = await Promise.all([issue(), issue(), issue(other), issue(), issue(other)])
    expect(new Set(issued.map(({ id }) => id)).size).toBe(1)
    const answers = await Promise.all(issued.map(({ key }) => call(key)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(4)
    const keys = await admin.gateway.storage.keys.list(customer.id, { ever: 'included' })
    expect(keys).toHaveLength(2)
  })

  test('leaves an entry that holds no secret', async () => {
    const { id, key } = await issue()
    const { entries } = await admin.gateway.storage.audit.page(
      { subject: customer.id },
      { limit: 5, cursor: undefined },
    )
    expect(entries).toMatchObject([{ action: 'key.session', changes: [{ field: `key ${id}` }] }])
    expect(JSON.stringify(entries)).not.toContain(key)
  })
})

describe('it is dead at once', () => {
  const endings: readonly [string, (own: Customer) => Promise<unknown>][] = [
    ['after sign-out', (own) => own.ask('POST', 'sign-out', {})],
    ['when another session ends it', async (own) => endOthers(own)],
    ['when the password is another one', (own) => setPassword(own)],
    ['when an operator suspends the account', (own) => operate(`${own.id}/suspend`)],
  ]
  test.each(endings)('%s', async (_, end) => {
    const { key } = await issue()
    expect((await call(key)).status).toBe(200)
    await end(customer)
    expect(codeOf(await call(key))).toBe(40101)
    expect((await customer.send('POST', 'session-key')).status).toBe(401)
  })

  test('whoever is asked for one while the session ends', async () => {
    for (let round = 0; round < 5; round++) {
      const { headers } = await admin.gateway.signIn(customer.id)
      const asked = Array.from({ length: 4 }, () => customer.send('POST', 'session-key', undefined, headers))
      const [, ...answers] = await Promise.all([customer.send('POST', 'sign-out', {}, headers), ...asked])
      for (const { status, body } of answers) {
        if (status === 201) expect(await call((body.data as Issued).key)).toMatchObject({ status: 401 })
        else expect(status).toBe(401)
      }
    }
  })
})

describe('nobody else gets it', () => {
  test('no key, no stranger, no session that is over', async () => {
    const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
    const none = await postJson(admin.gateway.baseUrl + SESSION_KEY, {})
    expect(codeOf(none)).toBe(40001)
    expect(codeOf(await customer.send('POST', 'session-key', undefined, bearer(customer.key)))).toBe(40304)
    const { key } = await issue()
    expect(codeOf(await customer.send('POST', 'session-key', undefined, bearer(key)))).toBe(40304)
    const { headers } = await admin.gateway.signIn(customer.id)
    ahead += 15 * 86_400_000
    expect(codeOf(await customer.send('POST', 'session-key', undefined, headers))).toBe(40101)
  })

  test.each([
    ['another site', { origin: 'https://evil.example' }],
    ['another site, as the browser says', { 'sec-fetch-site': 'cross-site' }],
    ['nobody knows where', {}],
  ])('not by a cookie that a page of %s makes a browser send', async (_, more: Record<string, string>) => {
    const { token } = await admin.gateway.signIn(customer.id)
    const headers = { cookie: `sluice_session=${token}`, ...more }
    const answer = await readAnswer(
      await fetch(admin.gateway.baseUrl + SESSION_KEY, { method: 'POST', headers }),
    )
    expect(codeOf(answer)).toBe(40305)
  })

  test('not an administrator who impersonates the account', async () => {
    const looking = await operate(`${customer.id}/impersonate`)
    const { token } = looking.body.data as { readonly token: string }
    const headers = { authorization: `Bearer ${token}` }
    expect(codeOf(await customer.send('POST', 'session-key', undefined, headers))).toBe(40304)
  })

  test('not for an organisation one is no member of', async () => {
    const team = await openTeam(admin.gateway)
    const headers = { ...customer.headers, 'gw-organisation': team.id }
    expect(codeOf(await customer.send('POST', 'session-key', undefined, headers))).toBe(40304)
  })
})

describe('in an organisation', () => {
  const keyOf = (answer: Answer): string => (answer.body.data as Issued).key

  test('it is the member’s: their cap binds it, and its calls are theirs', async () => {
    const team = await openTeam(admin.gateway)
    for (const person of [team.member, team.owner]) {
      const key = keyOf(await person.act('POST', 'session-key'))
      expect((await call(key)).status).toBe(200)
      await admin.gateway.settled()
      expect((await person.act('GET', 'logs?limit=1')).body.data).toMatchObject([{ model: 'plain' }])
      await admin.gateway.storage.organisations.patchMember(person.member, { monthlyCap: 1n as never })
      expect(codeOf(await call(key))).toBe(42906)
    }
  })

  test('it is another one than for oneself, and both end with the session', async () => {
    const team = await openTeam(admin.gateway)
    const own = await team.member.ask<Issued>('POST', 'session-key')
    const key = keyOf(await team.member.act('POST', 'session-key'))
    for (const each of [own.key, key]) expect((await call(each)).status).toBe(200)
    await team.member.ask('POST', 'sign-out', {})
    for (const each of [own.key, key]) expect(await call(each)).toMatchObject(REFUSED)
  })

  test.each(['keep', 'delete'])('it ends when the member goes, and keys are to %s', async (keys) => {
    const team = await openTeam(admin.gateway)
    const key = keyOf(await team.member.act('POST', 'session-key'))
    const path = `organisations/${team.id}/members/${team.member.member}?keys=${keys}`
    await team.owner.ask('DELETE', path)
    expect(await call(key)).toMatchObject(REFUSED)
    expect((await team.member.act('POST', 'session-key')).status).toBe(403)
  })

  test('a member who is suspended gets none, and the one they have ends', async () => {
    const team = await openTeam(admin.gateway)
    const key = keyOf(await team.member.act('POST', 'session-key'))
    await team.owner.ask('PATCH', `organisations/${team.id}/members/${team.member.member}`, {
      status: 'suspended',
    })
    expect((await call(key)).status).toBe(401)
    expect((await team.member.act('POST', 'session-key')).status).toBe(403)
  })
})

/** By an operator who has just signed in: the clock of these tests leaves sessions behind. */
async function operate(path: string): Promise<Answer> {
  const { headers } = await admin.gateway.newAdmin()
  const answer = await postJson(
    `${admin.gateway.baseUrl}/api/v1/admin/accounts/${path}`,
    { reason: 'ticket 7' },
    headers,
  )
  expect(answer.status, answer.text).toBeLessThan(300)
  return answer
}

async function endOthers(own: Customer): Promise<void> {
  const { headers } = await admin.gateway.signIn(own.id)
  await own.ask('DELETE', 'sessions', undefined, headers)
}

async function setPassword(own: Customer): Promise<void> {
  await admin.gateway.storage.accounts.patch(own.id, { passwordHash: 'another' })
}
