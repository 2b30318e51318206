/**
 * A fault of our own, planted at every stage of the free questions, and where calls are refused: the client is answered, the
 * call is logged, and nothing is kept of it.
 */
import { afterEach, describe, expect, type Mock, test, vi } from 'vitest'
import { KINDS as VENDORS, whole } from '../gateway/answers.ts'
import { PATIENCE_MS, putChain, putModel, putVendor } from '../gateway/gateway.ts'
import { openStand } from '../gateway/open-stand.ts'
import { type Answerer, answerJson } from '../gateway/scripted-upstream.ts'
import type { Pipeline } from '../../src/pipeline/context.ts'
import { KINDS } from '../../src/pipeline/kinds/index.ts'

const { gateway, upstream } = await openStand((at) => [
  ...putVendor('acme', at.upstream, { kind: 'anthropic' }),
  ...putVendor('other', at.upstream, { kind: 'openai' }),
  putModel('counted'),
  putChain({ model: 'counted', vendor: 'acme', protocol: 'messages', forward: VENDORS.messages[1] }),
  putModel('kept'),
  putChain({ model: 'kept', vendor: 'other', protocol: 'responses', forward: VENDORS.responses[1] }),
])
afterEach(() => {
  vi.restoreAllMocks()
})

const planted = () => new Error('planted')
const fault = (): never => {
  throw planted()
}

interface Plant {
  readonly where: string
  readonly plant: (pipeline: Pipeline) => Mock
  readonly status: number
}

const messages = [{ role: 'user', content: 'Hello' }]
const headers = { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' }
const post = (path: string, body: object): Promise<Response> =>
  fetch(`${gateway.baseUrl}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })

async function expectNothingLeft(): Promise<void> {
  await gateway.settled()
  const { pipeline } = gateway.running
  expect((await gateway.account()).held).toBe(0n)
  expect(pipeline.bodyBudget.used).toBe(0)
  expect(pipeline.running.size).toBe(0)
}

test('every kind of question is here', () => {
  const questions = KINDS.filter(({ flow }) => flow !== 'exchange' && flow !== 'task').map(({ id }) => id)
  expect(questions).toEqual(['count', 'stored'])
})

describe('a count of tokens', () => {
  const PLANTS: readonly Plant[] = [
    {
      where: 'finding the key',
      plant: ({ directory }) => vi.spyOn(directory, 'find').mockRejectedValue(planted()),
      status: 500,
    },
    {
      where: 'holding the body',
      plant: ({ bodyBudget }) => vi.spyOn(bodyBudget, 'take').mockImplementation(fault),
      status: 500,
    },
    {
      where: 'looking at the account',
      plant: ({ directory }) => vi.spyOn(directory, 'findFresh').mockRejectedValueOnce(planted()),
      status: 500,
    },
    {
      where: 'counting the counts',
      plant: (pipeline) => vi.spyOn(pipeline, 'countWindow').mockImplementation(fault),
      status: 500,
    },
    {
      where: 'looking at a chain’s health',
      plant: ({ health }) => vi.spyOn(health, 'of').mockImplementation(fault),
      status: 500,
    },
    {
      where: 'asking the upstream',
      plant: ({ upstream: out }) => vi.spyOn(out, 'open').mockImplementation(fault),
      status: 500,
    },
    {
      where: 'counting the attempt',
      plant: ({ telemetry }) => vi.spyOn(telemetry.metrics, 'attemptEnded').mockImplementation(fault),
      status: 500,
    },
  ]

  test.each(PLANTS)('a fault in $where', async ({ plant, status }) => {
    upstream.answer(answerJson({ input_tokens: 7 }))
    const struck = plant(gateway.running.pipeline)
    const answer = await post('/v1/messages/count_tokens', { model: 'counted', messages })
    expect(struck).toHaveBeenCalled()
    expect(answer.status).toBe(status)
    vi.restoreAllMocks()
    await expectNothingLeft()
    const next = await post('/v1/messages/count_tokens', { model: 'counted', messages })
    expect(await next.json()).toEqual({ input_tokens: 7 })
  })
})

describe('a stored response', () => {
  const PLANTS: readonly Plant[] = [
    {
      where: 'finding the key',
      plant: ({ directory }) => vi.spyOn(directory, 'find').mockRejectedValue(planted()),
      status: 500,
    },
    {
      where: 'looking at the account',
      plant: ({ directory }) => vi.spyOn(directory, 'findFresh').mockRejectedValueOnce(planted()),
      status: 500,
    },
    {
      where: 'finding it',
      plant: ({ turns }) => vi.spyOn(turns, 'find').mockRejectedValue(planted()),
      status: 500,
    },
    {
      where: 'asking the upstream',
      plant: ({ upstream: out }) => vi.spyOn(out, 'open').mockImplementation(fault),
      status: 500,
    },
  ]

  test.each(PLANTS)('a fault in $where', async ({ plant, status }) => {
    const answered: Answerer = answerJson(whole('responses', 'Hello', { input: 1, output: 1 }))
    upstream.answer(answered)
    const made = (await (await post('/v1/responses', { model: 'kept', input: 'x' })).json()) as { id: string }
    const read = () => fetch(`${gateway.baseUrl}/v1/responses/${made.id}`, { headers })
    await vi.waitUntil(async () => (await read()).status === 200, PATIENCE_MS)
    const struck = plant(gateway.running.pipeline)
    const answer = await read()
    expect(struck).toHaveBeenCalled()
    expect(answer.status).toBe(status)
    vi.restoreAllMocks()
    await expectNothingLeft()
    expect((await read()).status).toBe(200)
  })
})

describe('a call that is refused', () => {
  const PLANTS: readonly Omit<Plant, 'status'>[] = [
    {
      where: 'looking at the account',
      plant: ({ directory }) => vi.spyOn(directory, 'findFresh').mockRejectedValueOnce(planted()),
    },
    {
      where: 'counting its end',
      plant: (pipeline) => vi.spyOn(pipeline, 'observeEnd').mockImplementation(fault),
    },
    {
      where: 'writing its row',
      plant: ({ storage }) => vi.spyOn(storage.calls, 'log').mockRejectedValue(planted()),
    },
  ]

  test.each(PLANTS)('a fault in $where', async ({ where, plant }) => {
    const { pipeline } = gateway.running
    const errors = vi.spyOn(pipeline.telemetry.log, 'error')
    const warnings = vi.spyOn(pipeline.telemetry.log, 'warn')
    const struck = plant(pipeline)
    const answer = await post('/v1/chat/completions', { model: 'unknown', messages })
    expect(struck).toHaveBeenCalled()
    expect([500, 502]).toContain(answer.status)
    await answer.text()
    await expectNothingLeft()
    expect([...errors.mock.calls, ...warnings.mock.calls]).toHaveLength(1)
    if (where !== 'writing its row')
      expect((await gateway.lastLog()).requestId).toBe(answer.headers.get('x-request-id'))
  })
})
