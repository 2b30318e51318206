/** Organisations: made, funded, run by their people, left and closed. */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { get, postJson } from '../gateway/client.ts'
import { type Customer, openCustomer } from '../gateway/customer.ts'
import { putChain, putModel, putVendor } from '../gateway/gateway.ts'
import { answerOk } from '../gateway/scripted-upstream.ts'
import { openTeam, type Team } from '../gateway/team.ts'
import { withGateway } from '../gateway/with-gateway.ts'

interface Shown {
  readonly id: string
  readonly name: string
  readonly member: { readonly id: string; readonly role: string; readonly monthly_cap_yuan: string }
}
interface ShownMember {
  readonly id: string
  readonly role: string
  readonly email: string
}
interface ShownKey {
  readonly id: string
  readonly key: string
  readonly member: string | null
}

let team: Team

const { gateway, upstream } = await withGateway({
  upstreams: ['upstream'],
  catalogue: ({ upstream }) => [
    ...putVendor('acme', upstream.url),
    putModel('plain'),
    putChain({ model: 'plain', vendor: 'acme' }),
  ],
})

beforeAll(async () => {
  upstream.answer(answerOk({ prompt_tokens: 1_000, completion_tokens: 100 }))
})
beforeEach(async () => {
  team = await openTeam(gateway)
})

function call(key: string) {
  return postJson(
    `${gateway.baseUrl}/v1/chat/completions`,
    { model: 'plain', messages: [{ role: 'user', content: 'hi' }], max_tokens: 100 },
    { authorization: `Bearer ${key}` },
  )
}

const one = (path = ''): string => `organisations/${team.id}${path}`

describe('an organisation', () => {
  test('is made by a person, who is its owner, and listed to them alone', async () => {
    const founder = await openCustomer(gateway)
    const made: Shown = await founder.ask('POST', 'organisations', { name: 'Rockets' })
    expect(made).toMatchObject({ name: 'Rockets', member: { role: 'owner', monthly_cap_yuan: '0' } })
    expect(await founder.ask('GET', 'organisations')).toMatchObject([{ id: made.id, name: 'Rockets' }])
    expect(await team.owner.ask('GET', 'organisations')).toMatchObject([{ id: team.id }])
    const account = await founder.ask('GET', 'account', undefined, {
      ...founder.headers,
      'gw-organisation': made.id,
    })
    expect(account).toMatchObject({ id: made.id, kind: 'organisation', email: null, name: 'Rockets' })
    expect(await founder.ask('GET', 'account')).toMatchObject({ id: founder.id, kind: 'person' })
  })

  test.each(['', ' ', 'a\nb', 'see https://evil.example', 'www.evil.example', 'a@b', `x${'\u202e'}y`])(
    'has a name that says something and is no address: %j',
    async (name) => {
      const answer = await team.owner.send('POST', 'organisations', { name })
      expect(answer).toMatchObject({ status: 400, body: { code: 40000 } })
    },
  )

  test('is listed page by page', async () => {
    const founder = await openCustomer(gateway)
    for (const name of ['A', 'B', 'C']) await founder.ask('POST', 'organisations', { name })
    const first = await founder.send('GET', 'organisations?limit=2')
    expect(first.body.data).toMatchObject([{ name: 'A' }, { name: 'B' }])
    const second = await founder.send(
      'GET',
      `organisations?limit=2&cursor=${String(first.body['next_cursor'])}`,
    )
    expect(second.body).toMatchObject({ data: [{ name: 'C' }], next_cursor: null })
  })

  test('is renamed by an admin; an unchanged answer is 304', async () => {
    expect(await team.admin.ask('PATCH', one(), { name: 'Better' })).toMatchObject({ name: 'Better' })
    const seen = await team.member.send('GET', one())
    expect(seen.body.data).toMatchObject({ name: 'Better', member: { role: 'member' } })
    const again = await team.member.send('GET', one(), undefined, {
      ...team.member.headers,
      'if-none-match': seen.headers.get('etag') ?? '',
    })
    expect(again.status).toBe(304)
  })

  test('has one name: its settings do not give it another', async () => {
    const answer = await team.owner.act('PATCH', 'account', { name: 'Other' })
    expect(answer).toMatchObject({ status: 400, body: { code: 40000 } })
    expect(answer.body.message).toContain('name')
  })

  test('gets money from its owner, once per idempotency key, and the ledger knows both sides', async () => {
    const fund = (key: string, body: object) =>
      team.owner.send('POST', one('/fund'), body, { ...team.owner.headers, 'idempotency-key': key })
    const before: { credits: string } = await team.owner.ask('GET', 'account')
    const first = await fund('one', { credits: '2500.5' })
    expect(first).toMatchObject({ status: 200, body: { data: { repeated: false } } })
    expect(await fund('one', { credits: '2500.5' })).toMatchObject({ body: { data: { repeated: true } } })
    expect(await fund('one', { credits: '1' })).toMatchObject({ status: 422, body: { code: 40004 } })
    const after: { credits: string } = await team.owner.ask('GET', 'account')
    expect(Number(before.credits) - Number(after.credits)).toBe(2500.5)
    const { body } = await team.owner.act('GET', 'account')
    expect(body.data).toMatchObject({ credits: '1002500.5' })
    const statement = await team.admin.act('GET', 'statements')
    expect(JSON.stringify(statement.body.data)).toContain('"kind":"transfer","credits":"2500.5"')
    expect(await fund('two', { yuan: '1' })).toMatchObject({ status: 409, body: { code: 40900 } })
    expect(await fund('three', { credits: '0' })).toMatchObject({ status: 400 })
    expect(await fund('four', { credits: '1', yuan: '1' })).toMatchObject({ status: 400 })
    expect(await team.owner.send('POST', one('/fund'), { credits: '1' })).toMatchObject({ status: 400 })
  })

  test('is left by a member, whose keys end with the next call', async () => {
    const made: ShownKey = (await team.member.act('POST', 'keys', { name: 'mine' })).body.data as ShownKey
    expect((await call(made.key)).status).toBe(200)
    expect(await team.member.ask('POST', one('/leave'))).toEqual({ left: true })
    expect(await call(made.key)).toMatchObject({ status: 401, body: { code: 40101 } })
    expect(await team.member.send('GET', one())).toMatchObject({ status: 403, body: { code: 40304 } })
    expect(await team.member.act('GET', 'logs')).toMatchObject({ status: 403, body: { code: 40304 } })
    expect(await team.member.ask('GET', 'organisations')).toEqual([])
  })

  test('is closed by its owner, who says so where money is left; then nobody acts for it and its keys end', async () => {
    const { key } = await gateway.newKey(team.id)
    expect((await call(key)).status).toBe(200)
    await gateway.settled()
    const refused = await team.owner.send('DELETE', one())
    expect(refused).toMatchObject({ status: 409, body: { code: 40900 } })
    expect(refused.body.message).toContain('Credits')
    const closed = await team.owner.send('DELETE', one('?forfeit=true'))
    expect(closed).toMatchObject({ status: 200, body: { data: { id: team.id, closed: true } } })
    expect(await call(key)).toMatchObject({ status: 401, body: { code: 40101 } })
    expect(await team.owner.send('GET', one())).toMatchObject({ status: 403, body: { code: 40304 } })
    expect(await team.owner.ask('GET', 'organisations')).toEqual([])
  })

  test('cannot be made without end', async () => {
    const founder = await openCustomer(gateway)
    const answers = []
    for (let made = 0; made < 11; made += 1)
      answers.push((await founder.send('POST', 'organisations', { name: `Shell ${made}` })).body.code)
    expect(answers).toEqual([...Array<number>(10).fill(0), 42908])
  })
})

describe('members', () => {
  test('are listed in order of joining with who they are, and read one by one', async () => {
    const first = await team.admin.send('GET', one('/members?limit=2'))
    expect(first.body.data).toMatchObject([
      { role: 'owner', email: team.owner.email, account_status: 'active' },
      { role: 'admin', email: team.admin.email },
    ])
    const rest = await team.admin.send('GET', one(`/members?cursor=${String(first.body['next_cursor'])}`))
    expect(rest.body).toMatchObject({ data: [{ id: team.member.member }], next_cursor: null })
    expect(await team.admin.ask('GET', one(`/members/${team.member.member}`))).toMatchObject({
      id: team.member.member,
      account_id: team.member.id,
      email: team.member.email,
    })
  })

  test('get a role, a cap and limits; each change leaves the others as they are', async () => {
    const path = one(`/members/${team.member.member}`)
    const policy = { concurrency: 2, windows: [{ dimension: 'requests', limit: 10, seconds: 60 }] }
    await team.admin.ask('PATCH', path, { monthly_cap_yuan: '12.5' })
    await team.admin.ask('PATCH', path, { policy })
    expect(await team.admin.ask('PATCH', path, { role: 'admin' })).toMatchObject({
      role: 'admin',
      monthly_cap_yuan: '12.5',
      policy,
    })
    expect(await team.member.ask('GET', one())).toMatchObject({
      member: { role: 'admin', monthly_cap_yuan: '12.5', policy },
    })
    expect(await team.admin.ask('PATCH', path, { policy: null })).toMatchObject({ policy: {} })
  })

  test('refuse what cannot be read, with its path', async () => {
    const path = one(`/members/${team.member.member}`)
    const answer = await team.owner.send('PATCH', path, {
      role: 'king',
      status: 'gone',
      monthly_cap_yuan: '-1',
      policy: { windows: [{ dimension: 'smiles', limit: 1, seconds: 0 }] },
      account_id: 'x',
    })
    expect(answer.status).toBe(400)
    for (const field of ['role', 'status', 'monthly_cap_yuan', 'policy', 'account_id'])
      expect(answer.body.message).toContain(field)
  })

  test('are suspended: neither they nor their keys act any more, until they are let in again', async () => {
    const path = one(`/members/${team.member.member}`)
    const { key } = (await team.member.act('POST', 'keys', { name: 'mine' })).body.data as ShownKey
    expect((await call(key)).status).toBe(200)
    await team.admin.ask('PATCH', path, { status: 'suspended' })
    expect(await team.member.act('GET', 'keys')).toMatchObject({ status: 403, body: { code: 40303 } })
    expect(await call(key)).toMatchObject({ status: 401, body: { code: 40102 } })
    const own = await get(`${gateway.baseUrl}/api/v1/user/user/key`, { authorization: `Bearer ${key}` })
    expect(own).toMatchObject({ status: 401, body: { code: 40102 } })
    await team.admin.ask('PATCH', path, { status: 'active' })
    expect((await call(key)).status).toBe(200)
  })

  test('are removed with their keys, or without', async () => {
    const stays = (await team.member.act('POST', 'keys', { name: 'mine' })).body.data as ShownKey
    await team.admin.ask('DELETE', one(`/members/${team.member.member}?keys=keep`))
    expect((await call(stays.key)).status).toBe(200)
    expect((await team.admin.act('GET', `keys/${stays.id}`)).body.data).toMatchObject({ member: null })
    const leaver = await team.join('member')
    const goes = (await leaver.act('POST', 'keys', { name: 'mine' })).body.data as ShownKey
    await team.admin.ask('DELETE', one(`/members/${leaver.member}`))
    expect(await call(goes.key)).toMatchObject({ status: 401, body: { code: 40101 } })
  })

  test('keep no keys when they go by themselves', async () => {
    const own = (await team.admin.act('POST', 'keys', { name: 'mine', member: team.admin.member })).body
      .data as ShownKey
    const path = one(`/members/${team.admin.member}`)
    const kept = await team.admin.send('DELETE', `${path}?keys=keep`)
    expect(kept).toMatchObject({ status: 409, body: { code: 40900 } })
    expect((await call(own.key)).status).toBe(200)
    await team.admin.ask('DELETE', path)
    expect(await call(own.key)).toMatchObject({ status: 401, body: { code: 40101 } })
  })

  test('are somebody’s own: another organisation’s member is none', async () => {
    const other = await openTeam(gateway)
    for (const [method, body] of [['GET'], ['PATCH', { role: 'admin' }], ['DELETE']] as const) {
      const answer = await team.owner.send(method, one(`/members/${other.member.member}`), body)
      expect(answer).toMatchObject({ status: 404, body: { code: 40403 } })
    }
  })
})

describe('keys of an organisation', () => {
  test('are made by members for themselves, by admins for whom they name, and say whose they are', async () => {
    const own = (await team.member.act('POST', 'keys', { name: 'mine' })).body.data as ShownKey
    expect(own.member).toBe(team.member.member)
    const server = (await team.admin.act('POST', 'keys', { name: 'server' })).body.data as ShownKey
    expect(server.member).toBeNull()
    const given = await team.admin.act('POST', 'keys', { name: 'given', member: team.member.member })
    expect(given.body.data).toMatchObject({ member: team.member.member })
    const listed = (await team.member.act('GET', 'keys')).body.data as readonly { readonly id: string }[]
    expect(listed.map((key) => key.id)).toEqual([own.id, (given.body.data as ShownKey).id])
    expect((await team.admin.act('GET', 'keys')).body.data).toHaveLength(3)
  })

  test('name nobody who is no member, and nobody at all for a person alone', async () => {
    const other = await openTeam(gateway)
    expect(await team.admin.act('POST', 'keys', { name: 'x', member: other.member.member })).toMatchObject({
      status: 400,
      body: { code: 40000 },
    })
    expect(await team.admin.send('POST', 'keys', { name: 'x', member: team.admin.member })).toMatchObject({
      status: 400,
      body: { code: 40000 },
    })
    expect(await team.admin.act('POST', 'keys', { name: 'x', member: 7 })).toMatchObject({ status: 400 })
  })

  test('show their member’s limits and cap', async () => {
    const windows = [{ dimension: 'requests', limit: 10, seconds: 60 }]
    await team.admin.ask('PATCH', one(`/members/${team.member.member}`), {
      policy: { windows },
      monthly_cap_yuan: '5',
    })
    const { key, id } = (await team.member.act('POST', 'keys', { name: 'mine' })).body.data as ShownKey
    expect((await call(key)).status).toBe(200)
    await gateway.settled()
    const limits = {
      member: {
        id: team.member.member,
        monthly_cap_yuan: '5',
        windows: [{ dimension: 'requests', limit: '10', used: '1' }],
      },
    }
    const own = await get(`${gateway.baseUrl}/api/v1/user/user/key`, { authorization: `Bearer ${key}` })
    expect(own.body.data).toMatchObject({ member: team.member.member, limits })
    const spent = (own.body.data as { limits: { member: { month_spent_yuan: string } } }).limits.member
    expect(Number(spent.month_spent_yuan)).toBeGreaterThan(0)
    expect((await team.member.act('GET', `keys/${id}/limits`)).body.data).toMatchObject(limits)
    const { key: server } = await gateway.newKey(team.id)
    const servers = await get(`${gateway.baseUrl}/api/v1/user/user/key`, {
      authorization: `Bearer ${server}`,
    })
    expect(servers.body.data).toMatchObject({ member: null, limits: { member: null } })
  })

  test('of one member do not take all there may be', async () => {
    for (let made = 0; made < 50; made += 1)
      expect((await team.member.act('POST', 'keys', { name: `key ${made}` })).status).toBe(201)
    expect(await team.member.act('POST', 'keys', { name: 'more' })).toMatchObject({
      status: 409,
      body: { code: 40900 },
    })
    expect((await team.admin.act('POST', 'keys', { name: 'server' })).status).toBe(201)
  })
})

describe('log and usage of an organisation', () => {
  let other: Customer & { readonly member: string }
  let keys: { readonly member: ShownKey; readonly other: ShownKey; readonly server: ShownKey }

  beforeEach(async () => {
    const joined = await team.join('member')
    other = joined
    keys = {
      member: (await team.member.act('POST', 'keys', { name: 'a' })).body.data as ShownKey,
      other: (await joined.act('POST', 'keys', { name: 'b' })).body.data as ShownKey,
      server: (await team.admin.act('POST', 'keys', { name: 'c' })).body.data as ShownKey,
    }
    for (const { key } of [keys.member, keys.member, keys.other, keys.server]) await call(key)
    await gateway.settled()
  })

  const keyIdsIn = (answer: { readonly body: { readonly data?: unknown } }): readonly string[] =>
    (answer.body.data as readonly { readonly key_id: string }[]).map((row) => row.key_id)

  test('a member sees the calls of their own keys, admins all', async () => {
    expect(keyIdsIn(await team.member.act('GET', 'logs'))).toEqual([keys.member.id, keys.member.id])
    expect(keyIdsIn(await team.member.act('GET', `logs?key_id=${keys.other.id}`))).toEqual([])
    expect(keyIdsIn(await team.admin.act('GET', 'logs'))).toHaveLength(4)
    const csv = await team.member.act('GET', 'logs/export')
    expect(csv.text).toContain(keys.member.id)
    expect(csv.text).not.toContain(keys.other.id)
    // What was called with a key that is deleted since stays theirs.
    await team.member.act('DELETE', `keys/${keys.member.id}`)
    expect(keyIdsIn(await team.member.act('GET', 'logs'))).toHaveLength(2)
  })

  test('a member’s usage is that of their keys, whatever they ask for', async () => {
    const calls = async (path: string) =>
      ((await team.member.act('GET', path)).body.data as { totals: { calls: number } }).totals.calls
    expect(await calls('usage')).toBe(2)
    expect(await calls('usage?group_by=key,model')).toBe(2)
    expect(await calls(`usage?key_id=${keys.other.id}`)).toBe(0)
    const all = (await team.admin.act('GET', 'usage')).body.data as { totals: { calls: number } }
    expect(all.totals.calls).toBe(4)
  })

  test('usage is split by whose key the calls came with, beside models and keys', async () => {
    type Rows = { rows: readonly { member: string | null; key_id: string | null; calls: number }[] }
    const asked: Rows = (await team.admin.act('GET', 'usage?interval=total&group_by=member')).body
      .data as Rows
    expect(new Map(asked.rows.map(({ member, calls }) => [member, calls]))).toEqual(
      new Map([
        [team.member.member, 2],
        [other.member, 1],
        [null, 1],
      ]),
    )
    expect(asked.rows.map(({ key_id }) => key_id)).toEqual([null, null, null])
    const own = (await team.member.act('GET', 'usage?interval=total&group_by=member,key')).body.data as Rows
    expect(own.rows.map(({ member, key_id }) => [member, key_id])).toEqual([
      [team.member.member, keys.member.id],
    ])
  })

  test('what each member used is summed by whose key it was', async () => {
    const all: { members: readonly { member: string | null; calls: number }[]; totals: { calls: number } } =
      await team.admin.ask('GET', one('/usage'))
    const sums = new Map(all.members.map(({ member, calls }) => [member, calls]))
    expect(sums).toEqual(
      new Map([
        [team.member.member, 2],
        [other.member, 1],
        [null, 1],
      ]),
    )
    expect(all.totals.calls).toBe(4)
    const own: { members: readonly ShownMember[] } = await team.member.ask('GET', one('/usage'))
    expect(own.members).toMatchObject([{ member: team.member.member, calls: 2 }])
  })
})

describe('what else an organisation does', () => {
  test('its owners change what admins may only read', async () => {
    expect(await team.admin.act('GET', 'subscription')).toMatchObject({ status: 200 })
    expect(await team.admin.act('DELETE', 'subscription')).toMatchObject({
      status: 403,
      body: { code: 40304 },
    })
    expect(await team.owner.act('DELETE', 'subscription')).toMatchObject({ status: 409 })
    expect(await team.admin.act('GET', 'verification')).toMatchObject({ status: 200 })
    expect(await team.owner.act('GET', 'verification')).toMatchObject({ status: 200 })
  })

  test('own credentials are the organisation’s, and no member’s own', async () => {
    const body = { secret: 'sk-of-the-organisation' }
    expect((await team.admin.act('PUT', 'byok/acme', body)).status).toBe(200)
    expect(await team.owner.act('GET', 'byok')).toMatchObject({ body: { data: [{ vendor: 'acme' }] } })
    expect(await team.admin.ask('GET', 'byok')).toEqual([])
  })

  test('every act of a member is in the audit log under the person’s name, without secrets', async () => {
    await team.admin.act('PUT', 'byok/acme', { secret: 'sk-of-the-organisation' })
    await team.admin.ask('PATCH', one(`/members/${team.member.member}`), { role: 'admin' })
    await team.member.act('GET', 'keys')
    const page = await gateway.storage.audit.page({ subject: team.id }, { limit: 10, cursor: undefined })
    expect(page.entries.map(({ action, actor, changes }) => [action, actor.name, changes])).toEqual([
      [
        'organisation.act',
        team.admin.email,
        [
          {
            field: 'request',
            from: null,
            to: 'PATCH /api/v1/user/user/organisations/:organisation/members/:member',
          },
          { field: 'of', from: null, to: { organisation: team.id, member: team.member.member } },
          { field: 'with', from: null, to: { role: 'admin' } },
        ],
      ],
      [
        'organisation.act',
        team.admin.email,
        [
          { field: 'request', from: null, to: 'PUT /api/v1/user/user/byok/:vendor' },
          { field: 'of', from: null, to: { vendor: 'acme' } },
          { field: 'with', from: null, to: ['secret'] },
        ],
      ],
    ])
  })

  test('explains a member’s calls to them, and no other’s', async () => {
    const own = (await team.member.act('POST', 'keys', { name: 'mine' })).body.data as ShownKey
    const server = (await team.admin.act('POST', 'keys', { name: 'server' })).body.data as ShownKey
    const explain = (key: string) =>
      team.member.act('POST', 'explain', { key_id: key, body: { model: 'plain', messages: [] } })
    expect(await explain(own.id)).toMatchObject({ status: 200, body: { data: { refusal: null } } })
    expect(await explain(server.id)).toMatchObject({ status: 404, body: { code: 40403 } })
  })
})
