/**
 * Calls that run together never take an account further below zero than one of them could alone
 * (docs/decisions/0016-lending-to-one-call.md).
 */
import { beforeEach, describe, expect, test } from 'vitest'
import { type Answer, postJson } from '../gateway/client.ts'
import { putChain, putModel, putVendor } from '../gateway/gateway.ts'
import { type Answerer, answerOk } from '../gateway/scripted-upstream.ts'
import { withGateway } from '../gateway/with-gateway.ts'

const CREDIT = 1_000_000n
const CALLS = 60
/** 30 yuan a million output tokens are 30 Credits a thousand. */
const OUTPUT_MAX = 16_000
/** 16 000 tokens written, or 30 000 in many answers, or 50 000 read. */
const DEBT_MAX = 901n * CREDIT

type Bill = Parameters<typeof answerOk>[0]
const output = (tokens: number): Bill => ({ prompt_tokens: 10, completion_tokens: tokens })
const READS_ALL: Bill = { prompt_tokens: 50_000, completion_tokens: 16 }

const { gateway, upstream } = await withGateway({
  upstreams: ['upstream'],
  catalogue: ({ upstream }) => [...putVendor('acme', upstream.url)],
})

beforeEach(() => {
  upstream.requests.splice(0)
})

async function newModel(id: string): Promise<void> {
  await gateway.catalogue(
    putModel(id, { maxOutputTokens: OUTPUT_MAX, contextTokens: 50_000 }),
    putChain({ model: id, vendor: 'acme' }),
  )
}

const call = (key: string, model: string, fields: object): Promise<Answer> =>
  postJson(
    `${gateway.baseUrl}/v1/chat/completions`,
    { model, messages: [{ role: 'user', content: 'hi' }], ...fields },
    { authorization: `Bearer ${key}` },
  )

/** All at once: no call is answered before each has reached the upstream or was refused. */
async function callTogether(
  key: string,
  model: string,
  fields: object,
  bill: Bill,
): Promise<readonly Answer[]> {
  let open: () => void = () => undefined
  const gate = new Promise<void>((resolve) => {
    open = resolve
  })
  let refused = 0
  const arrive = () => {
    if (refused + upstream.requests.length === CALLS) open()
  }
  const answer: Answerer = async (request, response) => {
    arrive()
    await gate
    await answerOk(bill)(request, response)
  }
  upstream.answer(answer)
  return Promise.all(
    Array.from({ length: CALLS }, async () => {
      const told = await call(key, model, fields)
      if (told.status !== 200) {
        refused += 1
        arrive()
      }
      return told
    }),
  )
}

describe('sixty calls at once on a thousand Credits', () => {
  test.each<readonly [trick: string, fields: object, bill: Bill]>([
    ['without a cap', {}, output(OUTPUT_MAX)],
    [
      'that read a file kept at the vendor',
      { max_tokens: 16, messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'f' } }] }] },
      READS_ALL,
    ],
    ['that let the vendor search the web', { max_tokens: 16, web_search_options: {} }, READS_ALL],
    ['that ask for many answers, as text', { max_tokens: 500, n: '60' }, output(30_000)],
    [
      'that name a small cap and a large one',
      { max_tokens: 1, max_completion_tokens: 16_000 },
      output(OUTPUT_MAX),
    ],
    ['that name a cap as text', { max_tokens: '1' }, output(OUTPUT_MAX)],
  ])('%s', async (trick, fields, bill) => {
    await newModel(trick)
    const person = await gateway.newAccount({ credits: 1_000 })
    const answers = await callTogether(person.key, trick, fields, bill)
    const refusals = answers.filter(({ status }) => status !== 200).map(({ body }) => body.code)
    expect(answers.some(({ status }) => status === 200)).toBe(true)
    for (const code of refusals) expect([42901, 40202]).toContain(code)
    await gateway.settled()
    expect((await gateway.account(person.id)).credits).toBeGreaterThanOrEqual(-DEBT_MAX)
  })

  test('with a cap of one token, on a chain that was seen to bill beyond one', async () => {
    await newModel('liar')
    const scout = await gateway.newAccount({ credits: 1_000 })
    upstream.answer(answerOk({ prompt_tokens: 10, completion_tokens: 5_000 }))
    expect((await call(scout.key, 'liar', { max_completion_tokens: 1 })).status).toBe(200)
    await gateway.settled()
    upstream.requests.splice(0)
    const person = await gateway.newAccount({ credits: 1_000 })
    const answers = await callTogether(person.key, 'liar', { max_completion_tokens: 1 }, output(5_000))
    // One that is held for in full, and one that is lent to.
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(2)
    expect((await gateway.account(person.id)).credits).toBeGreaterThanOrEqual(0n)
  })
})

test('a call that runs alone needs no more Credits than it will likely use', async () => {
  await newModel('alone')
  const person = await gateway.newAccount({ credits: 20 })
  upstream.answer(answerOk({ prompt_tokens: 10, completion_tokens: 10 }))
  expect((await call(person.key, 'alone', {})).status).toBe(200)
  expect((await call(person.key, 'alone', { max_tokens: 100 })).status).toBe(200)
})

test('a call that has to wait for another’s hold gets a Retry-After', async () => {
  await newModel('waits')
  const person = await gateway.newAccount({ credits: 1_000 })
  const answers = await callTogether(person.key, 'waits', {}, output(10))
  const waiting = answers.find(({ body }) => body.code === 42901)
  expect(waiting?.headers.get('retry-after')).toBe('1')
  expect(waiting?.body.message).toContain('max_tokens')
})
