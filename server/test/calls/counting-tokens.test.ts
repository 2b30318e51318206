/**
 * Counting tokens is free for those only who could call the model, and not without end
 * (docs/operating/charges.md#counting-tokens).
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { postJson } from '../gateway/client.ts'
import { putChain, putModel, putVendor } from '../gateway/gateway.ts'
import { answerJson, openScriptedUpstream, type ScriptedUpstream } from '../gateway/scripted-upstream.ts'
import { withGateway } from '../gateway/with-gateway.ts'

const { gateway, upstream } = await withGateway({
  upstreams: ['upstream'],
  environment: { SLUICE_TOKEN_COUNTS_PER_MINUTE: '4' },
  catalogue: ({ upstream }) => [
    ...putVendor('acme', upstream.url),
    putModel('m'),
    putModel('verified', { requiredVerification: 1 }),
    putChain({ model: 'm', vendor: 'acme' }),
    putChain({ model: 'verified', vendor: 'acme' }),
  ],
})

const WAYS: readonly (readonly [path: string, (model: string) => object])[] = [
  ['/v1/messages/count_tokens', (model) => ({ model, messages: [{ role: 'user', content: 'hi' }] })],
  ['/v1/responses/input_tokens', (model) => ({ model, input: 'hi' })],
]

describe.each([...WAYS, ['gemini', () => ({ contents: [{ parts: [{ text: 'hi' }] }] })] as const])(
  '%s',
  (path, body) => {
    const count = async (key: string, model = 'm') => {
      const at = path === 'gemini' ? `/v1beta/models/${model}:countTokens` : path
      const answer = await postJson(`${gateway.baseUrl}${at}`, body(model), {
        authorization: `Bearer ${key}`,
      })
      return {
        code: answer.status === 200 ? 200 : answer.body.code,
        retryAfter: answer.headers.get('retry-after'),
      }
    }

    test('is refused to an account without any right to call', async () => {
      const poor = await gateway.newAccount({ credits: 0 })
      expect(await count(poor.key)).toMatchObject({ code: 40202 })
      const off = await gateway.newAccount({ credits: 10, apiDeduction: false })
      expect(await count(off.key)).toMatchObject({ code: 40202 })
    })

    test('is refused where the model does not admit the account, and where it is suspended', async () => {
      const plain = await gateway.newAccount({ credits: 10 })
      expect(await count(plain.key, 'verified')).toMatchObject({ code: 40203 })
      const suspended = await gateway.newAccount({ credits: 10, status: 'suspended' })
      expect(await count(suspended.key)).toMatchObject({ code: 40303 })
    })

    test('has a window of its own', async () => {
      const person = await gateway.newAccount({ credits: 10 })
      const codes: unknown[] = []
      for (let times = 0; times < 5; times += 1) codes.push((await count(person.key)).code)
      expect(codes).toEqual([200, 200, 200, 200, 42902])
      expect(Number((await count(person.key)).retryAfter)).toBeGreaterThan(0)
      expect(upstream.requests).toHaveLength(0)
    })
  },
)

describe('over an upstream that counts', () => {
  const messages = [{ role: 'user' as const, content: 'hi' }]
  let first: ScriptedUpstream
  let second: ScriptedUpstream

  beforeAll(async () => {
    first = await openScriptedUpstream()
    second = await openScriptedUpstream()
    await gateway.catalogue(
      ...putVendor('one', first.url, { kind: 'anthropic' }),
      ...putVendor('two', second.url, { kind: 'anthropic' }),
      putModel('counted'),
      putChain({ model: 'counted', vendor: 'one', protocol: 'messages' }),
      putChain({ model: 'counted', vendor: 'two', protocol: 'messages' }),
    )
  })
  afterAll(async () => {
    await first.close()
    await second.close()
  })

  const count = async () => {
    const { key } = await gateway.newAccount({ credits: 10 })
    return postJson(
      `${gateway.baseUrl}/v1/messages/count_tokens`,
      { model: 'counted', messages },
      { authorization: `Bearer ${key}` },
    )
  }

  test('its answer goes back as it is', async () => {
    first.answer(answerJson({ input_tokens: 4321, note: 'as it is' }))
    expect((await count()).body).toEqual({ input_tokens: 4321, note: 'as it is' })
  })

  test('one that fails is followed by the next chain', async () => {
    first.answer(answerJson({ error: { message: 'busy' } }, 503))
    second.answer(answerJson({ input_tokens: 77 }))
    expect((await count()).body).toEqual({ input_tokens: 77 })
  })

  test('where all fail the gateway counts itself, and no chain is blamed', async () => {
    first.answer(answerJson({ error: { message: 'busy' } }, 503))
    second.answer(answerJson({ error: { message: 'busy' } }, 503))
    const { status, body } = await count()
    expect([status, typeof body['input_tokens']]).toEqual([200, 'number'])
    first.answer(answerJson({ input_tokens: 1 }))
    expect((await count()).body).toEqual({ input_tokens: 1 })
  })
})
