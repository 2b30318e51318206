/** Calls that run together on less than their worst case (docs/operating/charges.md, What is held). */
import { describe, expect, test } from 'vitest'
import { type Answer, postJson } from '../gateway/client.ts'
import { putChain, putModel, putVendor } from '../gateway/gateway.ts'
import { type Answerer, answerOk } from '../gateway/scripted-upstream.ts'
import { credits } from '../../src/core/calls/examples.ts'
import { withGateway } from '../gateway/with-gateway.ts'

/** 10 yuan a million tokens in, 30 out; 1000 Credits to the yuan. */
const { gateway, upstream } = await withGateway({
  upstreams: ['upstream'],
  catalogue: ({ upstream }) => [
    ...putVendor('acme', upstream.url),
    putModel('m', { contextTokens: 200_000, maxOutputTokens: 64_000 }),
    putChain({ model: 'm', vendor: 'acme' }),
    putModel('covered', { contextTokens: 200_000, maxOutputTokens: 64_000, subscriptionCovered: true }),
    putChain({ model: 'covered', vendor: 'acme' }),
  ],
})

function chat(key: string, fields: object = {}, model = 'm'): Promise<Answer> {
  return postJson(
    `${gateway.baseUrl}/v1/chat/completions`,
    { model, messages: [{ role: 'user', content: 'Hi' }], ...fields },
    { authorization: `Bearer ${key}` },
  )
}

const said = ({ status, body, headers }: Answer): readonly unknown[] =>
  status === 200 ? [200] : [status, body.code, headers.get('retry-after')]

/** Every call waits at the upstream until it is let go. */
function gate(answer: Answerer): { readonly waiting: () => number; open(): void } {
  const waiting: (() => void)[] = []
  let isOpen = false
  upstream.answer(async (request, response) => {
    if (!isOpen) await new Promise<void>((resolve) => waiting.push(resolve))
    await answer(request, response)
  })
  return {
    waiting: () => waiting.length,
    open() {
      isOpen = true
      for (const go of waiting.splice(0)) go()
    },
  }
}

/** So many requests have reached the upstream. */
async function arrived(count: () => number, wanted: number): Promise<void> {
  while (count() < wanted) await new Promise((resolve) => setImmediate(resolve))
}

const LIKELY = { prompt_tokens: 1_000, completion_tokens: 1_000 }
const WORST = { prompt_tokens: 1_000, completion_tokens: 64_000 }

describe('Credits that have less than the worst case of a call', () => {
  test('run one such call at a time, and cheap ones beside it', async () => {
    const small = await gateway.newAccount({ credits: 500 })
    const upstreamGate = gate(answerOk(LIKELY))
    const expensive = chat(small.key)
    await arrived(upstreamGate.waiting, 1)
    expect(said(await chat(small.key))).toEqual([429, 42901, '1'])
    const cheap = chat(small.key, { max_tokens: 100 })
    await arrived(upstreamGate.waiting, 2)
    upstreamGate.open()
    expect([said(await expensive), said(await cheap)]).toEqual([[200], [200]])
    await gateway.settled()
    expect(said(await chat(small.key))).toEqual([200])
  })

  test('many at once take an account no further below zero than one of them could alone', async () => {
    const small = await gateway.newAccount({ credits: 500 })
    const upstreamGate = gate(answerOk(WORST))
    let ended = 0
    const calls = Array.from({ length: 12 }, async () => {
      const answer = said(await chat(small.key))
      ended += 1
      return answer
    })
    await arrived(() => ended, 11)
    expect(upstreamGate.waiting()).toBe(1)
    upstreamGate.open()
    const answers = await Promise.all(calls)
    expect(answers.filter(([status]) => status === 200)).toHaveLength(1)
    expect(answers.filter(([status, code]) => status === 429 && code === 42901)).toHaveLength(11)
    await gateway.settled()
    expect((await gateway.account(small.id)).credits).toBe(credits(500 - 10 - 1_920))
    expect(said(await chat(small.key)).slice(0, 2)).toEqual([403, 40202])
  })

  test('run as many as they can hold for in full', async () => {
    const rich = await gateway.newAccount({ credits: 5_000 })
    const upstreamGate = gate(answerOk(LIKELY))
    const calls = Array.from({ length: 3 }, async () => said(await chat(rich.key)))
    await arrived(upstreamGate.waiting, 3)
    upstreamGate.open()
    expect(await Promise.all(calls)).toEqual([[200], [200], [200]])
  })
})

describe('a quota that has less than the worst case of a call', () => {
  const subscriber = (apiDeduction: boolean) =>
    gateway.newAccount({
      credits: 100_000,
      apiDeduction,
      subscription: {
        plan: 'PRO',
        level: 2,
        expiresAt: Date.now() + 86_400_000,
        quota: [{ credits: credits(500), seconds: 3_600 }],
      },
    })

  test('pays for one such call at a time, so that it is overrun by one at the most', async () => {
    const account = await subscriber(false)
    const upstreamGate = gate(answerOk(WORST))
    const first = chat(account.key, {}, 'covered')
    await arrived(upstreamGate.waiting, 1)
    expect(said(await chat(account.key, {}, 'covered'))).toEqual([429, 42905, '1'])
    const cheap = chat(account.key, { max_tokens: 100 }, 'covered')
    await arrived(upstreamGate.waiting, 2)
    upstreamGate.open()
    expect([said(await first), said(await cheap)]).toEqual([[200], [200]])
    await gateway.settled()
    expect(said(await chat(account.key, { max_tokens: 1 }, 'covered')).slice(0, 2)).toEqual([429, 42905])
  })

  test('leaves the next one to Credits where they may pay', async () => {
    const account = await subscriber(true)
    const upstreamGate = gate(answerOk(LIKELY))
    const calls = Array.from({ length: 2 }, async (_, index) => {
      await arrived(upstreamGate.waiting, index)
      return said(await chat(account.key, {}, 'covered'))
    })
    await arrived(upstreamGate.waiting, 2)
    upstreamGate.open()
    expect(await Promise.all(calls)).toEqual([[200], [200]])
    const rows = (await gateway.logs(2)).map(({ subscriptionCovered }) => subscriptionCovered)
    expect(rows.filter((isCovered) => isCovered)).toHaveLength(1)
  })
})
