/** Keys in the customer's hands. */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Answer, postJson } from '../gateway/client.ts'
import { type Customer, openCustomer } from '../gateway/customer.ts'
import { putChain, putGroup, putModel, putVendor, TOKEN_PRICES } from '../gateway/gateway.ts'
import { answerOk } from '../gateway/scripted-upstream.ts'
import { keyId } from '../../src/core/ids.ts'
import { withGateway } from '../gateway/with-gateway.ts'

interface ShownKey {
  readonly id: string
  readonly hint: string
  readonly key: string
  readonly [name: string]: unknown
}

let customer: Customer

const { gateway, upstream } = await withGateway({
  upstreams: ['upstream'],
  catalogue: ({ upstream }) => [
    ...putVendor('acme', upstream.url),
    putModel('one'),
    putChain({ model: 'one', vendor: 'acme' }),
    putModel('two'),
    putChain({ model: 'two', vendor: 'acme' }),
    putModel('expensive', {
      pricing: {
        ...TOKEN_PRICES,
        billingModes: ['request'],
        inputPrice: null,
        outputPrice: null,
        cacheInputPrice: null,
        requestPrice: '0.01',
      },
    }),
    putChain({ model: 'expensive', vendor: 'acme' }),
    putGroup({ name: 'chatters', protocol: 'chat', models: ['one'] }),
  ],
})

beforeAll(async () => {
  upstream.answer(answerOk({ prompt_tokens: 10, completion_tokens: 5 }))
})
beforeEach(async () => {
  customer = await openCustomer(gateway)
})

function call(key: string, model = 'one'): Promise<Answer> {
  return postJson(
    `${gateway.baseUrl}/v1/chat/completions`,
    { model, messages: [{ role: 'user', content: 'Hi' }] },
    { authorization: `Bearer ${key}` },
  )
}
const said = ({ status, body }: Answer) => [status, body.code]
const make = (fields: object = {}): Promise<ShownKey> =>
  customer.ask('POST', 'keys', { name: 'laptop', ...fields })

describe('making keys', () => {
  test('a key is created, shown once, and works at once [4.6-04] [4.6-08] [D-accounts-44] [2.6-01] [2.6-02] [2.6-05] [D-accounts-51]', async () => {
    const made = await make()
    expect(made.key).toMatch(/^sk-gateway-[A-Za-z0-9_-]{43}$/)
    expect((await call(made.key)).status).toBe(200)
    await gateway.settled()
  })

  test('lists and reads show own keys with prefix and six characters [2.6-04] [2.6-06] [2.6-15] [4.6-05] [D-accounts-43] [D-accounts-45] [D-accounts-52]', async () => {
    const made = await make({ name: 'desk' })
    const other = await openCustomer(gateway)
    const { key: plaintext, ...shown } = made
    expect(made.hint).toBe(plaintext.slice(0, 'sk-gateway-'.length + 6))
    const list = await customer.send('GET', 'keys')
    expect(list.body.data).toHaveLength(2)
    expect(list.body.data).toContainEqual(shown)
    expect(list.text).not.toContain(plaintext)
    expect(list.text).not.toContain(other.keyId)
    const read = await customer.send('GET', `keys/${made.id}`)
    expect(read.body.data).toEqual(shown)
    expect(read.text).not.toContain(plaintext)
    for (const [method, body] of [
      ['GET', undefined],
      ['PATCH', { name: 'mine' }],
      ['DELETE', undefined],
    ] as const) {
      expect(said(await other.send(method, `keys/${made.id}`, body))).toEqual([404, 40403])
    }
    expect(said(await other.send('POST', `keys/${made.id}/rotate`))).toEqual([404, 40403])
    expect(await customer.ask('GET', `keys/${made.id}`)).toEqual(shown)
  })

  test('pages of keys join without gap or repetition', async () => {
    for (const name of ['a', 'b', 'c']) await make({ name })
    const names: unknown[] = []
    let cursor = ''
    do {
      const page = await customer.send('GET', `keys?limit=2${cursor}`)
      names.push(...(page.body.data as ShownKey[]).map(({ name }) => name))
      const next = page.body['next_cursor']
      cursor = typeof next === 'string' ? `&cursor=${next}` : ''
    } while (cursor !== '')
    expect(names).toEqual(['test', 'a', 'b', 'c'])
    expect((await customer.send('GET', 'keys?cursor=unreadable')).status).toBe(400)
  })

  test('group [D-accounts-46]', async () => {
    const { key } = await make({ group: 'chatters' })
    expect((await call(key)).status).toBe(200)
    expect(said(await call(key, 'two'))).toEqual([403, 40301])
    await gateway.settled()
  })

  test('models: an allow list; empty means all [D-accounts-47]', async () => {
    const narrow = await make({ models: ['two'] })
    expect(said(await call(narrow.key))).toEqual([403, 40302])
    expect((await call(narrow.key, 'two')).status).toBe(200)
    const wide = await make({ models: [] })
    expect((await call(wide.key)).status).toBe(200)
    await gateway.settled()
  })

  test('ip_allow: a CIDR list; empty means all [D-accounts-48]', async () => {
    const elsewhere = await make({ ip_allow: ['10.0.0.0/8'] })
    expect(said(await call(elsewhere.key))).toEqual([403, 40302])
    const here = await make({ ip_allow: ['127.0.0.0/8', '::1/128'] })
    expect((await call(here.key)).status).toBe(200)
    await gateway.settled()
  })

  test('expires_at [D-accounts-49]', async () => {
    const past = await make({ expires_at: '2020-01-01T00:00:00Z' })
    expect(said(await call(past.key))).toEqual([401, 40103])
    const future = await make({ expires_at: '2999-01-01' })
    expect((await call(future.key)).status).toBe(200)
    await gateway.settled()
  })

  test('policy, in the form of the gateway file [D-accounts-50]', async () => {
    const windows = [
      { dimension: 'requests', limit: 2, seconds: 3600 },
      { dimension: 'tokens', limit: 1000, seconds: 60 },
      { dimension: 'images', limit: 3, seconds: 60 },
      { dimension: 'videos', limit: 4, seconds: 60 },
      { dimension: 'amount', limit: 20.5, seconds: 86400 },
      { dimension: 'video_seconds', limit: 6, seconds: 60 },
    ]
    const made = await make({ policy: { concurrency: 5, windows } })
    expect(made['policy']).toEqual({ concurrency: 5, windows })
    expect((await call(made.key, 'expensive')).status).toBe(200)
    expect((await call(made.key, 'expensive')).status).toBe(200)
    expect(said(await call(made.key))).toEqual([429, 42902])
    await gateway.settled()
    const limits: { readonly key: { readonly windows: readonly object[] } } = await customer.ask(
      'GET',
      `keys/${made.id}/limits`,
    )
    expect(limits.key).toMatchObject({ concurrency: { limit: 5, in_use: 0 } })
    expect(limits.key.windows).toMatchObject([
      { dimension: 'requests', limit: '2', used: '2', remaining: '0' },
      { dimension: 'tokens', limit: '1000', used: '30', remaining: '970' },
      { dimension: 'images', limit: '3', used: '0', resets_at: null },
      { dimension: 'videos', limit: '4', used: '0' },
      { dimension: 'amount', limit: '20.5', used: '20', remaining: '0.5' },
      { dimension: 'video_seconds', limit: '6', used: '0' },
    ])
  })

  test('every key with its windows and its last use, in one answer', async () => {
    const windows = [{ dimension: 'requests', limit: 9, seconds: 3600 }]
    const made = await make({ policy: { windows } })
    const unused = await make({})
    const before = Date.now()
    expect((await call(made.key)).status).toBe(200)
    await gateway.settled()
    const rows: readonly { readonly id: string; readonly last_used_at: string | null }[] = await customer.ask(
      'GET',
      'keys/limits',
    )
    expect(rows.map(({ id }) => id)).toEqual(
      (await customer.ask<readonly ShownKey[]>('GET', 'keys')).map(({ id }) => id),
    )
    const row = rows.find(({ id }) => id === made.id)
    expect(row).toMatchObject({ windows: [{ dimension: 'requests', limit: '9', used: '1', remaining: '8' }] })
    expect(Date.parse(row?.last_used_at ?? '')).toBeGreaterThanOrEqual(before)
    expect(rows.find(({ id }) => id === unused.id)?.last_used_at).toBe(null)
  })

  test('the groups a key may be bound to', async () => {
    expect(await customer.ask('GET', 'groups')).toEqual([
      { name: 'chatters', protocol: 'chat', models: ['one'] },
    ])
  })

  test.each([
    ['tokens', 15, 42903],
    ['amount', 10, 42902],
    ['requests', 1, 42902],
  ])('a window of %s refuses when %s are used [D-accounts-50]', async (dimension, limit, code) => {
    const { key } = await make({ policy: { windows: [{ dimension, limit, seconds: 3600 }] } })
    expect((await call(key, 'expensive')).status).toBe(200)
    await gateway.settled()
    expect(said(await call(key, 'expensive'))).toEqual([429, code])
  })

  test('all errors are reported together, with the path the gateway file would name', async () => {
    const answer = await customer.send('POST', 'keys', {
      name: ' ',
      group: 'nobody',
      models: ['one', 'three'],
      ip_allow: ['10.0.0.0/33'],
      expires_at: 'tomorrow',
      policy: {
        concurrency: 0,
        windows: [
          { dimension: 'request', limit: 1, seconds: 60 },
          { dimension: 'tokens', limit: 1.5, seconds: 0 },
        ],
        burst: 3,
      },
      secret: 'sk-gateway-mine',
      account_id: 'acc_other',
    })
    expect(said(answer)).toEqual([400, 40000])
    const { details } = answer.body.error as {
      readonly details?: { readonly fields?: readonly { path: string }[] }
    }
    expect(details?.fields?.map(({ path }) => path).sort()).toEqual([
      'account_id',
      'expires_at',
      'group',
      'ip_allow[0]',
      'models[1]',
      'name',
      'policy.burst',
      'policy.concurrency',
      'policy.windows[0].dimension',
      'policy.windows[1].limit',
      'policy.windows[1].seconds',
      'secret',
    ])
    expect(await customer.ask('GET', 'keys')).toHaveLength(1)
  })

  test.each(['null', '[]', '"x"', '7', ''])('a body that is no object makes no key: %s', async (body) => {
    expect((await customer.send('POST', 'keys', body)).status).toBe(400)
  })
})

describe('changing keys', () => {
  test('disabled: the next call is refused; enabled: it passes [4.6-07] [D-accounts-53] [D-accounts-54]', async () => {
    const { id, key } = await make()
    expect(await customer.ask('PATCH', `keys/${id}`, { status: 'disabled' })).toMatchObject({
      status: 'disabled',
    })
    expect(said(await call(key))).toEqual([401, 40102])
    await customer.ask('PATCH', `keys/${id}`, { status: 'enabled' })
    expect((await call(key)).status).toBe(200)
    await gateway.settled()
  })

  test('deleted: the next call is 40101, and the key is gone from the list [4.6-06] [D-accounts-55]', async () => {
    const { id, key } = await make()
    expect(await customer.ask('DELETE', `keys/${id}`)).toEqual({ id, deleted: true })
    expect(said(await call(key))).toEqual([401, 40101])
    expect(said(await customer.send('DELETE', `keys/${id}`))).toEqual([404, 40403])
    expect(said(await customer.send('PATCH', `keys/${id}`, { status: 'enabled' }))).toEqual([404, 40403])
    expect(await customer.ask('GET', 'keys')).toHaveLength(1)
  })

  test('a patch changes what it names, null removes, all else is unchanged', async () => {
    const { id } = await make({ group: 'chatters', models: ['one'], policy: { concurrency: 3 } })
    const patched = await customer.ask('PATCH', `keys/${id}`, { name: 'desk', group: null, models: [] })
    expect(patched).toMatchObject({ name: 'desk', group: null, models: [], policy: { concurrency: 3 } })
    const wrong = await customer.send('PATCH', `keys/${id}`, { status: 'deleted', hash: 'x', hint: 'y' })
    expect(wrong.status).toBe(400)
  })

  test('rotated with an overlap, both secrets work until it ends; without one, only the new', async () => {
    const { id, key } = await make()
    const before = Date.now()
    const rotated: ShownKey = await customer.ask('POST', `keys/${id}/rotate`, { overlap_seconds: 3600 })
    expect(rotated.id).toBe(id)
    expect(rotated.key).not.toBe(key)
    expect(Date.parse(String(rotated['former_valid_until']))).toBeGreaterThanOrEqual(before + 3_600_000)
    const shown = async () => {
      const one: ShownKey = await customer.ask('GET', `keys/${id}`)
      const listed: readonly ShownKey[] = await customer.ask('GET', 'keys')
      expect(listed).toContainEqual(one)
      return one['former_valid_until']
    }
    expect(await shown()).toBe(rotated['former_valid_until'])
    expect((await call(key)).status).toBe(200)
    expect((await call(rotated.key)).status).toBe(200)
    await gateway.settled()
    const over = { formerUntil: Date.now() - 1, at: Date.now() }
    await gateway.storage.keys.rotate(keyId(id), { hash: 'f'.repeat(64), hint: rotated.hint }, over)
    expect(said(await call(rotated.key))).toEqual([401, 40103])
    const fresh: ShownKey = await customer.ask('POST', `keys/${id}/rotate`)
    expect(fresh['former_valid_until']).toBeNull()
    expect(await shown()).toBeNull()
    for (const former of [key, rotated.key]) expect(said(await call(former))).toEqual([401, 40101])
    expect((await call(fresh.key)).status).toBe(200)
    await gateway.settled()
  })

  test('deleting or disabling a key ends its former secrets too', async () => {
    const { id, key } = await make()
    await customer.ask('POST', `keys/${id}/rotate`, { overlap_seconds: 3600 })
    expect((await call(key)).status).toBe(200)
    await customer.ask('PATCH', `keys/${id}`, { status: 'disabled' })
    expect(said(await call(key))).toEqual([401, 40102])
    await customer.ask('DELETE', `keys/${id}`)
    expect(said(await call(key))).toEqual([401, 40101])
    await gateway.settled()
  })
})

describe('what a key knows of itself', () => {
  test('its form, limits, windows and usage, by key alone', async () => {
    const made = await make({
      policy: { concurrency: 2, windows: [{ dimension: 'tokens', limit: 100, seconds: 60 }] },
    })
    expect((await call(made.key)).status).toBe(200)
    await gateway.settled()
    const own = await customer.ask('GET', 'key', undefined, { authorization: `Bearer ${made.key}` })
    expect(own).toMatchObject({
      id: made.id,
      hint: made.hint,
      limits: {
        key: {
          concurrency: { limit: 2, in_use: 0 },
          windows: [{ dimension: 'tokens', seconds: 60, limit: '100', used: '15', remaining: '85' }],
        },
      },
      used_this_month: { calls: 1, failed: 0, usage: { input: 10, output: 5 } },
    })
    const usage = await customer.ask('GET', `keys/${made.id}/usage?interval=hour&group_by=model`)
    expect(usage).toMatchObject({ rows: [{ model: 'one', calls: 1 }], totals: { calls: 1 } })
    expect((await customer.send('GET', 'key')).status).toBe(401)
  })

  test('a key may not make, list or change keys', async () => {
    const headers = { authorization: `Bearer ${customer.key}` }
    expect(said(await customer.send('GET', 'keys', undefined, headers))).toEqual([403, 40304])
    expect(said(await customer.send('POST', 'keys', { name: 'x' }, headers))).toEqual([403, 40304])
    expect(said(await customer.send('DELETE', `keys/${customer.keyId}`, undefined, headers))).toEqual([
      403, 40304,
    ])
  })
})
