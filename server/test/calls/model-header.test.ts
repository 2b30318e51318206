/** `Gw-Model` stands on every answer to a call whose model is known, refusals and failures too. */
import { describe, expect, test } from 'vitest'
import { type Answer, get, postJson } from '../gateway/client.ts'
import { putChain, putModel, putVendor } from '../gateway/gateway.ts'
import { answerJson, answerOk, cutStream, staySilent } from '../gateway/scripted-upstream.ts'
import { modelId } from '../../src/core/ids.ts'
import { withGateway } from '../gateway/with-gateway.ts'

const { gateway, upstream } = await withGateway({
  upstreams: ['upstream'],
  catalogue: ({ upstream }) => [
    ...putVendor('acme', upstream.url),
    ...putVendor('hasty', upstream.url, { timeouts: { firstByteMs: 300 } }),
    putModel('silent'),
    putChain({ model: 'silent', vendor: 'hasty' }),
    ...['known', 'spare', 'hidden', 'für-alle'].flatMap((id) => [
      putModel(id, { clientVisible: id !== 'hidden' }),
      putChain({ model: id, vendor: 'acme' }),
    ]),
    putModel('for-enterprises', { requiredVerification: 2 }),
    putChain({ model: 'for-enterprises', vendor: 'acme' }),
    putModel('chainless'),
    putModel('off', { status: 'disabled' }),
  ],
})

async function ask(
  model: string,
  { key = gateway.key, path = 'chat/completions', body = {} } = {},
): Promise<Answer> {
  const answer = await postJson(
    `${gateway.baseUrl}/v1/${path}`,
    { model, messages: [{ role: 'user', content: 'x' }], ...body },
    { authorization: `Bearer ${key}` },
  )
  await gateway.resetHealth()
  return answer
}

interface Row {
  readonly what: string
  readonly status: number
  readonly model: string | null
  readonly answer: () => Promise<Answer>
}

const ROWS: readonly Row[] = [
  {
    what: 'an answer',
    status: 200,
    model: 'known',
    answer: () => {
      upstream.script(answerOk({ prompt_tokens: 1, completion_tokens: 1 }))
      return ask('known')
    },
  },
  {
    what: "an upstream's refusal of the request",
    status: 400,
    model: 'known',
    answer: () => {
      upstream.script(answerJson({ error: { message: 'no', type: 'invalid_request_error' } }, 400))
      return ask('known')
    },
  },
  {
    what: "an upstream's failure",
    status: 500,
    model: 'known',
    answer: () => {
      upstream.script(answerJson({ error: { message: 'no', type: 'server_error' } }, 500))
      return ask('known')
    },
  },
  {
    what: "an upstream's refusal of the credential",
    status: 502,
    model: 'known',
    answer: () => {
      upstream.script(answerJson({ error: { message: 'no' } }, 401))
      return ask('known')
    },
  },
  {
    what: 'a time-out',
    status: 504,
    model: 'silent',
    answer: () => {
      upstream.script(staySilent)
      return ask('silent')
    },
  },
  {
    what: 'a stream that breaks before it begins',
    status: 502,
    model: 'known',
    answer: () => {
      upstream.script(cutStream([]))
      return ask('known', { body: { stream: true } })
    },
  },
  {
    what: 'a request that cannot be converted',
    status: 400,
    model: 'known',
    answer: () => ask('known', { path: 'responses', body: { input: [7] } }),
  },
  { what: 'no chain', status: 502, model: 'chainless', answer: () => ask('chainless') },
  { what: 'admission', status: 403, model: 'for-enterprises', answer: () => ask('for-enterprises') },
  {
    what: 'a limit',
    status: 429,
    model: 'known',
    answer: async () => {
      const policy = {
        concurrency: undefined,
        windows: [{ dimension: 'requests', limit: 0, seconds: 60 }],
      } as const
      return ask('known', { key: (await gateway.newKey(gateway.accountId, { policy })).key })
    },
  },
  {
    what: 'nothing that could pay',
    status: 403,
    model: 'known',
    answer: async () => ask('known', { key: (await gateway.newAccount({ apiDeduction: false })).key }),
  },
  {
    what: 'a model that the key may not call',
    status: 403,
    model: 'known',
    answer: async () =>
      ask('known', { key: (await gateway.newKey(gateway.accountId, { models: [modelId('spare')] })).key }),
  },
  {
    what: 'a count of tokens',
    status: 200,
    model: 'known',
    answer: () => ask('known', { path: 'messages/count_tokens' }),
  },
  {
    what: 'a name that is no ASCII',
    status: 200,
    model: 'f%C3%BCr-alle',
    answer: () => {
      upstream.script(answerOk({ prompt_tokens: 1, completion_tokens: 1 }))
      return ask('für-alle')
    },
  },
  {
    what: 'such a name, counted',
    status: 200,
    model: 'f%C3%BCr-alle',
    answer: () => ask('für-alle', { path: 'messages/count_tokens' }),
  },
]

test.each(ROWS)('$what: $status with $model [D-requests-37]', async ({ status, model, answer }) => {
  const { status: got, headers } = await answer()
  expect([got, headers.get('gw-model')]).toEqual([status, model])
})

describe('is left out', () => {
  test.each([
    ['for a name nobody has', 'nobody', 502],
    ['for a model that is switched off', 'off', 502],
  ])('%s', async (_what, model, status) => {
    const answer = await ask(model)
    expect([answer.status, answer.headers.get('gw-model')]).toEqual([status, null])
  })

  test('where it would give away that a hidden model is there', async () => {
    const { key } = await gateway.newKey(gateway.accountId, { models: [modelId('spare')] })
    for (const model of ['hidden', 'nobody']) {
      const answer = await ask(model, { key })
      expect([answer.status, answer.headers.get('gw-model')]).toEqual([403, null])
    }
    upstream.script(answerOk({ prompt_tokens: 1, completion_tokens: 1 }))
    expect((await ask('hidden')).headers.get('gw-model')).toBe('hidden')
  })

  test('before a key is known', async () => {
    const answer = await ask('known', { key: 'sk-gateway-nobody' })
    expect([answer.status, answer.headers.get('gw-model')]).toEqual([401, null])
  })
})

test('the upstream that failed names its model although a fallback was tried [D-requests-37]', async () => {
  const { key } = await gateway.newAccount({ credits: 1_000, fallbackModel: modelId('spare') })
  const failing = answerJson({ error: { message: 'no', type: 'server_error' } }, 500)
  upstream.script(failing, failing)
  const answer = await ask('known', { key })
  expect([answer.status, answer.headers.get('gw-model')]).toEqual([500, 'known'])
})

test('a kept response that is read again names it [D-requests-37]', async () => {
  upstream.script(answerOk({ prompt_tokens: 1, completion_tokens: 1 }))
  const made = await ask('known', { path: 'responses', body: { input: 'x' } })
  const url = `${gateway.baseUrl}/v1/responses/${String(made.body['id'])}`
  const read = await get(url, { authorization: `Bearer ${gateway.key}` })
  expect([read.status, read.headers.get('gw-model')]).toEqual([200, 'known'])
})
