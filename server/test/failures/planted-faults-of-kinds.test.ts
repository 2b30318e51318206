/**
 * A fault of our own, planted at every stage of every call that is no conversation, as it passes and as it is written anew:
 * the call ends once, is logged, gives back what it holds, and no answer is free because of it.
 */
import { afterEach, beforeAll, describe, expect, type Mock, test, vi } from 'vitest'
import { waveFile } from '../calls/wave-file.ts'
import { NO_TOKEN_PRICES, putChain, putCredential, putModel, putVendor } from '../gateway/gateway.ts'
import { openStand } from '../gateway/open-stand.ts'
import { PNG, toldBy } from '../matrix/kind-answers.ts'
import {
  type CallName,
  chainProtocolOf,
  forwardOf,
  KIND_CELLS,
  type KindCell,
  kindCellId,
} from '../matrix/kinds.ts'
import type { Pipeline } from '../../src/pipeline/context.ts'
import { KINDS } from '../../src/pipeline/kinds/index.ts'

/** Of each kind one vendor that takes its form, one for which it is written anew, and each with a form for some models. */
const CELLS = KIND_CELLS.filter(
  ({ call, how }, index) =>
    call.models !== undefined ||
    index === KIND_CELLS.findIndex((one) => one.call.protocol === call.protocol && one.how === how),
)
const modelOf = ({ name, vendor }: KindCell) => `${name.replaceAll(' ', '-')}-${vendor}`
const ONE_AT_A_TIME = { concurrency: 1, windows: [] }

/** By the call, and by the token where one is told or counted. */
const PRICING = {
  ...NO_TOKEN_PRICES,
  billingModes: ['request', 'token'],
  requestPrice: '0.01',
  inputPrice: '10',
  outputPrice: '30',
} as const
const CALL_PRICE = 10_000_000n

const { gateway, upstream } = await openStand((at) => [
  ...[...new Set(CELLS.map(({ vendor }) => vendor))].flatMap((kind) => [
    ...putVendor(kind, at.upstream, { kind }),
    putCredential(kind, 'main', ONE_AT_A_TIME),
  ]),
  ...CELLS.flatMap((cell) => [
    putModel(modelOf(cell), { pricing: PRICING }),
    putChain({
      model: modelOf(cell),
      vendor: cell.vendor,
      protocol: chainProtocolOf(cell.call),
      forward: forwardOf(cell.call),
    }),
  ]),
])
afterEach(() => {
  vi.restoreAllMocks()
})

const planted = () => new Error('planted')
const fault = (): never => {
  throw planted()
}

/** True once the call is reserved: what a stage before reads as well fails from then on. */
function reservation({ telemetry: { metrics } }: Pipeline): () => boolean {
  const { callReserved } = metrics
  let reserved = false
  vi.spyOn(metrics, 'callReserved').mockImplementation((held) => {
    reserved = true
    callReserved(held)
  })
  return () => reserved
}

interface Plant {
  readonly where: string
  readonly plant: (pipeline: Pipeline) => Mock
  /** The fault strikes before the call is sent: the client gets an error. */
  readonly refuses?: true
}

const PLANTS: readonly Plant[] = [
  {
    where: 'holding the body',
    plant: ({ bodyBudget }) => vi.spyOn(bodyBudget, 'take').mockImplementation(fault),
    refuses: true,
  },
  {
    where: 'admitting the call',
    plant: ({ models }) => vi.spyOn(models, 'terms').mockImplementation(fault),
    refuses: true,
  },
  {
    where: 'working on a form in a thread',
    plant: ({ conversions }) => vi.spyOn(conversions, 'run').mockRejectedValue(planted()),
    refuses: true,
  },
  {
    where: 'reserving',
    plant: ({ storage }) => vi.spyOn(storage.calls, 'reserve').mockRejectedValue(planted()),
    refuses: true,
  },
  {
    where: 'counting an open call',
    plant: ({ telemetry }) => vi.spyOn(telemetry.metrics, 'callReserved').mockImplementation(fault),
    refuses: true,
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
    where: 'claiming the credential',
    plant: ({ storage }) => vi.spyOn(storage.calls, 'claim').mockRejectedValue(planted()),
    refuses: true,
  },
  {
    where: 'opening the exchange',
    plant: ({ upstream: out }) => vi.spyOn(out, 'open').mockImplementation(fault),
    refuses: true,
  },
  {
    where: 'calling an address that the vendor named',
    plant: (pipeline) => vi.spyOn(pipeline, 'openRemote').mockImplementation(fault),
    refuses: true,
  },
  {
    where: 'the turns of the pulse',
    plant: ({ pulse }) => vi.spyOn(pulse, 'add').mockImplementation(fault),
    refuses: true,
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
    where: 'reading the prices',
    plant: (pipeline) => {
      const isReserved = reservation(pipeline)
      const { terms } = pipeline.terms
      return vi
        .spyOn(pipeline.terms, 'terms')
        .mockImplementation((text) => (isReserved() ? fault() : terms(text)))
    },
  },
  {
    where: 'finding the month of the charge',
    plant: (pipeline) => {
      const isReserved = reservation(pipeline)
      const { monthOf } = pipeline
      return vi
        .spyOn(pipeline, 'monthOf')
        .mockImplementation((...given) => (isReserved() ? fault() : monthOf(...given)))
    },
  },
  {
    where: 'counting an ended call',
    plant: (pipeline) => vi.spyOn(pipeline, 'observeEnd').mockImplementation(fault),
  },
  {
    where: 'counting a closed call',
    plant: ({ telemetry }) => {
      const released = telemetry.metrics.callReleased
      return vi.spyOn(telemetry.metrics, 'callReleased').mockImplementationOnce((held) => {
        released(held)
        fault()
      })
    },
  },
]

const FILES: Readonly<
  Partial<Record<CallName, readonly [field: string, name: string, content: Uint8Array]>>
> = {
  'changed images': ['image', 'a.png', Buffer.from(PNG, 'base64')],
  'varied images': ['image', 'a.png', Buffer.from(PNG, 'base64')],
  transcription: ['file', 'a.wav', waveFile(1)],
  'transcription by Paraformer': ['file', 'a.wav', waveFile(1)],
  translation: ['file', 'a.wav', waveFile(1)],
}
const FIELDS: Readonly<Record<CallName, Readonly<Record<string, unknown>>>> = {
  embeddings: { input: ['one', 'two'] },
  'embeddings of Gemini': {
    requests: ['one', 'two'].map((text) => ({ model: 'models/theirs', content: { parts: [{ text }] } })),
  },
  images: { prompt: 'red' },
  'changed images': { prompt: 'red' },
  'varied images': {},
  speech: { input: 'Hello', voice: 'alloy' },
  'speech by CosyVoice': { input: 'Hello', voice: 'alloy' },
  transcription: {},
  'transcription by Paraformer': {},
  translation: {},
  rerank: { query: 'red', documents: ['blue', 'red'] },
  moderation: { input: 'x' },
}

function bodyOf(name: CallName, model: string): FormData | string {
  const file = FILES[name]
  if (file === undefined) return JSON.stringify({ model, ...FIELDS[name] })
  const form = new FormData()
  for (const [field, value] of Object.entries({ model, ...FIELDS[name] })) form.set(field, String(value))
  const [field, fileName, content] = file
  form.set(field, new Blob([new Uint8Array(content)]), fileName)
  return form
}

async function send({ name, call }: KindCell, model: string, key: string): Promise<Response> {
  const body = bodyOf(name, model)
  const headers = { authorization: `Bearer ${key}` }
  const typed = typeof body === 'string' ? { ...headers, 'content-type': 'application/json' } : headers
  const path = call.path.replace('{model}', model)
  const answer = await fetch(`${gateway.baseUrl}${path}`, { method: 'POST', headers: typed, body })
  await answer.arrayBuffer()
  return answer
}

function listen(cell: KindCell): void {
  const [answer] = toldBy(cell.name, cell.vendor)
  upstream.answer(answer)
}

async function openCalls(): Promise<string | undefined> {
  const page = await gateway.running.pipeline.telemetry.metrics.render()
  return /^sluice_open_calls (.*)$/m.exec(page)?.[1]
}

test('every kind of call that passes bytes through is here', () => {
  const passed = KINDS.filter(({ form }) => form !== undefined).map(({ id }) => id)
  expect([...new Set(CELLS.map(({ call }) => call.protocol))].toSorted()).toEqual(passed.toSorted())
})

describe.each(CELLS.map((cell) => [kindCellId(cell), cell] as const))('%s', (_id, cell) => {
  const model = modelOf(cell)
  let account: Awaited<ReturnType<typeof gateway.newAccount>>
  beforeAll(async () => {
    account = await gateway.newAccount({ keyFields: { policy: ONE_AT_A_TIME } })
    listen(cell)
  })

  // Key and credential take one call at a time: what one of these keeps, the next one misses.
  test.each(PLANTS)('a fault in $where', async ({ plant, refuses }) => {
    const { pipeline } = gateway.running
    const errors = vi.spyOn(pipeline.telemetry.log, 'error')
    const struck = plant(pipeline)
    const answered = await send(cell, model, account.key)
    const log = await gateway.lastLog()
    expect(log.requestId).toBe(answered.headers.get('x-request-id'))
    const isStruck = struck.mock.calls.length > 0
    if (isStruck) expect(errors).toHaveBeenCalled()
    if (isStruck && refuses === true) {
      expect([answered.status, log.httpStatus, log.amount]).toEqual([500, 500, 0n])
    } else {
      expect([answered.status, log.httpStatus]).toEqual([200, 200])
      expect(log.amount).toBeGreaterThanOrEqual(CALL_PRICE)
    }
    vi.restoreAllMocks()
    expect((await gateway.account(account.id)).held).toBe(0n)
    expect(pipeline.bodyBudget.used).toBe(0)
    expect(await openCalls()).toBe('0')
  })

  test('whole again, it is answered', async () => {
    expect((await send(cell, model, account.key)).status).toBe(200)
    expect(await gateway.lastLog()).toMatchObject({ httpStatus: 200, ending: 'complete' })
  })
})
