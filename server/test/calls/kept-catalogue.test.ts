/** A call sees the catalogue as it stood when it came: nothing that changes while it lasts decides about it. */
import { request as httpRequest } from 'node:http'
import { describe, expect, test, vi } from 'vitest'
import { type Answer, postJson } from '../gateway/client.ts'
import { putChain, putGroup, putModel, putVendor, TOKEN_PRICES } from '../gateway/gateway.ts'
import { answerOk } from '../gateway/scripted-upstream.ts'
import type { CatalogueChange } from '../../src/storage/stores/records.ts'
import { withGateway } from '../gateway/with-gateway.ts'

const { gateway, upstream } = await withGateway({
  upstreams: ['upstream'],
  catalogue: ({ upstream }) => standing(upstream.url),
})

/** What every row begins with. */
function standing(url: string): readonly CatalogueChange[] {
  return [
    ...putVendor('acme', url),
    putModel('steady'),
    putChain({ model: 'steady', vendor: 'acme', forward: 'steady-at-acme' }),
    putGroup({ name: 'bound', protocol: 'chat', models: ['steady'] }),
  ]
}

const BOUND = await gateway.newKey(gateway.accountId, { group: 'bound' })

/** Sends the head and the first half of a call, which has come then; `finish` sends the rest and waits for the answer. */
async function beginCall(path: string, body: Readonly<Record<string, unknown>>, key = BOUND.key) {
  const text = JSON.stringify(body)
  const half = Math.floor(text.length / 2)
  const request = httpRequest(`${gateway.baseUrl}${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
    },
  })
  const status = new Promise<number | undefined>((resolve, reject) => {
    request.on('error', reject)
    request.on('response', (response) => {
      response.resume()
      response.on('end', () => resolve(response.statusCode))
    })
  })
  await vi.waitUntil(() => gateway.running.openCalls() === 0)
  request.write(text.slice(0, half))
  await vi.waitUntil(() => gateway.running.openCalls() === 1)
  return {
    finish: () => {
      request.end(text.slice(half))
      return status
    },
  }
}

const ASKED = { model: 'steady', messages: [{ role: 'user', content: 'Say hello.' }] }
const ask = (): Promise<Answer> =>
  postJson(`${gateway.baseUrl}/v1/chat/completions`, ASKED, { authorization: `Bearer ${BOUND.key}` })

interface Row {
  readonly change: string
  readonly to: CatalogueChange
  /** What the next call gets. */
  readonly after: number
}

const ROWS: readonly Row[] = [
  { change: 'its model is switched off', to: putModel('steady', { status: 'disabled' }), after: 502 },
  {
    change: 'its group loses the model',
    to: putGroup({ name: 'bound', protocol: 'chat', models: [] }),
    after: 403,
  },
  {
    change: 'its group is bound to another protocol',
    to: putGroup({ name: 'bound', protocol: 'messages', models: ['steady'] }),
    after: 403,
  },
]

describe('while the body of a call is on its way', () => {
  test.each(ROWS)('$change: the call is answered, the next one is refused', async ({ to, after }) => {
    await gateway.catalogue(...standing(upstream.url))
    upstream.script(answerOk({ prompt_tokens: 1, completion_tokens: 1 }))
    const call = await beginCall('/v1/chat/completions', ASKED)
    await gateway.catalogue(to)
    expect(await call.finish()).toBe(200)
    expect((await ask()).status).toBe(after)
  })

  test('its price changes: the call costs what it cost when it came', async () => {
    await gateway.catalogue(...standing(upstream.url))
    upstream.answer(answerOk({ prompt_tokens: 1_000, completion_tokens: 1_000 }))
    await ask()
    await gateway.settled()
    const { amount } = await gateway.lastLog()
    const call = await beginCall('/v1/chat/completions', ASKED)
    await gateway.catalogue(
      putModel('steady', { pricing: { ...TOKEN_PRICES, inputPrice: '1000', outputPrice: '1000' } }),
    )
    expect(await call.finish()).toBe(200)
    await gateway.settled()
    expect((await gateway.lastLog()).amount).toBe(amount)
    await ask()
    await gateway.settled()
    expect((await gateway.lastLog()).amount).toBeGreaterThan(amount)
  })

  test('a count of tokens keeps it too', async () => {
    await gateway.catalogue(...standing(upstream.url))
    const asked = { model: 'steady', input: 'Say hello.' }
    const count = await beginCall('/v1/responses/input_tokens', asked, gateway.key)
    await gateway.catalogue(putModel('steady', { status: 'disabled' }))
    expect(await count.finish()).toBe(200)
  })
})
