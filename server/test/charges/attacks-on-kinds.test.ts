/**
 * Attacks on the money of calls that are no conversation: one table of kinds, each under every attack. The account's Credits
 * are compared to the microcredit, and when the gateway closes its ledger is verified and no hold or slot may be left.
 */
import { describe, expect, test, vi } from 'vitest'
import { type AccountId, modelId, vendorCode } from '../../src/core/ids.ts'
import { Secret } from '../../src/core/secret.ts'
import { PATIENCE_MS, putChain, putGroup, putModel, putVendor } from '../gateway/gateway.ts'
import { openStand } from '../gateway/open-stand.ts'
import { type Answerer, answerJson, hangUp } from '../gateway/scripted-upstream.ts'
import {
  bodyOf,
  by,
  CREDIT,
  type KindName,
  kindOf,
  NAMES,
  QUANTITIES,
  sound,
  well,
} from './kinds-under-attack.ts'

const CREDITS = 10_000n

const { gateway, upstream, spare } = await openStand((at) => [
  ...putVendor('acme', at.upstream),
  ...putVendor('bolt', at.spare),
  ...NAMES.flatMap((name) => {
    const { pricing, protocol } = kindOf(name)
    return [
      putGroup({ name: `only-${name}`, protocol, models: [name] }),
      putModel(name, { supportFeatures: ['text'], pricing }),
      putChain({ model: name, vendor: 'acme', protocol, clientGoneGraceMs: 0 }),
      putModel(`${name}-of-two`, { supportFeatures: ['text'], pricing }),
      putChain({ model: `${name}-of-two`, vendor: 'acme', protocol }),
      putChain({ model: `${name}-of-two`, vendor: 'bolt', protocol, priority: 2 }),
      putModel(`${name}-by-call`, {
        supportFeatures: ['text'],
        pricing: by('request', { requestPrice: '0.007' }),
      }),
      putChain({ model: `${name}-by-call`, vendor: 'bolt', protocol }),
    ]
  }),
])

type KeyFields = NonNullable<NonNullable<Parameters<typeof gateway.newAccount>[0]>['keyFields']>

interface Sent {
  readonly key: string
  /** Absent: the kind's own. */
  readonly model?: string
  readonly signal?: AbortSignal
  readonly headers?: Readonly<Record<string, string>>
}

async function send(name: KindName, { key, model, signal, headers }: Sent): Promise<number> {
  const body = bodyOf(name, model)
  const answer = await fetch(`${gateway.baseUrl}${kindOf(name).path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      ...(typeof body === 'string' ? { 'content-type': 'application/json' } : {}),
      ...headers,
    },
    body,
    ...(signal === undefined ? {} : { signal }),
  })
  await answer.arrayBuffer()
  return answer.status
}

/** What an account that had `CREDITS` has paid, µCr, once nothing of it is held any more. */
async function paidBy(account: Parameters<typeof gateway.account>[0], had = CREDITS): Promise<bigint> {
  await gateway.settled()
  const { credits, held } = await gateway.account(account)
  expect(held).toBe(0n)
  return had * CREDIT - credits
}

const putOwn = (id: AccountId) =>
  gateway.storage.accounts.putByok(
    id,
    vendorCode('acme'),
    { secret: new Secret('own'), fields: {} },
    { enabled: true },
  )
const removeOwn = (id: AccountId) => gateway.storage.accounts.removeByok(id, vendorCode('acme'))

const customer = () => gateway.newAccount({ credits: Number(CREDITS) })

describe.each(NAMES)('%s', (name) => {
  const kind = kindOf(name)

  test.each<[string, pieces: (whole: Buffer) => Buffer | undefined]>([
    ['before the answer', () => undefined],
    ['in the middle of it', (whole) => whole.subarray(0, whole.length / 2)],
  ])('whoever leaves %s pays for what was made', async (_when, begun) => {
    const { id, key } = await customer()
    const leaving = new AbortController()
    upstream.answer(async (_request, response) => {
      const whole = kind.bytes ?? Buffer.from(JSON.stringify(kind.told(undefined)))
      const piece = begun(whole)
      const closed = new Promise<void>((resolve) => response.on('close', resolve))
      if (piece !== undefined) {
        const type = kind.bytes === undefined ? 'application/json' : 'audio/mpeg'
        response.writeHead(200, { 'content-type': type })
        await new Promise<void>((resolve) => response.write(piece, () => resolve()))
      }
      leaving.abort()
      await closed
    })
    await expect(send(name, { key, signal: leaving.signal })).rejects.toMatchObject({ name: 'AbortError' })
    const left = { accountId: id, clientGone: true }
    await vi.waitFor(async () => expect(await gateway.lastLog()).toMatchObject(left), PATIENCE_MS)
    expect(await paidBy(id)).toBe(kind.price)
  })

  test('of thirty at once, on an account that one of them empties, one is sent', async () => {
    const held: bigint[] = []
    const { id: probe, key: probing } = await customer()
    upstream.answer(async (request, response) => {
      held.push((await gateway.account(probe)).held)
      await well(name)(request, response)
    })
    await send(name, { key: probing })
    const enough = (held[0] ?? 0n) / CREDIT
    upstream.requests.length = 0
    const { id, key } = await gateway.newAccount({ credits: Number(enough) })
    let release: () => void = () => undefined
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    let refused = 0
    const decided = () => {
      if (refused + upstream.requests.length >= 30) release()
    }
    upstream.answer(async (request, response) => {
      decided()
      await released
      await well(name)(request, response)
    })
    const calls = Array.from({ length: 30 }, async () => {
      const status = await send(name, { key })
      if (status !== 200) refused += 1
      decided()
      return status
    })
    const statuses = (await Promise.all(calls)).toSorted((one, other) => one - other)
    expect(statuses.filter((status) => status === 200)).toHaveLength(1)
    expect(statuses.slice(1).every((status) => status === 403 || status === 429)).toBe(true)
    expect(upstream.requests).toHaveLength(1)
    expect(await paidBy(id, enough)).toBe(kind.price)
  })

  describe('an own credential', () => {
    const keysSeen = () =>
      [...upstream.requests, ...spare.requests].map(({ headers }) => headers.authorization)

    test('pays for calls of whoever has nothing, at its own vendor alone', async () => {
      const { id, key } = await gateway.newAccount({ credits: 0 })
      await putOwn(id)
      upstream.answer(well(name))
      expect(await send(name, { key, model: `${name}-of-two` })).toBe(200)
      expect(keysSeen()).toEqual(['Bearer own'])
      upstream.answer(answerJson({ error: { message: 'no', code: 'invalid_api_key' } }, 401))
      spare.answer(well(name))
      expect(await send(name, { key, model: `${name}-of-two` })).not.toBe(200)
      upstream.answer(hangUp)
      expect(await send(name, { key, model: `${name}-of-two` })).not.toBe(200)
      expect(spare.requests).toEqual([])
      expect(new Set(keysSeen())).toEqual(new Set(['Bearer own']))
      expect(await paidBy(id, 0n)).toBe(0n)
    })

    test('that fails is followed by a chain that is paid', async () => {
      const { id, key } = await customer()
      await putOwn(id)
      upstream.answer(answerJson({ error: { message: 'no', code: 'invalid_api_key' } }, 401))
      spare.answer(well(name))
      expect(await send(name, { key, model: `${name}-of-two` })).toBe(200)
      expect(keysSeen()).toEqual(['Bearer own', 'Bearer secret-of-bolt-main'])
      expect(await gateway.lastLog()).toMatchObject({ byok: false, vendorCode: 'bolt' })
      expect(await paidBy(id)).toBe(kind.price)
    })

    test('that is removed while its call waits for an answer leaves that call as it was', async () => {
      const { id, key } = await gateway.newAccount({ credits: 0 })
      await putOwn(id)
      upstream.answer(async (request, response) => {
        await removeOwn(id)
        await well(name)(request, response)
      })
      expect(await send(name, { key })).toBe(200)
      expect(await gateway.lastLog()).toMatchObject({ byok: true, amount: expect.anything() })
      expect(await paidBy(id, 0n)).toBe(0n)
      expect(await send(name, { key })).toBe(403)
    })
  })

  describe('a fallback model', () => {
    const broke = answerJson({ error: { message: 'busy' } }, 503)

    test('that is billed in another mode is charged in that mode', async () => {
      const { id, key } = await gateway.newAccount({
        credits: Number(CREDITS),
        fallbackModel: modelId(`${name}-by-call`),
      })
      upstream.answer(broke)
      spare.answer(well(name))
      expect(await send(name, { key })).toBe(200)
      expect(await gateway.lastLog()).toMatchObject({ model: `${name}-by-call` })
      expect(await paidBy(id)).toBe(7n * CREDIT)
    })

    test.each<[string, Pick<KeyFields, 'group' | 'models'>]>([
      ['of models', { models: [modelId(name)] }],
      ['of a group', { group: `only-${name}` }],
    ])(
      'that the list %s of its key does not name does not stand in [D-fallback-15]',
      async (_what, keyFields) => {
        const { id, key } = await gateway.newAccount({
          credits: Number(CREDITS),
          fallbackModel: modelId(`${name}-by-call`),
          keyFields,
        })
        upstream.answer(broke)
        spare.answer(well(name))
        expect(await send(name, { key })).not.toBe(200)
        expect(spare.requests).toEqual([])
        expect(await paidBy(id)).toBe(0n)
        expect(await send(name, { key, model: `${name}-by-call` })).toBe(403)
      },
    )

    test.each(NAMES.filter((other) => other !== name))('of %s does not stand in', async (other) => {
      const { id, key } = await gateway.newAccount({
        credits: Number(CREDITS),
        fallbackModel: modelId(`${other}-by-call`),
      })
      upstream.answer(broke)
      spare.answer(well(name))
      expect(await send(name, { key })).not.toBe(200)
      expect(spare.requests).toEqual([])
      expect(await paidBy(id)).toBe(0n)
    })
  })

  test('of thirty at once, as many as a limit of each quantity lets pass are sent, and no more', async () => {
    upstream.answer(well(name))
    const { id, key } = await gateway.newAccount({
      credits: 1_000_000,
      policy: { concurrency: undefined, windows: [{ dimension: 'requests', limit: 7, seconds: 3_600 }] },
    })
    const statuses = await Promise.all(Array.from({ length: 30 }, () => send(name, { key })))
    expect(statuses.filter((status) => status === 200)).toHaveLength(7)
    expect(statuses.filter((status) => status === 429)).toHaveLength(23)
    expect(upstream.requests).toHaveLength(7)
    expect(await paidBy(id, 1_000_000n)).toBe(7n * kind.price)
  })

  const [dimension, each] = QUANTITIES[name]
  test(`of thirty at once, on a key with room for four in ${dimension}, four are sent, and nothing after them`, async () => {
    upstream.answer(well(name))
    const { id, key } = await gateway.newAccount({
      credits: 1_000_000,
      keyFields: {
        policy: { concurrency: undefined, windows: [{ dimension, limit: 4 * each, seconds: 3_600 }] },
      },
    })
    const statuses = await Promise.all(Array.from({ length: 30 }, () => send(name, { key })))
    expect(statuses.filter((status) => status === 200)).toHaveLength(4)
    expect(statuses.filter((status) => status === 429)).toHaveLength(26)
    await gateway.settled()
    expect(await send(name, { key })).toBe(429)
    expect(upstream.requests).toHaveLength(4)
    expect(await paidBy(id, 1_000_000n)).toBe(4n * kind.price)
  })

  test('one that fails gives what it took of each limit back, so that the next one is let in', async () => {
    const { id, key } = await gateway.newAccount({
      credits: 1_000_000,
      keyFields: {
        policy: { concurrency: 1, windows: [{ dimension, limit: each, seconds: 3_600 }] },
      },
    })
    if (dimension !== 'requests') {
      upstream.answer(answerJson({ error: { message: 'busy' } }, 503))
      for (let at = 0; at < 3; at += 1) {
        expect(await send(name, { key })).toBeGreaterThanOrEqual(500)
        await gateway.settled()
      }
    }
    upstream.answer(well(name))
    expect(await send(name, { key })).toBe(200)
    await gateway.settled()
    expect(await send(name, { key })).toBe(429)
    expect(await paidBy(id, 1_000_000n)).toBe(kind.price)
  })

  test('one idempotency key joins nothing here: each call is made, and paid', async () => {
    const { id, key } = await customer()
    upstream.answer(well(name))
    const again = { key, headers: { 'idempotency-key': 'the same' } }
    expect(await Promise.all(Array.from({ length: 5 }, () => send(name, again)))).toEqual(Array(5).fill(200))
    expect(upstream.requests).toHaveLength(5)
    expect(await paidBy(id)).toBe(5n * kind.price)
  })

  test.each<[string, Answerer]>([
    ['a vendor that is busy', answerJson({ error: { message: 'busy' } }, 503)],
    ['a connection that breaks', hangUp],
    ['a page of a proxy', answerJson('<html>Welcome</html>', 200, { 'content-type': 'text/html' })],
    ['a page that says it is JSON', answerJson('<html>Welcome</html>')],
    ['a number that is none', answerJson('{"data":[],"results":[],"usage":{"prompt_tokens":NaN}}')],
    ['an error inside a 200', answerJson({ error: { message: 'no', type: 'server_error' } })],
  ])('%s costs nothing, and asked once more it is paid once', async (_what, failing) => {
    const { id, key } = await customer()
    upstream.answer(failing)
    expect(await send(name, { key })).toBeGreaterThanOrEqual(500)
    expect(await paidBy(id)).toBe(0n)
    upstream.answer(well(name))
    expect(await send(name, { key })).toBe(200)
    expect(await paidBy(id)).toBe(kind.price)
  })

  test('an answer that is longer than what is held back is paid like any other', async () => {
    const { id, key } = await customer()
    upstream.answer(
      kind.bytes === undefined
        ? answerJson({ ...kind.told(undefined), filler: 'x'.repeat(2_000_000) })
        : sound(Buffer.alloc(2_000_000, 1)),
    )
    expect(await send(name, { key })).toBe(200)
    expect(await paidBy(id)).toBe(kind.price)
  })
})

describe.each(NAMES.filter((name) => kindOf(name).bytes === undefined))('%s', (name) => {
  const kind = kindOf(name)

  test.each<[string, string, 'unsaid' | 'bounded']>([
    ['fewer than none', '{"prompt_tokens":-5,"total_tokens":-5,"input_tokens":-5}', 'unsaid'],
    ['words', '{"prompt_tokens":"5","total_tokens":"many"}', 'unsaid'],
    ['nothing', 'null', 'unsaid'],
    ['a list', '[1,2]', 'unsaid'],
    [
      'what every object has',
      '{"__proto__":{"prompt_tokens":7},"constructor":{"prompt_tokens":7}}',
      'unsaid',
    ],
    ['more than any', '{"prompt_tokens":1e14,"total_tokens":1e14}', 'bounded'],
    ['more than a number', '{"prompt_tokens":1e400,"total_tokens":1e400}', 'unsaid'],
  ])('a vendor that tells %s as its usage is paid what can be', async (_what, usage, as) => {
    const { id, key } = await gateway.newAccount({ credits: 1_000_000 })
    upstream.answer(answerJson(JSON.stringify(kind.told('@')).replaceAll('"@"', usage)))
    expect(await send(name, { key })).toBe(200)
    const body = bodyOf(name)
    const bytes = typeof body === 'string' ? Buffer.byteLength(body) : 0
    const price = as === 'bounded' ? (kind.bounded?.(bytes) ?? kind.price) : kind.price
    expect(await paidBy(id, 1_000_000n)).toBe(price)
  })
})
