import { beforeAll, describe, expect, test } from 'vitest'
import { putChain, putGroup, putModel, putVendor } from '../gateway/gateway.ts'
import { answerJson } from '../gateway/scripted-upstream.ts'
import { postJson, type Answer } from '../gateway/client.ts'
import { modelId } from '../../src/core/ids.ts'
import { withGateway } from '../gateway/with-gateway.ts'

/** One body every upstream here answers with; these tests are about who may call. */
const ANSWER = {
  id: 'a',
  object: 'chat.completion',
  model: 'x',
  choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
}
const CALLS = [
  { path: '/v1/chat/completions', model: 'chat-model' },
  { path: '/v1/responses', model: 'responses-model' },
  { path: '/v1/messages', model: 'messages-model' },
] as const

let unbound: string
let messagesKey: string
let responsesKey: string

const { gateway, upstream } = await withGateway({
  upstreams: ['upstream'],
  catalogue: ({ upstream }) => [
    ...putVendor('acme', upstream.url, { kind: 'openai' }),
    ...putVendor('clay', upstream.url, { kind: 'anthropic' }),
    ...putVendor('goo', upstream.url, { kind: 'google' }),
    putModel('chat-model'),
    putChain({ model: 'chat-model', vendor: 'acme' }),
    putModel('responses-model'),
    putChain({ model: 'responses-model', vendor: 'acme', protocol: 'responses' }),
    putModel('messages-model'),
    putChain({ model: 'messages-model', vendor: 'clay', protocol: 'messages' }),
    putModel('gemini-model'),
    putChain({ model: 'gemini-model', vendor: 'goo', protocol: 'gemini' }),
    putGroup({ name: 'm', protocol: 'messages', models: ['messages-model', 'phantom'] }),
    putGroup({ name: 'r', protocol: 'responses', models: ['responses-model'] }),
  ],
})

beforeAll(async () => {
  upstream.answer(answerJson(ANSWER))
  unbound = gateway.key
  messagesKey = (await gateway.newKey(gateway.accountId, { group: 'm' })).key
  responsesKey = (await gateway.newKey(gateway.accountId, { group: 'r' })).key
})

function send(
  where: 'base' | 'gateway',
  path: string,
  headers: Record<string, string>,
  model: string = CALLS.find((call) => call.path === path)?.model ?? 'chat-model',
): Promise<Answer> {
  return postJson(
    `${where === 'base' ? gateway.baseUrl : gateway.gatewayUrl}${path}`,
    { model, messages: [], input: 'x' },
    headers,
  )
}

const bearer = (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` })

describe.each(CALLS)('$path at base_url', ({ path }) => {
  test('without any credential is 401/40001 [4.1-01] [4.2-01] [4.3-01] [5-01] [7.1-07]', async () => {
    const answer = await send('base', path, {})
    expect(answer.status).toBe(401)
    expect(answer.body).toMatchObject({ code: 40001, error: { type: 'gateway_error', code: '40001' } })
  })

  test('takes Authorization: Bearer [5-05] [D-admission-01]', async () => {
    expect((await send('base', path, bearer(unbound))).status).toBe(200)
  })

  test.each([
    ['Basic [4.1-02]', { authorization: 'Basic abc' }],
    ['a bare key [4.1-02]', { authorization: 'sk-gateway-abc' }],
    ['Bearer alone [7.1-07]', { authorization: 'Bearer' }],
    ['an empty bearer', { authorization: 'Bearer  ' }],
  ])('refuses %s with 401/40001', async (_name, headers) => {
    const answer = await send('base', path, headers)
    expect([answer.status, answer.body.code]).toEqual([401, 40001])
  })

  test('never reads x-api-key; the message says api_key is required [4.1-03] [5-06] [5-08] [D-addresses-19]', async () => {
    const answer = await send('base', path, { 'x-api-key': unbound })
    expect([answer.status, answer.body.code]).toEqual([401, 40001])
    expect(answer.body.message).toContain('api_key is required')
  })

  test('an unknown key is 401/40101 [7.1-08]', async () => {
    const answer = await send('base', path, bearer('sk-gateway-unknown'))
    expect([answer.status, answer.body.code]).toEqual([401, 40101])
  })
})

describe('the states of a key', () => {
  test('a deleted key is 401/40101 from the next call on [5-15] [7.1-09] [D-errors-40]', async () => {
    const { key, keyId } = await gateway.newKey(gateway.accountId)
    expect((await send('base', '/v1/chat/completions', bearer(key))).status).toBe(200)
    await gateway.storage.keys.patch(keyId, { status: 'deleted' })
    const answer = await send('base', '/v1/chat/completions', bearer(key))
    expect([answer.status, answer.body.code]).toEqual([401, 40101])
  })

  test('a disabled key is 401/40102 from the next call on, and works again when enabled [5-16] [5-17] [7.1-10] [D-errors-40]', async () => {
    const { key, keyId } = await gateway.newKey(gateway.accountId)
    await gateway.storage.keys.patch(keyId, { status: 'disabled' })
    const refused = await send('base', '/v1/chat/completions', bearer(key))
    expect([refused.status, refused.body.code]).toEqual([401, 40102])
    await gateway.storage.keys.patch(keyId, { status: 'enabled' })
    expect((await send('base', '/v1/chat/completions', bearer(key))).status).toBe(200)
  })

  test('an expired key is 401/40103 [7.1-11] [D-errors-40]', async () => {
    const { key } = await gateway.newKey(gateway.accountId, { expiresAt: Date.now() - 1 })
    const answer = await send('base', '/v1/chat/completions', bearer(key))
    expect([answer.status, answer.body.code]).toEqual([401, 40103])
  })

  test('authentication comes before key restrictions [D-admission-02]', async () => {
    const { key } = await gateway.newKey(gateway.accountId, { expiresAt: Date.now() - 1, group: 'm' })
    const answer = await send('gateway', '/v1/responses', bearer(key))
    expect([answer.status, answer.body.code]).toEqual([401, 40103])
  })

  test('an invalid key of a penniless account gives 401, not 403 [5-21]', async () => {
    const poor = await gateway.newAccount({ credits: 0, keyFields: { expiresAt: Date.now() - 1 } })
    expect((await send('base', '/v1/chat/completions', bearer(poor.key))).status).toBe(401)
  })

  test('every key of a suspended account is 403/40303 [D-errors-07]', async () => {
    const { id, key } = await gateway.newAccount()
    await gateway.storage.accounts.patch(id, { status: 'suspended' })
    const answer = await send('base', '/v1/chat/completions', bearer(key))
    expect([answer.status, answer.body.code]).toEqual([403, 40303])
  })
})

describe('gateway_base_url', () => {
  test('a key of a messages group calls /v1/messages [4-03] [4-05] [5-18] [D-addresses-04]', async () => {
    expect((await send('gateway', '/v1/messages', bearer(messagesKey))).status).toBe(200)
  })

  test('a key of a responses group calls /v1/responses [4-04] [5-19] [D-addresses-06] [4.2-19]', async () => {
    expect((await send('gateway', '/v1/responses', bearer(responsesKey))).status).toBe(200)
  })

  test('/v1/messages accepts x-api-key alone [4.3-02] [5-09] [D-addresses-17]', async () => {
    expect((await send('gateway', '/v1/messages', { 'x-api-key': messagesKey })).status).toBe(200)
  })

  test('/v1/responses does not read x-api-key [D-addresses-18]', async () => {
    const answer = await send('gateway', '/v1/responses', { 'x-api-key': responsesKey })
    expect([answer.status, answer.body.code]).toEqual([401, 40001])
  })

  test('where both come, Authorization wins [D-addresses-39]', async () => {
    const answer = await send('gateway', '/v1/messages', {
      authorization: 'Bearer wrong',
      'x-api-key': messagesKey,
    })
    expect([answer.status, answer.body.code]).toEqual([401, 40101])
  })

  test('an invalid key is 401 [7.2-01]', async () => {
    expect((await send('gateway', '/v1/messages', bearer('sk-gateway-nope'))).status).toBe(401)
  })

  test('an unbound key is 403/40301 [D-addresses-11]', async () => {
    const answer = await send('gateway', '/v1/messages', bearer(unbound))
    expect([answer.status, answer.body.code]).toEqual([403, 40301])
  })

  test.each([
    ['/v1/responses', () => messagesKey],
    ['/v1/messages', () => responsesKey],
  ])(
    'another protocol than the group’s is 403/40301 on %s [D-addresses-12] [D-errors-04]',
    async (path, key) => {
      const answer = await send('gateway', path, bearer(key()))
      expect([answer.status, answer.body.code]).toEqual([403, 40301])
    },
  )

  test('a model outside the group is 403/40301 and reaches no upstream [5-20] [7.2-04] [D-addresses-13]', async () => {
    const before = upstream.requests.length
    const answer = await send('gateway', '/v1/messages', bearer(messagesKey), 'chat-model')
    expect([answer.status, answer.body.code]).toEqual([403, 40301])
    expect(upstream.requests.length).toBe(before)
  })

  test('a model the group lists but the platform does not have is 404 [7.2-06]', async () => {
    expect((await send('gateway', '/v1/messages', bearer(messagesKey), 'phantom')).status).toBe(404)
  })

  test.each([
    '/v1/chat/completions',
    '/v1/videos',
    '/api/v1/user/user/models',
    '/unreadable',
    '/v1beta/models/x:generateContent',
  ])('%s is 404/40400 there [4-12] [7.2-05] [D-addresses-08]', async (path) => {
    const answer = await send('gateway', path, bearer(messagesKey))
    expect([answer.status, answer.body.code]).toEqual([404, 40400])
  })
})

describe('a bound key at base_url', () => {
  test('works within its group [D-addresses-16]', async () => {
    expect((await send('base', '/v1/messages', bearer(messagesKey))).status).toBe(200)
  })

  test('with another protocol is 403/40301 [D-addresses-14]', async () => {
    const answer = await send('base', '/v1/chat/completions', bearer(messagesKey), 'messages-model')
    expect([answer.status, answer.body.code]).toEqual([403, 40301])
  })

  test('with a model outside the group is 403/40301 [D-addresses-15]', async () => {
    const answer = await send('base', '/v1/messages', bearer(messagesKey), 'chat-model')
    expect([answer.status, answer.body.code]).toEqual([403, 40301])
  })
})

describe('lists of a key', () => {
  test('a model outside the allow list is 403/40302; an empty list allows any [D-errors-05] [D-accounts-47]', async () => {
    const { key } = await gateway.newKey(gateway.accountId, { models: [modelId('messages-model')] })
    const answer = await send('base', '/v1/chat/completions', bearer(key))
    expect([answer.status, answer.body.code]).toEqual([403, 40302])
    expect((await send('base', '/v1/messages', bearer(key))).status).toBe(200)
    expect((await send('base', '/v1/chat/completions', bearer(unbound))).status).toBe(200)
  })

  test('an address outside ip_allow is 403/40302; one inside passes [D-errors-06] [D-accounts-48]', async () => {
    const elsewhere = await gateway.newKey(gateway.accountId, { ipAllow: ['10.0.0.0/8', '2001:db8::/32'] })
    const refused = await send('base', '/v1/chat/completions', bearer(elsewhere.key))
    expect([refused.status, refused.body.code]).toEqual([403, 40302])
    const here = await gateway.newKey(gateway.accountId, { ipAllow: ['127.0.0.0/8'] })
    expect((await send('base', '/v1/chat/completions', bearer(here.key))).status).toBe(200)
  })

  test('key restrictions come before the check that the model exists [D-admission-03]', async () => {
    const { key } = await gateway.newKey(gateway.accountId, { models: [modelId('messages-model')] })
    const answer = await send('base', '/v1/chat/completions', bearer(key), 'no-such-model')
    expect([answer.status, answer.body.code]).toEqual([403, 40302])
  })
})

describe('gemini paths', () => {
  const path = '/v1beta/models/gemini-model:generateContent'

  test('read a bearer or x-goog-api-key, not x-api-key [D-addresses-30]', async () => {
    expect((await send('base', path, bearer(unbound))).status).toBe(200)
    expect((await send('base', path, { 'x-goog-api-key': unbound })).status).toBe(200)
    const answer = await send('base', path, { 'x-api-key': unbound })
    expect([answer.status, answer.body.code]).toEqual([401, 40001])
  })

  test('a key in the query string is refused with a hint [D-addresses-40]', async () => {
    const answer = await send('base', `${path}?key=${unbound}`, {})
    expect([answer.status, answer.body.code]).toEqual([401, 40001])
    expect(answer.body.message).toContain('x-goog-api-key')
  })
})
