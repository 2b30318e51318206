/** The end of a reserved call: settled or abandoned exactly once, and everything it holds given back, whatever breaks. */
import { describe, expect, test, vi } from 'vitest'
import {
  sampleCatalogue,
  sampleChain,
  sampleModel,
  sampleVendor,
} from '../../../test/management/sample-catalogue.ts'
import { createMonthOf } from '../../core/calendar.ts'
import {
  ACCOUNT,
  credits,
  exampleDemand,
  exampleReserve,
  exampleStore,
  KEY,
  MODEL,
  VENDOR,
} from '../../core/calls/examples.ts'
import { NO_USAGE } from '../../core/canonical/usage.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { callId } from '../../core/ids.ts'
import type { CallLogRow } from '../../core/ledger/log-row.ts'
import type { AbandonOperation, SettleOperation } from '../../core/ledger/operations.ts'
import type { MeterReading } from '../../core/metering/meter.ts'
import { createRequestScanner } from '../../core/passthrough/requests/request-scan.ts'
import { createTermsReader } from '../../core/pricing/read-terms.ts'
import { StorageUnavailable } from '../../storage/failures/unavailable.ts'
import type { Attempted } from '../attempt/attempt-outcome.ts'
import type { Leg } from '../attempt/leg.ts'
import type { ReservedCall } from '../call.ts'
import type { ClientReply } from '../reply.ts'
import type { Exchange } from './exchange.ts'
import type { Ended } from './exchange-outcome.ts'
import { asGatewayError, type LeaveParts, runReserved } from './leave.ts'

const AT = 1_000_000
const CHAIN = sampleChain(1, MODEL, VENDOR)
const OWN = sampleModel(MODEL, [CHAIN], { maxOutputTokens: 4_000 })
const CATALOGUE = sampleCatalogue({ vendors: [sampleVendor(VENDOR)], models: [OWN] })
const LEG = { model: OWN, chain: CHAIN, byok: false, why: 'priority' } as Leg

/** 1 000 tokens in and 500 out: 6 Credits. */
const READ: MeterReading = {
  usage: { ...NO_USAGE, input: 1_000, output: 500 },
  source: 'upstream',
  produced: true,
  images: 0,
}
const NOTHING: MeterReading = { ...READ, usage: { ...NO_USAGE, input: 1_000, output: 0 }, produced: false }

const WELL: Ended = {
  ending: 'complete',
  generation: 'whole',
  reading: READ,
  extras: undefined,
  reportedOutput: 500,
  generatedMs: 2_000,
  unreportedMs: 0,
  unhindered: true,
  code: undefined,
  message: undefined,
}

type Breaks = 'attempt' | 'head' | 'observe' | 'price' | 'store' | 'hang' | 'tell' | 'month' | 'gauge'

interface Row {
  readonly name: string
  /** How the chains were tried; absent: one began to answer. */
  readonly came?: 'failed' | 'rate-limited' | 'gone' | 'stopped' | 'broken'
  readonly ended?: Partial<Ended>
  readonly clientGone?: true
  readonly sent?: false
  readonly breaks?: readonly Breaks[]
  readonly by: 'settle' | 'abandon'
  /** Whole Credits. */
  readonly costs: number
  /** Status, code and ending of the log row. */
  readonly logged: readonly [number, number | undefined, CallLogRow['ending']]
  /** Code of what the client was told in place of an answer; `cut`: its connection was broken. */
  readonly told?: number | 'cut'
}

const ROWS: readonly Row[] = [
  {
    name: 'an answer that ended well is charged',
    by: 'settle',
    costs: 6,
    logged: [200, undefined, 'complete'],
  },
  {
    name: 'one that its vendor broke is charged by what was visible',
    ended: { ending: 'upstream-cut', generation: 'broken', code: 50201 },
    by: 'settle',
    costs: 6,
    logged: [200, 50201, 'upstream-cut'],
  },
  {
    name: 'one that broke before anything was visible costs nothing',
    ended: { ending: 'upstream-cut', generation: 'broken', code: 50201, reading: NOTHING },
    by: 'abandon',
    costs: 0,
    logged: [200, 50201, 'upstream-cut'],
  },
  {
    name: 'one whose client left is charged by what was made',
    came: 'gone',
    clientGone: true,
    ended: { ending: 'client-gone', generation: 'whole' },
    by: 'settle',
    costs: 6,
    logged: [499, undefined, 'client-gone'],
  },
  {
    name: 'one whose client left before its vendor made anything costs nothing',
    came: 'gone',
    clientGone: true,
    ended: { ending: 'client-gone', generation: 'none', reading: undefined },
    by: 'abandon',
    costs: 0,
    logged: [499, undefined, 'client-gone'],
  },
  {
    name: 'no chain that answers is told, and costs nothing',
    came: 'failed',
    by: 'abandon',
    costs: 0,
    logged: [502, 50201, 'upstream-error'],
    told: 50201,
  },
  {
    name: 'a call that never left takes its request back',
    came: 'rate-limited',
    sent: false,
    by: 'abandon',
    costs: 0,
    logged: [429, 42904, 'upstream-error'],
    told: 42904,
  },
  {
    name: 'a client that left meanwhile is told nothing',
    came: 'failed',
    clientGone: true,
    by: 'abandon',
    costs: 0,
    logged: [499, undefined, 'client-gone'],
  },
  {
    name: 'a stop of the gateway is told as one',
    came: 'stopped',
    by: 'abandon',
    costs: 0,
    logged: [503, 50301, 'stopped'],
    told: 50301,
  },
  {
    name: 'a fault while chains are tried is told as ours',
    came: 'broken',
    by: 'abandon',
    costs: 0,
    logged: [500, 50000, 'gateway-error'],
    told: 50000,
  },
  {
    name: 'a search that throws is told as ours',
    breaks: ['attempt'],
    by: 'abandon',
    costs: 0,
    logged: [500, 50000, 'gateway-error'],
    told: 50000,
  },
  {
    name: 'a failure that cannot be told is logged all the same, and its client is cut',
    came: 'broken',
    breaks: ['tell'],
    by: 'abandon',
    costs: 0,
    logged: [500, 50000, 'gateway-error'],
    told: 'cut',
  },
  {
    name: 'an answer is charged also where nothing can be learnt of its chain',
    breaks: ['observe'],
    by: 'settle',
    costs: 6,
    logged: [200, undefined, 'complete'],
  },
  {
    name: 'an answer whose row cannot be made once is charged as a fault of ours',
    breaks: ['head'],
    by: 'settle',
    costs: 6,
    logged: [200, undefined, 'gateway-error'],
  },
  {
    name: 'an answer whose prices and month cannot be read is charged',
    breaks: ['price', 'month'],
    by: 'settle',
    costs: 6,
    logged: [200, undefined, 'gateway-error'],
  },
  {
    name: 'an answer whose row can never be made gives back what it held, and its client is cut',
    breaks: ['head', 'head'],
    by: 'abandon',
    costs: 0,
    logged: [500, 50000, 'gateway-error'],
    told: 'cut',
  },
]

class Trial {
  readonly store = exampleStore()
  readonly written: (SettleOperation | AbandonOperation)[] = []
  readonly pending: (SettleOperation | AbandonOperation)[] = []
  readonly errors: string[] = []
  readonly told: (number | 'cut')[] = []
  /** Ends that the store had, or that were kept for it, when the client was told a failure. */
  writtenWhenTold: number | undefined
  /** Lets the store go on. */
  goOn: () => void = () => undefined
  gauge = 0
  held = 1
  released = 0
  readonly #row: Row
  readonly #breaks: Breaks[]

  constructor(row: Row) {
    this.#row = row
    this.#breaks = [...(row.breaks ?? [])]
  }

  async run(): Promise<void> {
    await runReserved(this.#parts(), this.#call(), this.#reply(), () => this.#attempt())
  }

  get log(): CallLogRow | undefined {
    return this.store.logs[0]
  }

  /** Throws where the row says so, each time once. */
  #break(what: Breaks): void {
    const at = this.#breaks.indexOf(what)
    if (at < 0) return
    this.#breaks.splice(at, 1)
    throw new Error(`${what} broke`)
  }

  #attempt(): Promise<Attempted> {
    this.#break('attempt')
    const { came = 'answering', sent = true } = this.#row
    const records: [] = []
    switch (came) {
      case 'answering':
      case 'gone':
        return Promise.resolve({ kind: came, leg: LEG, exchange: this.#exchange(), records, sent })
      case 'failed':
        return Promise.resolve({ kind: 'failed', failure: { kind: 'no-chain' }, records, sent })
      case 'rate-limited': {
        const failure = { kind: 'rate-limited', retryAfterMs: 1_000 } as const
        return Promise.resolve({ kind: 'failed', failure, records, sent })
      }
      case 'stopped':
        return Promise.resolve({ kind: 'stopped', records, sent })
      case 'broken':
        return Promise.resolve({ kind: 'broken', error: new Error('a codec broke'), records, sent })
    }
  }

  #exchange(): Exchange {
    const broken = (): void => this.#break('head')
    return {
      ended: Promise.resolve({ ...WELL, ...this.#row.ended }),
      get status() {
        broken()
        return 200
      },
      lane: { dropped: [], inputEstimated: () => false },
      answerBytes: 10_000,
      firstByteAt: AT + 10,
      kept: undefined,
      release: () => (this.released += 1),
    } as unknown as Exchange
  }

  #call(): ReservedCall {
    const [reservation] = this.store.run(exampleReserve('a'))
    const body = Buffer.from('{"model":"example-model","messages":[{"role":"user","content":"hi"}]}')
    const scanner = createRequestScanner('chat')
    scanner.push(body)
    return {
      callId: callId('a'),
      requestId: 'a',
      at: AT,
      headers: {},
      key: { id: KEY },
      account: { id: ACCOUNT },
      endpoint: { kind: {}, path: '/v1/chat/completions', protocol: 'chat' },
      body: { chunks: [body], length: body.length, memo: {}, release: () => (this.held = 0) },
      scan: scanner.end(),
      modelId: MODEL,
      stream: false,
      catalogue: CATALOGUE,
      model: OWN,
      demand: exampleDemand(),
      reservation,
    } as unknown as ReservedCall
  }

  #reply(): ClientReply {
    let started = false
    return {
      get started() {
        return started
      },
      gone: this.#row.clientGone === true,
      setModel: () => undefined,
      fail: ({ code }: GatewayError) => {
        this.#break('tell')
        started = true
        this.told.push(code)
        this.writtenWhenTold = this.written.length + this.pending.length
      },
      destroy: () => this.told.push('cut'),
    } as unknown as ClientReply
  }

  #parts(): LeaveParts {
    const reader = createTermsReader()
    const monthOf = createMonthOf()
    return {
      now: () => AT + 2_000,
      catalogue: () => CATALOGUE,
      monthOf: (...asked: Parameters<typeof monthOf>) => {
        this.#break('month')
        return monthOf(...asked)
      },
      terms: {
        terms: (text: string) => {
          this.#break('price')
          return reader.terms(text)
        },
      },
      tokens: { countLong: () => Promise.resolve(3) },
      pending: { add: (end: SettleOperation | AbandonOperation) => this.pending.push(end) },
      observeEnd: () => undefined,
      observations: {
        outputRate: () => undefined,
        expectedRate: () => 50,
        finished: () => this.#break('observe'),
      },
      turns: {},
      storage: {
        calls: {
          settle: (end: SettleOperation) => this.#write(end),
          abandon: (end: AbandonOperation) => this.#write(end),
        },
      },
      telemetry: {
        metrics: {
          callReserved: () => {
            this.#break('gauge')
            this.gauge += 1
          },
          callReleased: () => (this.gauge -= 1),
        },
        log: { error: (_fields: object, message: string) => this.errors.push(message) },
      },
    } as unknown as LeaveParts
  }

  async #write(end: SettleOperation | AbandonOperation) {
    if (this.#breaks.includes('store')) throw new StorageUnavailable('away', { untouched: true })
    if (this.#breaks.includes('hang'))
      await new Promise<void>((resolve) => {
        this.goOn = resolve
      })
    this.written.push(end)
    return this.store.run(end)[0]
  }
}

describe('a reserved call comes to its end', () => {
  test.each(ROWS.map((row) => [row.name, row] as const))('%s', async (_name, row) => {
    const trial = new Trial(row)
    await trial.run()
    expect(trial.written.map(({ kind }) => kind)).toEqual([row.by])
    const { httpStatus, code, ending, clientGone } = trial.log ?? {}
    expect([httpStatus, code, ending]).toEqual(row.logged)
    expect(clientGone).toBe(row.clientGone === true)
    expect(trial.store.account()).toMatchObject({ credits: credits(1_000 - row.costs), held: 0n })
    expect(trial.told).toEqual(row.told === undefined ? [] : [row.told])
    expect(trial.writtenWhenTold).toBe(typeof row.told === 'number' ? 1 : undefined)
  })

  test.each(ROWS.map((row) => [row.name, row] as const))(
    'and gives back its gauge, its bytes and the end of its answer: %s',
    async (_name, row) => {
      const trial = new Trial(row)
      await trial.run()
      expect([trial.gauge, trial.held]).toEqual([0, 0])
      const answered = row.breaks?.includes('attempt') !== true && (row.came ?? 'gone') === 'gone'
      expect(trial.released > 0).toBe(answered)
    },
  )

  test('a call that never left counts in no window of requests, one that did stays counted', async () => {
    const [left, kept] = [
      new Trial({ ...ROWS[0], came: 'rate-limited', sent: false } as Row),
      new Trial({ ...ROWS[0], came: 'failed' } as Row),
    ]
    await left.run()
    await kept.run()
    expect([left.written[0], kept.written[0]]).toMatchObject([{ sent: false }, { sent: true }])
  })

  test('a gauge that breaks is not counted down, and the call ends', async () => {
    const trial = new Trial({ ...ROWS[0], breaks: ['gauge'] } as Row)
    await trial.run()
    expect(trial.gauge).toBe(0)
    expect(trial.written).toMatchObject([{ kind: 'abandon', sent: true }])
    expect(trial.told).toEqual([50000])
  })

  test('a failure whose end the store does not take is told all the same', async () => {
    const trial = new Trial({ ...ROWS[0], came: 'failed', breaks: ['store'] } as Row)
    await trial.run()
    expect(trial.pending).toMatchObject([{ kind: 'abandon', callId: 'a' }])
    expect(trial.told).toEqual([50201])
  })

  test('a failure whose end the store takes for ever is told after three seconds', async () => {
    vi.useFakeTimers()
    const trial = new Trial({ ...ROWS[0], came: 'failed', breaks: ['hang'] } as Row)
    const run = trial.run()
    await vi.advanceTimersByTimeAsync(2_999)
    expect(trial.told).toEqual([])
    await vi.advanceTimersByTimeAsync(1)
    expect(trial.told).toEqual([50201])
    trial.goOn()
    await run
    vi.useRealTimers()
    expect(trial.told).toEqual([50201])
    expect(trial.written).toMatchObject([{ kind: 'abandon' }])
  })

  test('an end that the store does not take is kept, and the client has its answer', async () => {
    const trial = new Trial({ ...ROWS[0], breaks: ['store'] } as Row)
    await trial.run()
    expect(trial.pending).toMatchObject([{ kind: 'settle', callId: 'a', amount: credits(6) }])
    expect(trial.released).toBeGreaterThan(0)
  })
})

describe('an error is told', () => {
  test.each<[string, unknown, number]>([
    ['as itself where it is one of the gateway', new GatewayError(42901), 42901],
    ['as 50301 where the store is away', new StorageUnavailable('away'), 50301],
    ['as 50000 otherwise', new Error('odd'), 50000],
  ])('%s', (_sentence, error, code) => {
    expect(asGatewayError(error).code).toBe(code)
  })
})
