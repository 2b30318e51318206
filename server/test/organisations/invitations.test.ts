/** Invitations: by mail, to one address, once; and what somebody tries with them. */
import { DAY_MS } from '../../src/core/durations.ts'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { type Answer, postJson } from '../gateway/client.ts'
import { type Customer, openCustomer } from '../gateway/customer.ts'
import { openTeam, type Team } from '../gateway/team.ts'
import { openMailbox } from '../notify/mailbox.ts'
import { withGateway } from '../gateway/with-gateway.ts'

let team: Team
/** Moved forward by tests; never back. */
let late = 0

const mailbox = await openMailbox()
afterAll(() => mailbox.close())
const { gateway } = await withGateway({
  now: () => Date.now() + late,
  environment: {
    SLUICE_SMTP_URL: mailbox.url,
    SLUICE_MAIL_FROM: 'teams@sluice.example',
    // Tests come from wherever they say.
    SLUICE_TRUSTED_PROXIES: '127.0.0.0/8',
  },
})
beforeEach(async () => {
  // Every limit has leaked away.
  late += DAY_MS
  team = await openTeam(gateway)
})

let count = 0
const newAddress = (): string => `new${++count}@example.com`
const one = (path = ''): string => `organisations/${team.id}/invitations${path}`

function invite(email: string, more: object = {}, by = team.admin): Promise<Answer> {
  return by.send('POST', one(), { email, ...more })
}

/** What the newest mail to an address carries. */
async function tokenFor(email: string): Promise<string> {
  const { text = '' } = await mailbox.next(email)
  const [token] = /^invite-\S+$/m.exec(text) ?? []
  if (token === undefined) throw new Error(`no invitation in: ${text}`)
  return token
}

const accept = (person: Customer, token: string, headers?: Record<string, string>) =>
  person.send(
    'POST',
    'organisations/invitations/accept',
    { token },
    headers && { ...person.headers, ...headers },
  )

const preview = (token: string, headers: Record<string, string> = {}) =>
  postJson(`${gateway.baseUrl}/api/v1/user/user/organisations/invitations/preview`, { token }, headers)

const idOf = (answer: Answer): string => (answer.body.data as { readonly id: string }).id

describe('an invitation', () => {
  test('comes by mail, says what it is to, and makes whoever has the address a member', async () => {
    const email = newAddress()
    const policy = { concurrency: 3 }
    const invited = await invite(email, { monthly_cap_yuan: '7', policy })
    expect(invited).toMatchObject({
      status: 201,
      body: { data: { email, role: 'member', status: 'pending', monthly_cap_yuan: '7', policy } },
    })
    expect(invited.text).not.toContain('invite-')
    const mail = await mailbox.next(email)
    expect(mail.subject).toContain('Join Acme')
    expect(mail.text).toContain(team.admin.email)
    const [token = ''] = /^invite-\S+$/m.exec(mail.text ?? '') ?? []
    expect((await preview(token)).body.data).toMatchObject({ organisation: 'Acme', email, role: 'member' })

    const person = await openCustomer(gateway, { email })
    expect((await accept(person, token)).body.data).toMatchObject({
      id: team.id,
      member: { role: 'member', monthly_cap_yuan: '7', policy },
    })
    expect(await person.ask('GET', 'organisations')).toMatchObject([{ id: team.id }])
    expect(await team.admin.ask('GET', one('?limit=1'))).toMatchObject([
      { id: idOf(invited), status: 'accepted' },
    ])
    // The same person again: a lost answer costs nothing.
    expect((await accept(person, token)).status).toBe(200)
    const page = await gateway.storage.audit.page(
      { subject: team.id, action: 'organisation.join' },
      { limit: 5, cursor: undefined },
    )
    expect(page.entries).toMatchObject([{ actor: { name: email, accountId: person.id } }])
  })

  test('to the role owner is an owner’s to make, send again and take back', async () => {
    const email = newAddress()
    expect(await invite(email, { role: 'owner' })).toMatchObject({ status: 403, body: { code: 40304 } })
    const invited = await invite(email, { role: 'owner' }, team.owner)
    expect(invited.status).toBe(201)
    for (const [method, path] of [
      ['POST', `/${idOf(invited)}/resend`],
      ['DELETE', `/${idOf(invited)}`],
    ] as const)
      expect(await team.admin.send(method, one(path))).toMatchObject({ status: 403, body: { code: 40304 } })
    expect(
      (await accept(await openCustomer(gateway, { email }), await tokenFor(email))).body.data,
    ).toMatchObject({
      member: { role: 'owner' },
    })
  })

  test('is there once for an address until it is sent again, taken back or over', async () => {
    const email = newAddress()
    const first = await invite(email)
    const old = await tokenFor(email)
    expect(await invite(email.toUpperCase())).toMatchObject({ status: 409, body: { code: 40900 } })
    expect((await team.admin.send('POST', one(`/${idOf(first)}/resend`))).status).toBe(200)
    const fresh = await tokenFor(email)
    expect(await preview(old)).toMatchObject({ status: 400, body: { code: 40005 } })
    expect((await preview(fresh)).status).toBe(200)
    expect((await team.admin.send('DELETE', one(`/${idOf(first)}`))).status).toBe(200)
    expect(await team.admin.send('DELETE', one(`/${idOf(first)}`))).toMatchObject({ status: 409 })
    expect(await team.admin.send('POST', one(`/${idOf(first)}/resend`))).toMatchObject({ status: 409 })
    const person = await openCustomer(gateway, { email })
    expect(await accept(person, fresh)).toMatchObject({ status: 400, body: { code: 40005 } })
    expect((await invite(email)).status).toBe(201)
  })

  test('is over after seven days', async () => {
    const email = newAddress()
    const invited = await invite(email)
    const token = await tokenFor(email)
    late += 7 * DAY_MS + 1_000
    const person = await openCustomer(gateway, { email })
    expect(await preview(token)).toMatchObject({ status: 400, body: { code: 40005 } })
    expect(await accept(person, token)).toMatchObject({ status: 400, body: { code: 40005 } })
    expect(await team.admin.ask('GET', one('?limit=1'))).toMatchObject([
      { id: idOf(invited), status: 'expired' },
    ])
    expect((await invite(email)).status).toBe(201)
  })

  test('of another organisation is none', async () => {
    const email = newAddress()
    const invited = await invite(email)
    const other = await openTeam(gateway)
    for (const [method, path] of [
      ['POST', `/${idOf(invited)}/resend`],
      ['DELETE', `/${idOf(invited)}`],
    ] as const) {
      const answer = await other.owner.send(method, `organisations/${other.id}/invitations${path}`)
      expect(answer).toMatchObject({ status: 404, body: { code: 40403 } })
    }
  })

  test('accepted twice at once makes one member', async () => {
    const email = newAddress()
    await invite(email)
    const token = await tokenFor(email)
    const person = await openCustomer(gateway, { email })
    const answers = await Promise.all([accept(person, token), accept(person, token), accept(person, token)])
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    const members: readonly { readonly email: string }[] = await team.admin.ask(
      'GET',
      `organisations/${team.id}/members`,
    )
    expect(members.filter((member) => member.email === email)).toHaveLength(1)
  })

  test('is made by somebody who goes: it holds all the same, since the organisation invited', async () => {
    const email = newAddress()
    await invite(email)
    const token = await tokenFor(email)
    await team.owner.ask('DELETE', `organisations/${team.id}/members/${team.admin.member}`)
    expect((await accept(await openCustomer(gateway, { email }), token)).status).toBe(200)
  })
})

describe('whoever tries', () => {
  test('to learn by inviting whether an address has an account gets the same answer', async () => {
    const known = newAddress()
    await openCustomer(gateway, { email: known })
    const unknown = newAddress()
    const shape = ({ status, body }: Answer) => {
      const {
        id: _id,
        email: _email,
        created_at: _made,
        expires_at: _ends,
        ...rest
      } = body.data as Record<string, unknown>
      return { status, rest }
    }
    expect(shape(await invite(known))).toEqual(shape(await invite(unknown)))
    // Both get a mail: nothing is told by the one that does not come.
    await tokenFor(known)
    await tokenFor(unknown)
  })

  test('a token that went to another address is refused, and it still works for whom it was meant', async () => {
    const email = newAddress()
    await invite(email)
    const token = await tokenFor(email)
    const thief = await openCustomer(gateway, { email: newAddress() })
    expect(await accept(thief, token)).toMatchObject({ status: 403, body: { code: 40304 } })
    const phoneOnly = await openCustomer(gateway, { email: undefined, phone: '+8613800138000' })
    expect(await accept(phoneOnly, token)).toMatchObject({ status: 403, body: { code: 40304 } })
    expect((await accept(await openCustomer(gateway, { email }), token)).status).toBe(200)
  })

  test.each([
    ['full-width letters', 'ｐｅｒｓｏｎ@example.com', 'person@example.com'],
    ['capitals', 'Other.Person@Example.COM', 'other.person@example.com'],
    ['a domain in its own script', 'person@bücher.example', 'person@xn--bcher-kva.example'],
  ])('to be somebody else by %s is that very address', async (_name, written, normal) => {
    expect((await invite(written)).body.data).toMatchObject({ email: normal })
    expect(
      (await accept(await openCustomer(gateway, { email: normal }), await tokenFor(normal))).status,
    ).toBe(200)
  })

  test.each([
    ['a Cyrillic letter', 'pеrson@example.com'],
    ['a second recipient', 'a@example.com, b@example.com'],
    ['another header', 'a@example.com\nBcc: b@example.com'],
    ['no address', 'nobody'],
    ['a machine', 'root@127.0.0.1'],
  ])('to send the mail elsewhere by %s is refused', async (_name, email) => {
    const answer = await invite(email)
    expect(answer).toMatchObject({ status: 400, body: { code: 40000 } })
    expect(answer.body.message).toContain('email')
  })

  test('a look-alike domain is another address', async () => {
    await invite('boss@xn--exmple-cua.com')
    const token = await tokenFor('boss@xn--exmple-cua.com')
    const boss = await openCustomer(gateway, { email: 'boss@exmple.com' })
    expect(await accept(boss, token)).toMatchObject({ status: 403, body: { code: 40304 } })
  })

  test('to guess tokens is soon made to wait, by place and by person, and does not shut others out', async () => {
    const email = newAddress()
    await invite(email)
    const token = await tokenFor(email)
    const place = { 'x-forwarded-for': '198.51.100.7' }
    const codes: (number | undefined)[] = []
    for (let tried = 0; tried < 61; tried += 1)
      codes.push((await preview(`invite-${tried}`, place)).body.code)
    expect(new Set(codes.slice(0, 60))).toEqual(new Set([40005]))
    expect(codes[60]).toBe(42908)
    expect((await preview(token, { 'x-forwarded-for': '198.51.100.8' })).status).toBe(200)

    const guesser = await openCustomer(gateway)
    const answers: Answer[] = []
    for (let tried = 0; tried < 21; tried += 1)
      answers.push(await accept(guesser, `invite-${tried}`, { 'x-forwarded-for': `203.0.113.${tried}` }))
    expect(answers.at(19)?.body.code).toBe(40005)
    expect(answers.at(20)).toMatchObject({ status: 429, body: { code: 42908 } })
    expect(Number(answers.at(20)?.headers.get('retry-after'))).toBeGreaterThan(0)
  })

  test('to fill somebody’s mailbox is stopped, from however many organisations', async () => {
    const email = newAddress()
    const second = await openTeam(gateway)
    const first = await invite(email)
    for (let sent = 0; sent < 3; sent += 1)
      expect((await team.admin.send('POST', one(`/${idOf(first)}/resend`))).status).toBe(200)
    const elsewhere = (by: Team) => by.owner.send('POST', `organisations/${by.id}/invitations`, { email })
    expect((await elsewhere(second)).status).toBe(201)
    expect(await elsewhere(await openTeam(gateway))).toMatchObject({ status: 429, body: { code: 42908 } })
    expect(await team.admin.send('POST', one(`/${idOf(first)}/resend`))).toMatchObject({
      status: 429,
      body: { code: 42908 },
    })
  })

  test('to invite a member again is told so, which the list of members tells anyway', async () => {
    expect(await invite(team.member.email)).toMatchObject({ status: 409, body: { code: 40900 } })
  })

  test('to bind somebody while impersonating them is refused', async () => {
    const email = newAddress()
    await invite(email)
    const token = await tokenFor(email)
    const person = await openCustomer(gateway, { email })
    const admin = await gateway.newAdmin()
    const opened = await postJson(
      `${gateway.baseUrl}/api/v1/admin/accounts/${person.id}/impersonate`,
      { reason: 'support' },
      admin.headers,
    )
    const impersonating = {
      authorization: `Bearer ${(opened.body.data as { readonly token: string }).token}`,
    }
    expect(await accept(person, token, impersonating)).toMatchObject({ status: 403, body: { code: 40304 } })
    expect(await person.send('POST', 'organisations', { name: 'Trap' }, impersonating)).toMatchObject({
      status: 403,
      body: { code: 40304 },
    })
  })
})
