/** Which chain and which model a call goes to. */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Answer, postJson } from '../gateway/client.ts'
import { putChain, putCredential, putGroup, putModel, putVendor } from '../gateway/gateway.ts'
import { answerJson, answerStream } from '../gateway/scripted-upstream.ts'
import { modelId, vendorCode } from '../../src/core/ids.ts'
import { withGateway } from '../gateway/with-gateway.ts'

const COMPLETION = {
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'x',
  choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
}
const BROKEN = answerJson({ error: { message: 'broke', type: 'server_error' } }, 500)

const { gateway, first, second } = await withGateway({
  upstreams: ['first', 'second'],
  catalogue: ({ first, second }) => [...putVendor('one', first.url), ...putVendor('two', second.url)],
})

beforeEach(async () => {
  first.answer(answerJson(COMPLETION))
  second.answer(answerJson(COMPLETION))
  first.requests.length = 0
  second.requests.length = 0
  await gateway.resetHealth()
})

const bearer = (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` })

function chat(model: string, key = gateway.key, fields: object = {}): Promise<Answer> {
  return postJson(
    `${gateway.baseUrl}/v1/chat/completions`,
    { model, messages: [{ role: 'user', content: 'Hi' }], ...fields },
    bearer(key),
  )
}

const credentialsSeen = () => first.requests.map((request) => request.headers.authorization)

describe('the chat endpoint', () => {
  beforeAll(() => gateway.catalogue(putModel('plain'), putChain({ model: 'plain', vendor: 'one' })))

  test('is served at base_url [4-06]', async () => {
    const answer = await chat('plain')
    expect([answer.status, answer.body['object']]).toEqual([200, 'chat.completion'])
  })

  test('a stream ends with data: [DONE], once', async () => {
    const chunk = (delta: object, finish: string | null) =>
      `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'x', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
    first.answer(
      answerStream([
        chunk({ role: 'assistant', content: 'Hello' }, null),
        chunk({}, 'stop'),
        'data: [DONE]\n\n',
      ]),
    )
    const { text } = await chat('plain', gateway.key, { stream: true })
    const lines = text.split('\n').filter((line) => line.startsWith('data:'))
    expect(lines.at(-1)).toBe('data: [DONE]')
    expect(lines.filter((line) => line === 'data: [DONE]')).toHaveLength(1)
  })
})

describe('among the chains of a model', () => {
  test('the best priority receives every call while all are healthy, whatever the weights [1-43]', async () => {
    await gateway.catalogue(
      putModel('ranked'),
      putChain({ model: 'ranked', vendor: 'two', priority: 2, weight: 1_000 }),
      putChain({ model: 'ranked', vendor: 'one', priority: 1, weight: 1 }),
    )
    for (let call = 0; call < 10; call += 1) expect((await chat('ranked')).status).toBe(200)
    expect([first.requests.length, second.requests.length]).toEqual([10, 0])
    const log = await gateway.lastLog()
    expect(log.attempts.map(({ vendorCode, why }) => [vendorCode, why])).toEqual([['one', 'priority']])
  })

  test('equal priorities share by weight', async () => {
    await gateway.catalogue(
      putModel('shared'),
      putChain({ model: 'shared', vendor: 'one', weight: 300 }),
      putChain({ model: 'shared', vendor: 'two', weight: 100 }),
    )
    await Promise.all(Array.from({ length: 200 }, () => chat('shared')))
    // 150 of 200 expected; both bounds are more than six standard deviations away
    expect(first.requests.length).toBeGreaterThan(110)
    expect(second.requests.length).toBeGreaterThan(10)
    expect(first.requests.length + second.requests.length).toBe(200)
    expect((await gateway.lastLog()).attempts[0]?.why).toBe('weight')
  })

  test('two chains may use two credentials of one provider: the second serves once the first is unusable [1-40]', async () => {
    await gateway.catalogue(
      putCredential('one', 'spare'),
      putModel('two-credentials'),
      putChain({ model: 'two-credentials', vendor: 'one', priority: 1 }),
      putChain({ model: 'two-credentials', vendor: 'one', priority: 2, credentialName: 'spare' }),
    )
    expect((await chat('two-credentials')).status).toBe(200)
    expect(credentialsSeen()).toEqual(['Bearer secret-of-one-main'])
    first.script(answerJson({ error: { message: 'bad key', type: 'authentication_error' } }, 401))
    expect((await chat('two-credentials')).status).toBe(200)
    expect((await chat('two-credentials')).status).toBe(200)
    expect(credentialsSeen()).toEqual([
      'Bearer secret-of-one-main',
      'Bearer secret-of-one-main',
      'Bearer secret-of-one-spare',
      'Bearer secret-of-one-spare',
    ])
  })
})

describe('a credential that is switched off', () => {
  test('takes no calls: the next chain does, and the call is refused where there is none', async () => {
    const off = vendorCode('one')
    await gateway.catalogue(
      putCredential('one', 'off'),
      putModel('half-off'),
      putChain({ model: 'half-off', vendor: 'one', priority: 1, credentialName: 'off' }),
      putChain({ model: 'half-off', vendor: 'two', priority: 2 }),
      putModel('all-off'),
      putChain({ model: 'all-off', vendor: 'one', credentialName: 'off' }),
    )
    expect((await chat('half-off')).status).toBe(200)
    expect([first.requests.length, second.requests.length]).toEqual([1, 0])
    await gateway.catalogue({ kind: 'disable-credential', vendorCode: off, name: 'off' })
    for (const stream of [false, true]) {
      if (stream) second.answer(answerStream([`data: ${JSON.stringify(COMPLETION)}\n\n`, 'data: [DONE]\n\n']))
      expect((await chat('half-off', gateway.key, { stream })).status).toBe(200)
    }
    expect([first.requests.length, second.requests.length]).toEqual([1, 2])
    const { attempts } = await gateway.lastLog()
    expect(attempts).toMatchObject([{ vendorCode: 'two', skipped: [{ reason: 'vendor-disabled' }] }])
    expect((await chat('all-off')).body).toMatchObject({ code: 50201 })
    expect(first.requests.length).toBe(1)
    await gateway.catalogue(putCredential('one', 'off'))
    expect((await chat('all-off')).status).toBe(200)
    expect(credentialsSeen().at(-1)).toBe('Bearer secret-of-one-off')
  })
})

describe('limits of an upstream credential', () => {
  const HOUR = 3_600

  test.each([
    ['requests', { concurrency: undefined, windows: [{ dimension: 'requests', limit: 2, seconds: HOUR }] }],
    ['tokens', { concurrency: undefined, windows: [{ dimension: 'tokens', limit: 4, seconds: HOUR }] }],
  ] as const)(
    'a full window of %s steers to the next chain and refuses nobody [D-admission-22] [D-admission-23] [D-admission-24]',
    async (name, policy) => {
      const model = `steered-by-${name}`
      await gateway.catalogue(
        putCredential('one', name, policy),
        putModel(model),
        putChain({ model, vendor: 'one', priority: 1, credentialName: name }),
        putChain({ model, vendor: 'two', priority: 2 }),
      )
      for (let call = 0; call < 4; call += 1) {
        expect((await chat(model)).status).toBe(200)
        await gateway.settled()
      }
      expect([first.requests.length, second.requests.length]).toEqual([2, 2])
    },
  )

  test('so does its concurrency, while a call runs over it [D-admission-22] [D-admission-23] [D-admission-24]', async () => {
    await gateway.catalogue(
      putCredential('one', 'single', { concurrency: 1, windows: [] }),
      putModel('single'),
      putChain({ model: 'single', vendor: 'one', priority: 1, credentialName: 'single' }),
      putChain({ model: 'single', vendor: 'two', priority: 2 }),
    )
    let release = (): void => undefined
    let arrive = (): void => undefined
    const released = new Promise<void>((resolve) => (release = resolve))
    const arrived = new Promise<void>((resolve) => (arrive = resolve))
    first.script(async (request, response) => {
      arrive()
      await released
      await answerJson(COMPLETION)(request, response)
    })
    const running = chat('single')
    await arrived
    expect((await chat('single')).status).toBe(200)
    expect([first.requests.length, second.requests.length]).toEqual([1, 1])
    release()
    expect((await running).status).toBe(200)
    await gateway.settled()
    expect((await chat('single')).status).toBe(200)
    expect([first.requests.length, second.requests.length]).toEqual([2, 1])
  })

  test('a place that was taken in vain is free while another chain answers', async () => {
    await gateway.catalogue(
      putCredential('one', 'vain', { concurrency: 1, windows: [] }),
      putModel('vain'),
      putChain({ model: 'vain', vendor: 'one', priority: 1, credentialName: 'vain' }),
      putChain({ model: 'vain', vendor: 'two', priority: 2 }),
    )
    const credentials = (await gateway.storage.catalogue.read()).credentials.values()
    const subject = `credential:${[...credentials].find(({ name }) => name === 'vain')?.id ?? ''}` as const
    let slots: number | undefined
    first.script(BROKEN)
    second.script(async (request, response) => {
      const states = await gateway.storage.customers.limits.read([subject])
      slots = states.get(subject)?.slots
      await answerJson(COMPLETION)(request, response)
    })
    expect((await chat('vain')).status).toBe(200)
    expect([first.requests.length, slots]).toEqual([1, 0])
  })

  test('when all are full the client is told of the one that has room first', async () => {
    const window = (seconds: number) => ({
      concurrency: undefined,
      windows: [{ dimension: 'requests', limit: 1, seconds } as const],
    })
    await gateway.catalogue(
      putCredential('one', 'long', window(7_200)),
      putCredential('one', 'short', window(600)),
      putModel('both-full'),
      putChain({ model: 'both-full', vendor: 'one', priority: 1, credentialName: 'long' }),
      putChain({ model: 'both-full', vendor: 'one', priority: 2, credentialName: 'short' }),
    )
    for (let call = 0; call < 2; call += 1) expect((await chat('both-full')).status).toBe(200)
    const refused = await chat('both-full')
    expect([refused.status, refused.body.code]).toEqual([429, 42904])
    expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(600)
  })
})

test('a changed fallback setting is used by the running gateway [1-54] [D-fallback-02]', async () => {
  await gateway.catalogue(
    putModel('lone'),
    putChain({ model: 'lone', vendor: 'one' }),
    putModel('old-spare'),
    putChain({ model: 'old-spare', vendor: 'two' }),
    putModel('new-spare'),
    putChain({ model: 'new-spare', vendor: 'two' }),
  )
  first.answer(BROKEN)
  const { id, key } = await gateway.newAccount()
  expect((await chat('lone', key)).status).toBe(500)
  await gateway.storage.accounts.patch(id, { fallbackModel: modelId('old-spare') })
  expect((await chat('lone', key)).body['model']).toBe('old-spare')
  await gateway.storage.accounts.patch(id, { fallbackModel: modelId('new-spare') })
  expect((await chat('lone', key)).body['model']).toBe('new-spare')
  await gateway.storage.accounts.patch(id, { fallbackModel: undefined })
  expect((await chat('lone', key)).status).toBe(500)
})

test('a protocol group is a named set of one protocol and models, and what is put is what rules [D-addresses-09]', async () => {
  const models = ['in-group', 'later']
  await gateway.catalogue(
    ...['in-group', 'later', 'outside'].flatMap((model) => [
      putModel(model),
      putChain({ model, vendor: 'one' }),
    ]),
    putGroup({ name: 'chats', protocol: 'responses', models: ['in-group'] }),
  )
  const { key } = await gateway.newKey(gateway.accountId, { group: 'chats' })
  const respond = async (model: string, path = '/v1/responses') => {
    const answer = await postJson(
      `${gateway.gatewayUrl}${path}`,
      { model, input: 'Hi', max_tokens: 5, messages: [{ role: 'user', content: 'Hi' }] },
      bearer(key),
    )
    return [answer.status, answer.body.code]
  }
  expect(await respond('in-group')).toEqual([200, undefined])
  expect(await respond('later')).toEqual([403, 40301])
  expect(await respond('in-group', '/v1/messages')).toEqual([403, 40301])
  await gateway.catalogue(putGroup({ name: 'chats', protocol: 'responses', models }))
  expect(await respond('later')).toEqual([200, undefined])
  expect(await respond('outside')).toEqual([403, 40301])
  const stored = (await gateway.storage.catalogue.read()).groups.get('chats')
  expect(stored).toEqual({ name: 'chats', protocol: 'responses', models })
})
