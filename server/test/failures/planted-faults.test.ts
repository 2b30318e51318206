/**
 * A fault of our own, planted at every stage after a call was let in: the call still ends as settled or abandoned, is
 * logged, gives back what it holds, and no whole answer is free because of it.
 */
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { hello, KINDS, streamed, whole } from '../gateway/answers.ts'
import { putChain, putCredential, putModel, putVendor } from '../gateway/gateway.ts'
import type { Pipeline } from '../../src/pipeline/context.ts'
import { StorageUnavailable } from '../../src/storage/failures/unavailable.ts'
import { withGateway } from '../gateway/with-gateway.ts'

const COST = { input: 200, output: 3_000 }
const TEXT = 'The answer is forty-two.'
/** 200 × 10 + 3 000 × 30 yuan a million, at 1 000 Credits a yuan. */
const AMOUNT = 92_000_000n

const { gateway, upstream } = await withGateway({
  upstreams: ['upstream'],
})

beforeAll(async () => {
  for (const protocol of ['responses', 'messages'] as const) {
    const [kind, forward] = KINDS[protocol]
    await gateway.catalogue(
      ...putVendor(`v-${protocol}`, upstream.url, { kind }),
      // A credential with a limit, so that calls take a place on it.
      putCredential(`v-${protocol}`, 'main', { concurrency: 1, windows: [] }),
      putModel(`over-${protocol}`),
      putChain({ model: `over-${protocol}`, vendor: `v-${protocol}`, protocol, forward }),
    )
  }
})
afterEach(() => {
  vi.restoreAllMocks()
})

const fault = (): never => {
  throw new Error('planted')
}

interface Plant {
  readonly where: string
  readonly plant: (gateway: Pipeline) => void
  /** The fault strikes before anything is sent or told: the client gets an error. */
  readonly refuses?: true
  /** Not every form comes by there. */
  readonly sometimes?: true
  /** The upstream tells no usage, so that it has to be counted. */
  readonly silent?: true
}

const PLANTS: readonly Plant[] = [
  {
    where: 'counting an open call',
    plant: ({ telemetry }) => vi.spyOn(telemetry.metrics, 'callReserved').mockImplementation(fault),
    refuses: true,
  },
  {
    where: 'counting a closed call',
    plant: ({ telemetry }) => {
      const released = telemetry.metrics.callReleased
      vi.spyOn(telemetry.metrics, 'callReleased').mockImplementationOnce((held) => {
        released(held)
        fault()
      })
    },
  },
  {
    where: 'counting an attempt',
    plant: ({ telemetry }) => vi.spyOn(telemetry.metrics, 'attemptEnded').mockImplementation(fault),
  },
  {
    where: 'counting a first byte',
    plant: ({ telemetry }) => vi.spyOn(telemetry.metrics, 'firstByte').mockImplementation(fault),
  },
  {
    where: 'counting an ended call',
    plant: (gateway) => vi.spyOn(gateway, 'observeEnd').mockImplementation(fault),
  },
  {
    where: 'looking at a chain’s health',
    plant: ({ health }) => vi.spyOn(health, 'of').mockImplementation(fault),
    refuses: true,
  },
  {
    where: 'beginning with a chain',
    plant: ({ health }) => vi.spyOn(health, 'begin').mockImplementation(fault),
    refuses: true,
  },
  {
    where: 'opening the exchange',
    plant: ({ upstream: out }) => vi.spyOn(out, 'open').mockImplementation(fault),
    refuses: true,
  },
  {
    where: 'claiming the credential',
    plant: ({ storage }) => vi.spyOn(storage.calls, 'claim').mockRejectedValue(new Error('planted')),
    refuses: true,
  },
  {
    where: 'the turns of the pulse',
    plant: ({ pulse }) => vi.spyOn(pulse, 'add').mockImplementation(fault),
    refuses: true,
  },
  {
    where: 'the first word’s turn',
    sometimes: true,
    plant: ({ pulse }) => vi.spyOn(pulse, 'soon').mockImplementation(fault),
  },
  {
    where: 'noting where it stands',
    sometimes: true,
    plant: (gateway) => vi.spyOn(gateway, 'progress').mockImplementation(fault),
  },
  {
    where: 'remembering the answer',
    sometimes: true,
    plant: ({ turns }) => vi.spyOn(turns, 'keep').mockImplementation(fault),
  },
  {
    where: 'observing the chain',
    plant: ({ observations }) => vi.spyOn(observations, 'finished').mockImplementation(fault),
  },
  {
    where: 'asking for a rate',
    plant: ({ observations }) => vi.spyOn(observations, 'outputRate').mockImplementation(fault),
    silent: true,
  },
  {
    where: 'asking for any rate',
    plant: ({ observations }) => vi.spyOn(observations, 'expectedRate').mockImplementation(fault),
    silent: true,
  },
  { where: 'reading the prices', plant: ({ terms }) => vi.spyOn(terms, 'terms').mockImplementation(fault) },
  {
    where: 'counting the output',
    plant: ({ tokens }) => vi.spyOn(tokens, 'count').mockImplementation(fault),
    silent: true,
  },
  {
    where: 'counting the input',
    plant: ({ tokens }) => vi.spyOn(tokens, 'countLong').mockRejectedValue(new Error('planted')),
    silent: true,
  },
  {
    where: 'finding the month of the charge',
    plant: (gateway) => {
      const monthOf = gateway.monthOf
      let asked = 0
      vi.spyOn(gateway, 'monthOf').mockImplementation((...given) => {
        asked += 1
        return asked === 1 ? monthOf(...given) : fault()
      })
    },
  },
]

const FORMS = [
  { form: 'a passed stream', client: 'responses', stream: true },
  { form: 'a passed whole answer', client: 'responses', stream: false },
  { form: 'a converted stream', client: 'messages', stream: true },
  { form: 'a converted whole answer', client: 'messages', stream: false },
] as const

const CELLS = PLANTS.flatMap((plant) => FORMS.map((form) => ({ ...plant, ...form })))

function withoutUsage(text: string): string {
  return text.replace(/"usage":\{[^}]*\}/g, '"usage":null')
}

function answer(stream: boolean, silent: boolean): void {
  upstream.answer((_request, response) => {
    response.writeHead(200, { 'content-type': stream ? 'text/event-stream' : 'application/json' })
    const pieces = streamed('responses', TEXT, COST)
    const text = stream ? pieces.prelude + pieces.text + pieces.end : whole('responses', TEXT, COST)
    response.end(silent ? withoutUsage(text) : text)
  })
}

async function call(client: 'responses' | 'messages', stream: boolean, key: string): Promise<Response> {
  const { path, body } = hello(client, 'over-responses', { stream })
  return fetch(`${gateway.baseUrl}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body,
  })
}

describe('a fault of our own', () => {
  test.each(CELLS)('in $where: $form', async ({ plant, client, stream, refuses, sometimes, silent }) => {
    const { pipeline } = gateway.running
    const { id, key } = await gateway.newAccount({ keyFields: { policy: { concurrency: 1, windows: [] } } })
    await gateway.resetHealth()
    answer(stream, silent === true)
    const errors = vi.spyOn(pipeline.telemetry.log, 'error')
    plant(pipeline)
    const answered = await call(client, stream, key)
    const text = await answered.text()
    const log = await gateway.lastLog()
    expect(log.requestId).toBe(answered.headers.get('x-request-id'))
    if (refuses === true) {
      expect([answered.status, log.httpStatus, log.amount]).toEqual([500, 500, 0n])
      expect(text).toContain('50000')
    } else {
      expect([answered.status, log.httpStatus]).toEqual([200, 200])
      expect(text).toContain('forty-two')
      if (silent === true) expect(log.amount).toBeGreaterThan(0n)
      else expect(log.amount).toBe(AMOUNT)
    }
    if (sometimes !== true) expect(errors).toHaveBeenCalled()
    vi.restoreAllMocks()
    expect((await gateway.account(id)).held).toBe(0n)
    expect(pipeline.bodyBudget.used).toBe(0)
    expect(/^sluice_open_calls .*$/m.exec(await pipeline.telemetry.metrics.render())?.[0]).toBe(
      'sluice_open_calls 0',
    )
    // Its slot and the credential's place are free again.
    const next = await call(client, stream, key)
    expect(next.status).toBe(200)
    await next.text()
    await gateway.settled()
  })

  test.each(FORMS)('a charge whose connection is lost is written before the end of $form', async (form) => {
    const { calls } = gateway.running.pipeline.storage
    const { id, key } = await gateway.newAccount()
    await gateway.resetHealth()
    answer(form.stream, false)
    const settle = calls.settle
    const written: unknown[] = []
    vi.spyOn(calls, 'settle')
      .mockImplementation(async (operation) => {
        const outcome = await settle(operation)
        written.push(outcome)
        return outcome
      })
      .mockRejectedValueOnce(new StorageUnavailable('the connection was lost in the middle'))
    const answered = await call(form.client, form.stream, key)
    expect(await answered.text()).toContain('forty-two')
    expect(written).toMatchObject([{ first: true, deducted: AMOUNT }])
    await gateway.settled()
    expect((await gateway.account(id)).held).toBe(0n)
  })
})
