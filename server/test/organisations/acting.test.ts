/** Acting for an organisation: what somebody tries with the header, with roles, and as an organisation itself. */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { get, postJson, sendRaw } from '../gateway/client.ts'
import { openCustomer } from '../gateway/customer.ts'
import { putChain, putModel, putVendor } from '../gateway/gateway.ts'
import { answerOk } from '../gateway/scripted-upstream.ts'
import { openTeam, type Team, type TeamPerson } from '../gateway/team.ts'
import { withGateway } from '../gateway/with-gateway.ts'

const PREFIX = '/api/v1/user/user'

interface ShownKey {
  readonly id: string
  readonly key: string
}

let team: Team
let adminHeaders: Record<string, string>

const { gateway, upstream } = await withGateway({
  upstreams: ['upstream'],
  catalogue: ({ upstream }) => [
    ...putVendor('acme', upstream.url),
    putModel('plain'),
    putChain({ model: 'plain', vendor: 'acme' }),
  ],
})

beforeAll(async () => {
  upstream.answer(answerOk({ prompt_tokens: 10, completion_tokens: 10 }))
  adminHeaders = (await gateway.newAdmin()).headers
})
beforeEach(async () => {
  team = await openTeam(gateway)
})

const members = (path = ''): string => `organisations/${team.id}/members${path}`
const admin = (path: string) => `${gateway.baseUrl}/api/v1/admin${path}`

function call(key: string, model = 'plain') {
  return postJson(
    `${gateway.baseUrl}/v1/chat/completions`,
    { model, messages: [{ role: 'user', content: 'hi' }], max_tokens: 100 },
    { authorization: `Bearer ${key}` },
  )
}

async function newKey(person: TeamPerson, name = 'mine'): Promise<ShownKey> {
  return (await person.act('POST', 'keys', { name })).body.data as ShownKey
}

describe('the header', () => {
  test('does not tell an organisation of others from none at all', async () => {
    const stranger = await openCustomer(gateway)
    const asks = [team.id, 'acc_none', stranger.id, gateway.accountId, '%00', 'a, b'].map((id) =>
      stranger.send('GET', 'keys', undefined, { ...stranger.headers, 'gw-organisation': id }),
    )
    const told = (await Promise.all(asks)).map(({ status, body }) => [status, body.code, body.message])
    expect(new Set(told.map((one) => JSON.stringify(one))).size).toBe(1)
    expect(told[0]?.slice(0, 2)).toEqual([403, 40304])
    const inPath = await stranger.send('GET', `organisations/${team.id}`)
    expect(inPath.body.message).toBe(told[0]?.[2])
  })

  test('that names somewhere one has left is refused with the next request', async () => {
    expect((await team.member.act('GET', 'keys')).status).toBe(200)
    await team.admin.ask('DELETE', members(`/${team.member.member}`))
    expect(await team.member.act('GET', 'keys')).toMatchObject({ status: 403, body: { code: 40304 } })
  })

  test('beside a path that names another organisation is refused', async () => {
    const other = await openTeam(gateway)
    const answer = await team.owner.send('GET', `organisations/${team.id}`, undefined, {
      ...team.owner.headers,
      'gw-organisation': other.id,
    })
    expect(answer).toMatchObject({ status: 403, body: { code: 40304 } })
  })

  test('is none for what is a person’s own, and none for the admins of the platform', async () => {
    for (const path of ['sessions', 'second-factors', 'organisations'])
      expect(await team.owner.act('GET', path)).toMatchObject({ status: 403, body: { code: 40304 } })
    const answer = await get(admin('/accounts'), { ...adminHeaders, 'gw-organisation': team.id })
    expect(answer).toMatchObject({ status: 403, body: { code: 40304 } })
    // An admin of the platform is no member of anything by that.
    const own = await get(`${gateway.baseUrl}${PREFIX}/keys`, {
      ...adminHeaders,
      'gw-organisation': team.id,
    })
    expect(own).toMatchObject({ status: 403, body: { code: 40304 } })
  })

  test('with a cookie alone is protected like any other request that changes something', async () => {
    const { token } = await gateway.signIn(team.admin.id)
    const body = JSON.stringify({ name: 'mine' })
    const send = (headers: Record<string, string>) =>
      sendRaw(`${gateway.baseUrl}${PREFIX}/keys`, {
        headers: {
          'content-type': 'application/json',
          'content-length': String(body.length),
          cookie: `sluice_session=${token}`,
          'gw-organisation': team.id,
          ...headers,
        },
        pieces: [body],
      })
    expect(await send({ origin: 'https://evil.example' })).toMatchObject({
      status: 403,
      body: { code: 40305 },
    })
    expect(await send({})).toMatchObject({ status: 403, body: { code: 40305 } })
    expect(await send({ origin: gateway.baseUrl })).toMatchObject({ status: 201 })
  })

  test('of an API key may name its own account and no other', async () => {
    const { key } = await gateway.newKey(team.id)
    const ask = (id: string) =>
      get(`${gateway.baseUrl}${PREFIX}/account`, { authorization: `Bearer ${key}`, 'gw-organisation': id })
    expect((await ask(team.id)).body.data).toMatchObject({ id: team.id, kind: 'organisation' })
    expect(await ask(gateway.accountId)).toMatchObject({ status: 403, body: { code: 40304 } })
    const own = { authorization: `Bearer ${gateway.key}`, 'gw-organisation': team.id }
    expect(await get(`${gateway.baseUrl}${PREFIX}/logs`, own)).toMatchObject({
      status: 403,
      body: { code: 40304 },
    })
  })

  test('refuses an admin who impersonates an owner', async () => {
    const opened = await postJson(
      admin(`/accounts/${team.owner.id}/impersonate`),
      { reason: 'support' },
      adminHeaders,
    )
    const impersonating = {
      authorization: `Bearer ${(opened.body.data as { readonly token: string }).token}`,
    }
    expect(await team.owner.send('GET', 'organisations', undefined, impersonating)).toMatchObject({
      status: 200,
    })
    for (const [method, path, named] of [
      ['GET', 'keys', { 'gw-organisation': team.id }],
      ['POST', 'keys', { 'gw-organisation': team.id }],
      ['GET', `organisations/${team.id}`, {}],
      ['DELETE', `organisations/${team.id}?forfeit=true`, {}],
    ] as const) {
      const body = method === 'POST' ? { name: 'x' } : undefined
      const answer = await team.owner.send(method, path, body, { ...impersonating, ...named })
      expect(answer, `${method} ${path}`).toMatchObject({ status: 403, body: { code: 40304 } })
    }
  })
})

describe('a member', () => {
  test('does not see or touch another member’s key by its id', async () => {
    const { id } = await newKey(team.admin)
    const other = await team.join('member')
    const theirs = await newKey(other)
    for (const key of [id, theirs.id])
      for (const [method, path, body] of [
        ['GET', `keys/${key}`],
        ['GET', `keys/${key}/limits`],
        ['GET', `keys/${key}/usage`],
        ['PATCH', `keys/${key}`, { status: 'disabled' }],
        ['POST', `keys/${key}/rotate`, {}],
        ['DELETE', `keys/${key}`],
      ] as const) {
        const answer = await team.member.act(method, path, body)
        expect(answer, `${method} ${path}`).toMatchObject({ status: 404, body: { code: 40403 } })
      }
    expect((await call(theirs.key)).status).toBe(200)
  })

  test('does not find another member’s call by its id', async () => {
    const other = await team.join('member')
    const theirs = await newKey(other)
    await call(theirs.key)
    await gateway.settled()
    const { requestId } = await gateway.lastLog()
    expect((await other.act('GET', `logs?request_id=${requestId}`)).body.data).toHaveLength(1)
    expect((await team.member.act('GET', `logs?request_id=${requestId}`)).body.data).toEqual([])
  })

  test('creates no key for another member, and none for the organisation', async () => {
    const refused = await team.member.act('POST', 'keys', { name: 'x', member: team.admin.member })
    expect(refused).toMatchObject({ status: 403, body: { code: 40304 } })
    const own = await team.member.act('POST', 'keys', { name: 'x', member: null })
    expect(own.body.data).toMatchObject({ member: team.member.member })
    const moved = await team.member.act('PATCH', `keys/${(own.body.data as ShownKey).id}`, { member: null })
    expect(moved).toMatchObject({ status: 400, body: { code: 40000 } })
  })

  test('does not raise their own cap or role, by whatever field', async () => {
    const own = members(`/${team.member.member}`)
    for (const patch of [
      { role: 'owner' },
      { monthly_cap_yuan: '0' },
      { status: 'active' },
      { policy: null },
    ])
      expect(await team.member.send('PATCH', own, patch)).toMatchObject({
        status: 403,
        body: { code: 40304 },
      })
    for (const [path, body] of [
      ['account', { monthly_cap_yuan: '0' }],
      ['account', { member: { role: 'owner' } }],
    ] as const)
      expect((await team.member.act('PATCH', path, body)).status).toBe(403)
    // For themselves, and refused as the unknown field it is.
    expect(await team.member.send('PATCH', 'account', { role: 'admin' })).toMatchObject({ status: 400 })
    expect(await team.member.ask('GET', `organisations/${team.id}`)).toMatchObject({
      member: { role: 'member' },
    })
  })

  test('’s key sees no more than the member', async () => {
    const { key } = await newKey(team.member)
    const ask = (path: string) =>
      get(`${gateway.baseUrl}${PREFIX}/${path}`, { authorization: `Bearer ${key}` })
    for (const path of ['account', 'subscription'])
      expect(await ask(path)).toMatchObject({ status: 403, body: { code: 40304 } })
    for (const path of ['key', 'logs', 'usage', 'pricing']) expect((await ask(path)).status).toBe(200)
    // Neither does one of somebody who is an admin, since keys end up in programs.
    const admins = (await team.admin.act('POST', 'keys', { name: 'x', member: team.admin.member })).body
      .data as ShownKey
    const answer = await get(`${gateway.baseUrl}${PREFIX}/account`, { authorization: `Bearer ${admins.key}` })
    expect(answer).toMatchObject({ status: 403, body: { code: 40304 } })
  })

  test('whose own account is suspended does not act, and neither do their keys', async () => {
    const { key } = await newKey(team.member)
    await postJson(admin(`/accounts/${team.member.id}/suspend`), {}, adminHeaders)
    expect(await call(key)).toMatchObject({ status: 403, body: { code: 40303 } })
    const own = await get(`${gateway.baseUrl}${PREFIX}/key`, { authorization: `Bearer ${key}` })
    expect(own).toMatchObject({ status: 403, body: { code: 40303 } })
  })
})

describe('an admin of an organisation', () => {
  test('neither changes an owner, nor makes one, nor becomes one', async () => {
    const owner = members(`/${team.owner.member}`)
    for (const patch of [
      { role: 'member' },
      { status: 'suspended' },
      { monthly_cap_yuan: '1' },
      { policy: null },
    ])
      expect(await team.admin.send('PATCH', owner, patch)).toMatchObject({
        status: 403,
        body: { code: 40304 },
      })
    expect(await team.admin.send('DELETE', owner)).toMatchObject({ status: 403, body: { code: 40304 } })
    for (const whom of [team.admin, team.member])
      expect(await team.admin.send('PATCH', members(`/${whom.member}`), { role: 'owner' })).toMatchObject({
        status: 403,
        body: { code: 40304 },
      })
  })

  test('neither closes it nor moves money into it', async () => {
    const answer = await team.admin.send('DELETE', `organisations/${team.id}?forfeit=true`)
    expect(answer).toMatchObject({ status: 403, body: { code: 40304 } })
  })
})

describe('the last owner', () => {
  test('does not leave, step down, suspend themselves or go', async () => {
    const own = members(`/${team.owner.member}`)
    for (const [method, path, body] of [
      ['POST', `organisations/${team.id}/leave`],
      ['PATCH', own, { role: 'member' }],
      ['PATCH', own, { status: 'suspended' }],
      ['DELETE', own],
    ] as const)
      expect(await team.owner.send(method, path, body), method).toMatchObject({
        status: 409,
        body: { code: 40900 },
      })
  })

  test('is there still when two owners leave at once', async () => {
    const second = await team.join('owner')
    const path = `organisations/${team.id}/leave`
    const answers = await Promise.all([team.owner.send('POST', path), second.send('POST', path)])
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 409]))
  })
})

describe('an organisation itself', () => {
  test('is signed in as by nobody', async () => {
    const answer = await postJson(
      admin(`/accounts/${team.id}/impersonate`),
      { reason: 'support' },
      adminHeaders,
    )
    expect(answer).toMatchObject({ status: 409, body: { code: 40900 } })
    expect(answer.body.message).toContain('an organisation cannot be impersonated')
    // Even a session of it, however it came about, opens nothing.
    const { headers } = await gateway.signIn(team.id)
    expect(await get(`${gateway.baseUrl}${PREFIX}/account`, headers)).toMatchObject({
      status: 401,
      body: { code: 40101 },
    })
  })

  test.each([
    { email: 'team@example.com' },
    { phone: '+8613800138001' },
    { password: 'a long password' },
    { role: 'admin' },
  ])('is given nothing to sign in with: %j', async (body) => {
    const answer = await fetch(admin(`/accounts/${team.id}`), {
      method: 'PATCH',
      headers: { 'content-type': 'application/json', ...adminHeaders },
      body: JSON.stringify(body),
    })
    expect(answer.status).toBe(400)
    expect(await gateway.account(team.id)).toMatchObject({
      email: undefined,
      phone: undefined,
      passwordHash: undefined,
      role: 'user',
    })
  })

  test('is an account to the admins of the platform: shown, changed, given Credits, suspended', async () => {
    const listed = await get(admin(`/accounts?kind=organisation&search=${team.id}`), adminHeaders)
    expect(listed.body.data).toMatchObject([{ id: team.id, kind: 'organisation' }])
    const patched = await fetch(admin(`/accounts/${team.id}`), {
      method: 'PATCH',
      headers: { 'content-type': 'application/json', ...adminHeaders },
      body: JSON.stringify({ user_rate: 80, credits: 500 }),
    })
    expect(await patched.json()).toMatchObject({ data: { user_rate: '80', credits: '500', email: null } })
    const granted = await postJson(admin(`/accounts/${team.id}/grants`), { credits: 20 }, adminHeaders)
    expect(granted.body.data).toMatchObject({ credits: '520' })
    expect((await get(admin('/organisations?limit=200'), adminHeaders)).text).toContain(team.id)
    expect((await get(admin(`/organisations/${team.id}`), adminHeaders)).body.data).toMatchObject({
      name: 'Acme',
      status: 'active',
      credits: '520',
    })
    const people = await get(admin(`/organisations/${team.id}/members`), adminHeaders)
    expect(people.body.data).toMatchObject([{ role: 'owner' }, { role: 'admin' }, { role: 'member' }])

    const { key } = await newKey(team.member)
    await postJson(admin(`/accounts/${team.id}/suspend`), { reason: 'unpaid' }, adminHeaders)
    expect(await call(key)).toMatchObject({ status: 403, body: { code: 40303 } })
    expect(await team.owner.act('GET', 'account')).toMatchObject({ status: 403, body: { code: 40303 } })
    // The people are none the worse for it.
    expect((await team.owner.send('GET', 'account')).status).toBe(200)
    await postJson(admin(`/accounts/${team.id}/activate`), {}, adminHeaders)
    expect((await call(key)).status).toBe(200)
  })

  test('that was closed is not opened again', async () => {
    await team.owner.send('DELETE', `organisations/${team.id}?forfeit=true`)
    const opened = await postJson(admin(`/accounts/${team.id}/activate`), {}, adminHeaders)
    expect(opened).toMatchObject({ status: 409, body: { code: 40900 } })
    const changed = await fetch(admin(`/accounts/${team.id}`), {
      method: 'PATCH',
      headers: { 'content-type': 'application/json', ...adminHeaders },
      body: JSON.stringify({ status: 'active' }),
    })
    expect(changed.status).toBe(409)
    expect(await gateway.account(team.id)).toMatchObject({ status: 'suspended' })
  })
})
