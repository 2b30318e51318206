/**
 * Attacks on what a call may cost at the most: caps of a month, of an account and of a member, in parallel at their edges; requests
 * that lie about what they ask for; and vendors that say what cannot be.
 */
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { microCredits } from '../../src/core/money.ts'
import { putChain, putModel, putVendor } from '../gateway/gateway.ts'
import { openStand } from '../gateway/open-stand.ts'
import { answerJson } from '../gateway/scripted-upstream.ts'
import { openTeam } from '../gateway/team.ts'
import { bodyOf, CREDIT, EVERY_NAME, type KindName, kindOf, pathOf, well } from './kinds-under-attack.ts'

const CREDITS = 1_000_000n

const { gateway, upstream } = await openStand((at) => [
  ...putVendor('acme', at.upstream),
  ...EVERY_NAME.flatMap((name) => {
    const { pricing, protocol } = kindOf(name)
    return [
      putModel(name, { supportFeatures: ['text'], pricing }),
      putChain({ model: name, vendor: 'acme', protocol }),
    ]
  }),
])

async function send(
  name: KindName,
  key: string,
  body: FormData | string | Buffer = bodyOf(name),
  headers: object = {},
) {
  const answer = await fetch(`${gateway.baseUrl}${pathOf(name, name)}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      ...(body instanceof FormData ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    body: Buffer.isBuffer(body) ? new Uint8Array(body) : body,
  })
  const text = await answer.text()
  return { status: answer.status, text }
}

type Id = Parameters<typeof gateway.account>[0]

async function paidBy(account: Id): Promise<bigint> {
  await gateway.settled()
  const { credits, held } = await gateway.account(account)
  expect(held).toBe(0n)
  return CREDITS * CREDIT - credits
}

/** What one call holds, µCr. */
async function heldBy(name: KindName): Promise<bigint> {
  const { id, key } = await gateway.newAccount({ credits: Number(CREDITS) })
  let held = 0n
  upstream.answer(async (request, response) => {
    held = (await gateway.account(id)).held
    await well(name)(request, response)
  })
  expect((await send(name, key)).status).toBe(200)
  await gateway.settled()
  return held
}

/** Thirty calls by turns with these keys, of which none is answered before all have been judged. */
async function thirty(name: KindName, keys: readonly string[]): Promise<readonly number[]> {
  upstream.requests.length = 0
  let release: () => void = () => undefined
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  let refused = 0
  const judged = () => {
    if (refused + upstream.requests.length >= 30) release()
  }
  upstream.answer(async (request, response) => {
    judged()
    await released
    await well(name)(request, response)
  })
  return Promise.all(
    Array.from({ length: 30 }, async (_, index) => {
      const { status } = await send(name, keys[index % keys.length] ?? '')
      if (status !== 200) refused += 1
      judged()
      return status
    }),
  )
}

describe.each(EVERY_NAME)('%s', (name) => {
  const kind = kindOf(name)

  test('of thirty at once of a member with two keys, as many are sent as the cap has room for', async () => {
    const held = await heldBy(name)
    const team = await openTeam(gateway, { credits: Number(CREDITS) })
    const { member } = await team.join('member', { monthlyCap: microCredits(3n * held + held / 2n) })
    const keys = await Promise.all([1, 2].map(() => gateway.newKey(team.id, { memberId: member })))
    const statuses = await thirty(
      name,
      keys.map(({ key }) => key),
    )
    expect(statuses.filter((status) => status === 200)).toHaveLength(3)
    expect(statuses.filter((status) => status === 429)).toHaveLength(27)
    expect(upstream.requests).toHaveLength(3)
    expect(await paidBy(team.id)).toBe(3n * kind.price)
  })

  test('of thirty at once, as many are sent as the cap of an account’s month has room for', async () => {
    const held = await heldBy(name)
    const { id, key } = await gateway.newAccount({
      credits: Number(CREDITS),
      monthlyCap: microCredits(3n * held + held / 2n),
    })
    const statuses = await thirty(name, [key])
    expect(statuses.filter((status) => status === 200)).toHaveLength(3)
    expect(statuses.filter((status) => status === 429)).toHaveLength(27)
    expect(upstream.requests).toHaveLength(3)
    expect(await paidBy(id)).toBe(3n * kind.price)
  })

  test('an amount that a key may cost ends it, by what was charged', async () => {
    upstream.answer(well(name))
    const limit = (2n * kind.price) / CREDIT
    const { id, key } = await gateway.newAccount({
      credits: Number(CREDITS),
      keyFields: {
        policy: {
          concurrency: undefined,
          windows: [{ dimension: 'amount', limit: Number(limit), seconds: 3_600 }],
        },
      },
    })
    const statuses = []
    for (let at = 0; at < 4; at += 1) statuses.push((await send(name, key)).status)
    expect(statuses).toEqual([200, 200, 429, 429])
    expect(await paidBy(id)).toBe(2n * kind.price)
  })

  test('a body that is packed costs what it says unpacked', async () => {
    upstream.answer(well(name))
    const { id, key } = await gateway.newAccount({ credits: Number(CREDITS) })
    const body = bodyOf(name)
    const form = new Response(body)
    const packed = gzipSync(Buffer.from(await form.arrayBuffer()))
    const { status } = await send(name, key, packed, {
      'content-encoding': 'gzip',
      'content-type':
        typeof body === 'string' ? 'application/json' : (form.headers.get('content-type') ?? ''),
    })
    expect(status).toBe(200)
    expect(await paidBy(id)).toBe(kind.price)
  })
})

describe.each(EVERY_NAME.filter((name) => kindOf(name).bytes === undefined))('%s', (name) => {
  const kind = kindOf(name)

  test.each<[string, unknown]>([
    ['a part of a token, as the nearest whole one', { prompt_tokens: 4.75, total_tokens: 4.75 }],
    ['true', { prompt_tokens: true, total_tokens: true }],
    ['an object', { prompt_tokens: { tokens: 1 }, total_tokens: [1] }],
    ['less than nothing in one place and something in another', { prompt_tokens: -3, total_tokens: 5 }],
    ['nothing of what it read', { completion_tokens: 9 }],
  ])('a vendor that tells %s as its usage is paid once what can be', async (_what, usage) => {
    const { id, key } = await gateway.newAccount({ credits: Number(CREDITS) })
    upstream.answer(answerJson(kind.told(usage)))
    expect((await send(name, key)).status).toBe(200)
    expect(await paidBy(id)).toBe(kind.price)
    const row = await gateway.lastLog()
    expect(row).toMatchObject({ ending: 'complete', amount: kind.price })
    expect(row.recipe?.lines.length).toBeGreaterThan(0)
  })
})

describe('a text to speak that is not there', () => {
  test.each([
    '{"model":"speech","voice":"v","text":"Hello"}',
    '{"model":"speech","voice":"v","input":null}',
    '{"model":"speech","input":""}',
  ])('costs nothing where the vendor refuses, and all that was sent where it speaks: %s', async (body) => {
    const { id, key } = await gateway.newAccount({ credits: Number(CREDITS) })
    upstream.answer(answerJson({ error: { message: 'input is required' } }, 400))
    expect(await send('speech', key, body)).toMatchObject({
      status: 400,
      text: expect.stringContaining('input is required'),
    })
    expect(await paidBy(id)).toBe(0n)
    upstream.answer(well('speech'))
    expect((await send('speech', key, body)).status).toBe(200)
    expect(await paidBy(id)).toBe(BigInt(body.length) * CREDIT)
  })

  test('is not sent for whom has nothing', async () => {
    const { key } = await gateway.newAccount({ credits: 0 })
    upstream.answer(well('speech'))
    expect((await send('speech', key, '{"model":"speech","voice":"v"}')).status).toBe(403)
    expect(upstream.requests).toEqual([])
  })
})

describe('a number of pictures', () => {
  const one = kindOf('images').price

  test.each<[n: string, asked: bigint]>([
    ['2', 2n],
    ['"2"', 2n],
    ['2.0', 2n],
    ['2e0', 2n],
    ['"2e0"', 2n],
    ['0', 1n],
    ['-3', 1n],
    ['null', 1n],
    ['1,"n":7', 7n],
    ['7,"n":1', 7n],
    ['" 3 "', 3n],
    ['[5]', 1n],
    ['1.5', 2n],
    ['"1_0"', 10n],
    ['"1_0e0"', 10n],
    ['1,"\\u006e":7', 7n],
  ])('that is asked for as %s holds as many, and what was made is paid [D-images-46]', async (n, asked) => {
    const { id, key } = await gateway.newAccount({ credits: Number(CREDITS) })
    let held = 0n
    upstream.answer(async (request, response) => {
      held = (await gateway.account(id)).held
      await well('images')(request, response)
    })
    const { status } = await send('images', key, `{"model":"images","prompt":"red","n":${n}}`)
    expect([status, held]).toEqual([200, asked * one])
    expect(await paidBy(id)).toBe(one)
  })

  test.each([
    '1e9',
    '"1e9"',
    '101',
    '1e400',
    '"Infinity"',
    '"inf"',
    `"${'0'.repeat(30)}100"`,
    `"${' '.repeat(30)}100"`,
    `1.${'0'.repeat(30)}`,
    `1.${'0'.repeat(300)}e2`,
  ])('that no vendor makes (%s) is refused before anything is sent', async (n) => {
    const { id, key } = await gateway.newAccount({ credits: Number(CREDITS) })
    upstream.answer(well('images'))
    expect((await send('images', key, `{"model":"images","prompt":"red","n":${n}}`)).status).toBe(400)
    expect(upstream.requests).toEqual([])
    expect(await paidBy(id)).toBe(0n)
  })
})
