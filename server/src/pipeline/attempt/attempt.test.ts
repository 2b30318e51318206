import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Funding } from '../../core/ledger/operations.ts'
import type { Chain } from '../../core/catalogue.ts'
import { orderChains } from '../../core/routing/order.ts'
import {
  sampleCatalogue,
  sampleChain,
  sampleModel,
  sampleVendor,
} from '../../../test/management/sample-catalogue.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { AttemptFailure, Ending, Verdict } from '../exchange/exchange-outcome.ts'
import type { Pipeline } from '../context.ts'
import { createHealthBoard, type HealthBoard } from '../instance/chains/health-board.ts'
import type { OpenedExchange } from '../exchange/open-exchange.ts'
import { healthFor, type Route } from './route.ts'
import { ExchangeSearch } from './attempt.ts'
import type { Leg } from './leg.ts'
import type { FinalFailure } from './attempt-outcome.ts'

const CHAINS = {
  a: sampleChain(1, 'm', 'a'),
  b: sampleChain(2, 'm', 'b', { priority: 2 }),
  c: sampleChain(3, 'm', 'c', { priority: 3 }),
}
type Name = keyof typeof CHAINS
const MODEL = sampleModel('m', Object.values(CHAINS))
const CATALOGUE = sampleCatalogue({
  vendors: Object.keys(CHAINS).map((code) => sampleVendor(code)),
  models: [MODEL],
})
const ANSWER_DEADLINE_MS = 900_000

/** What an upstream does with one try. */
type Act =
  | {
      readonly verdict: Verdict
      readonly ending?: Ending
      readonly tookMs?: number
      readonly replays?: true
      /** It says so only when it is told that the time is over. */
      readonly onceExpired?: true
    }
  | { readonly skipped: string; readonly failure?: FinalFailure }
  | { readonly throws: string }

const failed = (failure: AttemptFailure): Act => ({ verdict: { kind: 'failed', failure } })
const status = (code: number, error: object = {}, headers: Record<string, string> = {}): Act =>
  failed({ kind: 'status', status: code, headers, body: Buffer.from(JSON.stringify({ error })) })
const transport = (kind: 'connect' | 'reset' | 'first-byte-timeout' | 'idle-timeout', sent: boolean): Act =>
  failed({ kind: 'transport', transport: { kind, sent, detail: kind } })

const ACTS = {
  answers: { verdict: { kind: 'committed' }, ending: 'complete' },
  'breaks later': { verdict: { kind: 'committed' }, ending: 'upstream-cut' },
  'stalls later': { verdict: { kind: 'committed' }, ending: 'timeout' },
  'is left later': { verdict: { kind: 'committed' }, ending: 'client-gone' },
  busy: status(503, { message: 'busy' }),
  'bad request': status(400, { message: 'bad' }),
  refuses: status(400, { code: 'content_filter' }),
  conflict: status(409),
  'no money': status(402),
  'no model': status(404),
  'too many': status(429, {}, { 'retry-after': '7' }),
  'too many, no time': status(429),
  'no connection': transport('connect', false),
  resets: transport('reset', true),
  hangs: transport('first-byte-timeout', true),
  trickles: transport('idle-timeout', true),
  'cut short': failed({ kind: 'answer', answer: { kind: 'cut' } }),
  'long deadline': { ...failed({ kind: 'deadline' }), tookMs: ANSWER_DEADLINE_MS },
  'says nothing': { ...failed({ kind: 'deadline' }), onceExpired: true },
  'short deadline': { ...failed({ kind: 'deadline' }), tookMs: 1_000 },
  'client left': { verdict: { kind: 'gone' } },
  stopped: { verdict: { kind: 'stopped' } },
  full: { skipped: 'credential-full', failure: { kind: 'rate-limited', retryAfterMs: 3_000 } },
  'no address': { skipped: 'no address' },
  'cannot read its signatures': { ...status(400, { code: 'invalid_encrypted_content' }), replays: true },
  throws: { throws: 'out of memory' },
} satisfies Readonly<Record<string, Act>>
type ActName = keyof typeof ACTS

/** What is under way when the time of the call runs out. */
type Moment = 'opening' | 'waiting' | 'giving back' | 'answering'

/** One call after the other; what each upstream does stands in `script`, and its last act goes on. */
class Trial {
  now = 1_000_000
  model = MODEL
  readonly health: HealthBoard = createHealthBoard()
  readonly tried: string[] = []
  readonly expired: string[] = []
  /** undefined: in time. */
  runsOut: Moment | undefined
  readonly givenBack: string[] = []
  readonly logged: string[] = []
  #script: Partial<Record<Name, readonly ActName[]>> = {}
  readonly #background: Promise<unknown>[] = []

  async call(
    script: Partial<Record<Name, readonly ActName[]>>,
    own: readonly Name[] = [],
    until: 'before-last-resorts' | 'the end' = 'the end',
  ) {
    this.tried.length = 0
    this.givenBack.length = 0
    this.#script = { ...script }
    const gateway = this.#gateway()
    const search = new ExchangeSearch(
      gateway,
      { at: this.now, requestId: 'r', catalogue: CATALOGUE },
      {
        open: (leg) => this.#open(leg),
        giveBack: (leg) => {
          this.givenBack.push(leg.chain.vendorCode)
          this.#reach('giving back')
          return Promise.resolve()
        },
        clientGone: () => false,
      },
    )
    const route = this.#route(gateway, own)
    const outcome = await search.chains
      .tryRoute(route, until)
      .then((result) => search.outcomeOf(result))
      .catch((error: unknown) => search.broken(error))
    search.close()
    await Promise.all(this.#background.splice(0))
    return {
      outcome,
      search,
      route,
      records: outcome.records.map((record) => `${record.why}: ${record.outcome}`),
    }
  }

  /** `+` and `-`, oldest first. */
  outcomesOf(name: Name): string {
    const { outcomes, outcomeCount } = this.health.of(CHAINS[name])
    return Array.from({ length: outcomeCount }, (_, index) => ((outcomes >> index) & 1 ? '-' : '+'))
      .toReversed()
      .join('')
  }

  #gateway(): Pick<Pipeline, 'now' | 'health' | 'limits' | 'telemetry'> {
    const telemetry = {
      metrics: { attemptEnded: () => undefined },
      background: { track: (work: Promise<unknown>) => this.#background.push(work) },
      log: { error: (_fields: object, message: string) => this.logged.push(message) },
    }
    return {
      now: () => this.now,
      health: this.health,
      limits: { answerDeadlineMs: ANSWER_DEADLINE_MS },
      telemetry,
    } as unknown as Pipeline
  }

  #route(gateway: Pick<Pipeline, 'health'>, own: readonly Name[]): Route {
    const funding: Funding = {
      kind: 'funded',
      otherwise: 'credits',
      byokVendors: own.map((name) => CHAINS[name].vendorCode),
    }
    const order = orderChains(this.model, CATALOGUE, {
      now: this.now,
      healthOf: healthFor(gateway, funding),
      draw: () => 0.5,
      mayUse: () => true,
      speaks: () => true,
      preferred: 'chat',
    })
    return { model: this.model, funding, order, fallback: false }
  }

  async #open(leg: Leg): Promise<OpenedExchange> {
    const name = nameOf(leg.chain)
    this.tried.push(leg.unsigned === true ? `${name} unsigned` : name)
    const [next = 'answers', ...rest] = this.#script[name] ?? []
    if (rest.length > 0) this.#script = { ...this.#script, [name]: rest }
    const act: Act = ACTS[next]
    if ('throws' in act) throw new Error(act.throws)
    if ('skipped' in act) return { kind: 'skipped', reason: act.skipped, failure: act.failure }
    this.now += act.tookMs ?? 10
    this.#reach('opening')
    const reach = (moment: Moment) => this.#reach(moment)
    const onceExpired = async (verdict: Verdict): Promise<Verdict> => {
      await new Promise((resolve) => setImmediate(resolve))
      if (!this.expired.includes(name)) throw new Error('nobody said that the time is over')
      return verdict
    }
    const exchange = {
      get verdict() {
        reach('waiting')
        return act.onceExpired === true ? onceExpired(act.verdict) : Promise.resolve(act.verdict)
      },
      get ended() {
        reach('answering')
        return Promise.resolve({ ending: act.ending })
      },
      status: 200,
      firstByteAt: this.now,
      sent: true,
      lane: { replays: () => act.replays === true },
      trouble: undefined,
      expire: () => this.expired.push(name),
    }
    return { kind: 'open', exchange: exchange as unknown as Exchange }
  }

  #reach(moment: Moment): void {
    if (this.runsOut !== moment) return
    this.runsOut = undefined
    vi.advanceTimersByTime(ANSWER_DEADLINE_MS)
  }
}

function nameOf({ vendorCode }: Chain): Name {
  for (const name of ['a', 'b', 'c'] as const) if (name === vendorCode) return name
  throw new Error('an unknown chain')
}

interface Row {
  readonly script: Partial<Record<Name, readonly ActName[]>>
  /** Chains in the order they were tried. */
  readonly tried: readonly string[]
  readonly records: readonly string[]
  /** `answering b`, or what the client is told and of whom. */
  readonly told: string
  /** What chain a was heard to do: `+`, `-` or nothing. */
  readonly a: string
}

const ROWS: readonly (readonly [string, Row])[] = [
  [
    'the first chain answers',
    { script: {}, tried: ['a'], records: ['priority: answered'], told: 'answering a', a: '+' },
  ],
  [
    'an ill chain is left for the next',
    {
      script: { a: ['busy'] },
      tried: ['a', 'b'],
      records: ['priority: overloaded', 'failover: answered'],
      told: 'answering b',
      a: '-',
    },
  ],
  [
    'a connection that was refused is tried once more, and both tries are one outcome',
    {
      script: { a: ['no connection'] },
      tried: ['a', 'a', 'b'],
      records: ['priority: connect', 'retry: connect', 'failover: answered'],
      told: 'answering b',
      a: '-',
    },
  ],
  [
    'a refused connection that comes about the second time is no failure',
    {
      script: { a: ['no connection', 'answers'] },
      tried: ['a', 'a'],
      records: ['priority: connect', 'retry: answered'],
      told: 'answering a',
      a: '+',
    },
  ],
  [
    'what was sent and broke is not sent to the same chain again',
    {
      script: { a: ['resets'] },
      tried: ['a', 'b'],
      records: ['priority: cut', 'failover: answered'],
      told: 'answering b',
      a: '-',
    },
  ],
  [
    'an answer cut short before it began goes to the next chain',
    {
      script: { a: ['cut short'] },
      tried: ['a', 'b'],
      records: ['priority: cut', 'failover: answered'],
      told: 'answering b',
      a: '-',
    },
  ],
  [
    'a chain that hangs is a failure',
    {
      script: { a: ['hangs'], b: ['trickles'] },
      tried: ['a', 'b', 'c'],
      records: ['priority: timeout', 'failover: timeout', 'failover: answered'],
      told: 'answering c',
      a: '-',
    },
  ],
  [
    'an upstream that blames the request has answered it',
    {
      script: { a: ['bad request'] },
      tried: ['a'],
      records: ['priority: request'],
      told: 'upstream 400 of a',
      a: '',
    },
  ],
  [
    'refused content goes nowhere else',
    {
      script: { a: ['refuses'] },
      tried: ['a'],
      records: ['priority: refused-content'],
      told: 'upstream 400 of a',
      a: '',
    },
  ],
  [
    'a request that blames itself at the second chain ends the search there',
    {
      script: { a: ['busy'], b: ['bad request'] },
      tried: ['a', 'b'],
      records: ['priority: overloaded', 'failover: request'],
      told: 'upstream 400 of b',
      a: '-',
    },
  ],
  [
    'of several failures the first upstream that spoke for itself is told',
    {
      script: { a: ['hangs'], b: ['busy'], c: ['no model'] },
      tried: ['a', 'b', 'c'],
      records: ['priority: timeout', 'failover: overloaded', 'failover: not-found'],
      told: 'upstream 503 of b',
      a: '-',
    },
  ],
  [
    'a refusal of the platform’s credential is told only where nobody spoke for itself',
    {
      script: { a: ['no money'], b: ['hangs'], c: ['no connection'] },
      tried: ['a', 'b', 'c', 'c'],
      records: ['priority: quota', 'failover: timeout', 'failover: connect', 'retry: connect'],
      told: 'upstream 402 of a',
      a: '-',
    },
  ],
  [
    'a conflict says nothing of the chain',
    {
      script: { a: ['conflict'] },
      tried: ['a', 'b'],
      records: ['priority: overloaded', 'failover: answered'],
      told: 'answering b',
      a: '',
    },
  ],
  [
    'a full credential is passed over, and keeps its place in the count of others',
    {
      script: { a: ['full'], b: ['no address'] },
      tried: ['a', 'b', 'c'],
      records: ['priority: credential-full', 'failover: no address', 'failover: answered'],
      told: 'answering c',
      a: '',
    },
  ],
  [
    'when only full credentials are left the client hears when there is room',
    {
      script: { a: ['full'], b: ['no address'], c: ['no address'] },
      tried: ['a', 'b', 'c'],
      records: ['priority: credential-full', 'failover: no address', 'failover: no address'],
      told: 'rate-limited for 3000 ms',
      a: '',
    },
  ],
  [
    'reasoning an upstream cannot read is left out once, on the same chain',
    {
      script: { a: ['cannot read its signatures', 'answers'] },
      tried: ['a', 'a unsigned'],
      records: ['priority: request', 'retry: answered'],
      told: 'answering a',
      a: '+',
    },
  ],
  [
    'a client that left ends the search and says nothing of the chain',
    {
      script: { a: ['client left'] },
      tried: ['a'],
      records: ['priority: client gone'],
      told: 'gone',
      a: '',
    },
  ],
  [
    'a gateway that stops says nothing of the chain',
    { script: { a: ['stopped'] }, tried: ['a'], records: ['priority: stopped'], told: 'stopped', a: '' },
  ],
  [
    'a fault of the gateway’s own says nothing of the chain',
    { script: { a: ['throws'] }, tried: ['a'], records: [], told: 'broken', a: '' },
  ],
  [
    'an answer that breaks after it began is a failure, though it began',
    {
      script: { a: ['breaks later'] },
      tried: ['a'],
      records: ['priority: answered'],
      told: 'answering a',
      a: '-',
    },
  ],
  [
    'an answer that stalls after it began is one too',
    {
      script: { a: ['stalls later'] },
      tried: ['a'],
      records: ['priority: answered'],
      told: 'answering a',
      a: '-',
    },
  ],
  [
    'an answer whose client left says nothing',
    {
      script: { a: ['is left later'] },
      tried: ['a'],
      records: ['priority: answered'],
      told: 'answering a',
      a: '',
    },
  ],
  [
    'the chain on which most of a call’s time was spent is to blame for its deadline',
    {
      script: { a: ['long deadline'], b: ['no address'], c: ['no address'] },
      tried: ['a', 'b', 'c'],
      records: ['priority: timeout', 'failover: no address', 'failover: no address'],
      told: 'deadline of a',
      a: '-',
    },
  ],
  [
    'one that had only the rest of it is not',
    {
      script: { a: ['short deadline'], b: ['no address'], c: ['no address'] },
      tried: ['a', 'b', 'c'],
      records: ['priority: timeout', 'failover: no address', 'failover: no address'],
      told: 'deadline of a',
      a: '',
    },
  ],
]

function toldOf(outcome: Awaited<ReturnType<Trial['call']>>['outcome']): string {
  if (outcome.kind === 'answering') return `answering ${nameOf(outcome.leg.chain)}`
  if (outcome.kind !== 'failed') return outcome.kind
  const { failure } = outcome
  if (failure.kind === 'rate-limited') return `rate-limited for ${failure.retryAfterMs} ms`
  if (failure.kind !== 'upstream') return failure.kind
  const what = failure.failure.kind === 'status' ? `upstream ${failure.failure.status}` : failure.failure.kind
  return `${what} of ${nameOf(failure.leg.chain)}`
}

test.each(ROWS)('%s', async (_what, { script, tried, records, told, a }) => {
  const trial = new Trial()
  const { outcome, records: recorded } = await trial.call(script)
  expect({ tried: trial.tried, records: recorded, told: toldOf(outcome), a: trial.outcomesOf('a') }).toEqual({
    tried,
    records,
    told,
    a,
  })
  expect(Object.values(CHAINS).map((chain) => trial.health.of(chain).running)).toEqual([0, 0, 0])
})

describe('the time of a call that runs out', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
  afterEach(() => void vi.useRealTimers())

  test.each<
    [
      string,
      Moment,
      Row['script'],
      Record<'tried' | 'expired', readonly Name[]> & Record<'told' | 'andIfItBreaks', string>,
    ]
  >([
    [
      'while a request is put together ends that try, and the search',
      'opening',
      { a: ['says nothing'] },
      { tried: ['a'], expired: ['a'], told: 'deadline of a', andIfItBreaks: 'broken' },
    ],
    [
      'while an answer is waited for ends that try, and the search',
      'waiting',
      { a: ['says nothing'] },
      { tried: ['a'], expired: ['a'], told: 'deadline of a', andIfItBreaks: 'broken' },
    ],
    [
      'between two tries ends the next one as it begins',
      'giving back',
      { a: ['busy'], b: ['says nothing'] },
      { tried: ['a', 'b'], expired: ['b'], told: 'upstream 503 of a', andIfItBreaks: 'broken' },
    ],
    [
      'once an answer has begun does not end it',
      'answering',
      {},
      { tried: ['a'], expired: [], told: 'answering a', andIfItBreaks: 'answering a' },
    ],
  ])('%s', async (_what, moment, script, seen) => {
    const trial = new Trial()
    trial.runsOut = moment
    const { outcome, search } = await trial.call(script)
    expect(trial.runsOut).toBeUndefined()
    expect({
      tried: trial.tried,
      expired: trial.expired,
      told: toldOf(outcome),
      andIfItBreaks: toldOf(search.broken(new Error('out of memory'))),
    }).toEqual(seen)
  })
})

describe('one call after the other', () => {
  test('a chain that fails twice is tried last, and a record tells why it was passed over and for how long', async () => {
    const trial = new Trial()
    await trial.call({ a: ['busy'] })
    const { outcome } = await trial.call({ a: ['busy'] })
    expect(outcome.records.map(({ cooldownMs }) => cooldownMs)).toEqual([15_000, undefined])
    await trial.call({ a: ['answers'], b: ['busy'], c: ['busy'] })
    expect(trial.tried).toEqual(['b', 'c', 'a'])
  })

  test('last resorts are left where the call has somewhere else to go, and tried when it comes back', async () => {
    const trial = new Trial()
    await trial.call({ a: ['busy'] })
    await trial.call({ a: ['busy'] })
    const { outcome, search, route } = await trial.call(
      { b: ['busy'], c: ['no model'] },
      [],
      'before-last-resorts',
    )
    expect([trial.tried, toldOf(outcome)]).toEqual([['b', 'c'], 'upstream 503 of b'])
    const last = search.outcomeOf(await search.chains.tryRoute(route))
    expect([trial.tried, toldOf(last)]).toEqual([['b', 'c', 'a'], 'answering a'])
  })

  test('a chain whose cooldown begins while the call waits elsewhere is tried after the others', async () => {
    const trial = new Trial()
    const other = trial.health.begin(CHAINS.b, { own: false, now: trial.now })
    other.failed({ kind: 'cut' }, trial.now)
    // The call is ordered a, b, c; meanwhile another one fails on b.
    const second = trial.health.begin(CHAINS.b, { own: false, now: trial.now })
    const called = trial.call({ a: ['busy'] })
    second.failed({ kind: 'cut' }, trial.now)
    await called
    expect(trial.tried).toEqual(['a', 'c'])
  })

  test('chains that are all rate limited are told with the earliest end, and one call a second is let through', async () => {
    const trial = new Trial()
    await trial.call({ a: ['too many'], b: ['too many'], c: ['too many'] })
    const { outcome } = await trial.call({})
    expect(trial.tried).toEqual([])
    expect(toldOf(outcome)).toMatch(/^rate-limited for 69\d\d ms$/)
    trial.now += 1_000
    expect(toldOf((await trial.call({})).outcome)).toBe('answering a')
    expect(toldOf((await trial.call({})).outcome)).toBe('answering a')
  })

  test('a 429 without a time starts no cooldown', async () => {
    const trial = new Trial()
    await trial.call({ a: ['too many, no time'] })
    await trial.call({ a: ['too many, no time'] })
    expect(trial.tried).toEqual(['a', 'b'])
  })

  test('refusals of an account’s own credential leave the chain to everybody else', async () => {
    const trial = new Trial()
    for (let index = 0; index < 3; index += 1) await trial.call({ a: ['no money'] }, ['a'])
    await trial.call({})
    expect(trial.tried).toEqual(['a'])
  })

  test('a place on a credential is given back when the call moves on, not where none was taken', async () => {
    const trial = new Trial()
    await trial.call({ a: ['busy'], b: ['full'] })
    expect(trial.givenBack).toEqual(['a'])
  })

  test('no call tries more than sixteen times', async () => {
    const trial = new Trial()
    trial.model = sampleModel(
      'm',
      Array.from({ length: 20 }, (_, index) => sampleChain(100 + index, 'm', 'a')),
    )
    const { search } = await trial.call({ a: ['busy'] })
    expect(trial.tried).toHaveLength(16)
    expect(search.chains.mayFallBack({ kind: 'no-chain' })).toBe(false)
  })
})
