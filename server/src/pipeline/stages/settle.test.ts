/** What a call that was answered costs, whatever fails on the way to its end: a row for each sentence. */
import { describe, expect, test } from 'vitest'
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
  FALLBACK,
  KEY,
  MODEL,
  TERMS,
  VENDOR,
} from '../../core/calls/examples.ts'
import { NO_USAGE, type Usage } from '../../core/canonical/usage.ts'
import { callId } from '../../core/ids.ts'
import type { CallLogRow } from '../../core/ledger/log-row.ts'
import type { SettleOperation } from '../../core/ledger/operations.ts'
import type { MicroCredits } from '../../core/money.ts'
import { createRequestScanner } from '../../core/passthrough/requests/request-scan.ts'
import { createTermsReader } from '../../core/pricing/read-terms.ts'
import { StorageUnavailable } from '../../storage/failures/unavailable.ts'
import type { ReservedCall } from '../call.ts'
import { type Answered, settle, type SettleParts } from './settle.ts'

const AT = 1_000_000
const BODY = Buffer.from('{"model":"example-model","messages":[{"role":"user","content":"hi"}]}')
const OWN = sampleModel(MODEL, [sampleChain(1, MODEL, VENDOR)], { maxOutputTokens: 4_000 })
const OTHER = sampleModel(FALLBACK, [sampleChain(1, FALLBACK, VENDOR)])
const CATALOGUE = sampleCatalogue({ vendors: [sampleVendor(VENDOR)], models: [OWN, OTHER] })
/** Output costs twice as much as of the model that was asked for. */
const EXPENSIVE = { ...TERMS, pricing: { ...TERMS.pricing, outputPrice: '20' } }

const used = (usage: Partial<Usage>): Answered['reading'] => ({
  usage: { ...NO_USAGE, ...usage },
  source: 'upstream',
  produced: true,
  images: 0,
})

/** One call of the example account, reserved in a store in memory; what breaks is said by the test. */
class Trial {
  readonly store = exampleStore()
  readonly logged: string[] = []
  readonly observed: CallLogRow[] = []
  readonly pending: SettleOperation[] = []
  readonly written: SettleOperation[] = []
  released = 0
  tried = 0
  /** Thrown by the store, each once. */
  readonly storeFails: Error[] = []
  /** Thrown by the store before there is a promise. */
  throwsAtOnce: Error | undefined
  broken: Partial<Record<'terms' | 'month' | 'tokens', true>> = {}

  async settle(answer: Partial<Answered> = {}, call: Partial<ReservedCall> = {}): Promise<boolean> {
    return settle(
      this.#parts(),
      { ...this.#call(), ...call },
      {
        leg: { model: OWN, chain: sampleChain(1, MODEL, VENDOR), byok: false } as Answered['leg'],
        reading: used({ input: 1_000, output: 500 }),
        inputEstimated: false,
        extras: { told: undefined, sent: undefined, extent: 'whole' },
        answerBytes: 10_000,
        row: { ending: 'complete', httpStatus: 200 },
        onTried: () => (this.tried += 1),
        ...answer,
      },
    )
  }

  get row(): CallLogRow | undefined {
    return this.store.logs[0]
  }

  #call(): ReservedCall {
    const fallback = exampleDemand({ modelId: FALLBACK, terms: JSON.stringify(EXPENSIVE) })
    const [reservation] = this.store.run(exampleReserve('a', { fallback }))
    const scanner = createRequestScanner('chat')
    scanner.push(BODY)
    const scan = scanner.end()
    const release = (): void => {
      this.released += 1
    }
    return {
      callId: callId('a'),
      requestId: 'a',
      at: AT,
      headers: {},
      key: { id: KEY },
      account: { id: ACCOUNT },
      endpoint: { kind: {}, path: '/v1/chat/completions', protocol: 'chat' },
      body: { chunks: [BODY], length: BODY.length, memo: {}, hold: () => undefined, release },
      scan,
      modelId: MODEL,
      stream: false,
      catalogue: CATALOGUE,
      model: OWN,
      fallback: OTHER,
      demand: exampleDemand(),
      fallbackDemand: fallback,
      reservation,
    } as unknown as ReservedCall
  }

  #parts(): SettleParts {
    const broken = (): never => {
      throw new Error('broken')
    }
    const { terms, month, tokens } = this.broken
    return {
      now: () => AT + 2_000,
      catalogue: () => CATALOGUE,
      monthOf: month === true ? broken : createMonthOf(),
      terms: terms === true ? { terms: broken } : createTermsReader(),
      tokens: { countLong: tokens === true ? broken : () => Promise.resolve(3) },
      pending: { add: (operation: SettleOperation) => this.pending.push(operation) },
      observeEnd: (row: CallLogRow, deducted = row.deducted) => this.observed.push({ ...row, deducted }),
      storage: { calls: { settle: (operation: SettleOperation) => this.#write(operation) } },
      telemetry: { log: { error: (_fields: object, message: string) => this.logged.push(message) } },
    } as unknown as SettleParts
  }

  #write(operation: SettleOperation) {
    if (this.throwsAtOnce !== undefined) throw this.throwsAtOnce
    return this.#writeSoon(operation)
  }

  async #writeSoon(operation: SettleOperation) {
    const failure = this.storeFails.shift()
    if (failure !== undefined) throw failure
    this.written.push(operation)
    return this.store.run(operation)[0]
  }
}

const leg = (change: object): Answered['leg'] =>
  ({ model: OWN, chain: sampleChain(1, MODEL, VENDOR), byok: false, ...change }) as Answered['leg']

describe('a call is charged', () => {
  test.each<[string, Partial<Answered>, MicroCredits, object]>([
    ['by what its vendor told', {}, credits(6), { usageSource: 'upstream', usageSuspect: undefined }],
    ['at the prices of the model that answered', { leg: leg({ model: OTHER }) }, credits(11), {}],
    ['nothing on an own credential', { leg: leg({ byok: true }) }, credits(0), {}],
    [
      'by the tokens of its request where no input was told',
      { inputEstimated: true, reading: used({ output: 500 }) },
      credits(5.007),
      { usage: { ...NO_USAGE, input: 7, output: 500 } },
    ],
    [
      'by the most that its model makes where more was told, and the row says so',
      { answerBytes: 100, reading: used({ input: 1_000, output: 10_000_000 }) },
      credits(41),
      { usageSuspect: expect.objectContaining({ outputReported: 10_000_000, outputCharged: 4_000 }) },
    ],
  ])('%s', async (_sentence, answer, amount, row) => {
    const trial = new Trial()
    expect(await trial.settle(answer)).toBe(true)
    expect(trial.written[0]).toMatchObject({ kind: 'settle', keyId: KEY, accountId: ACCOUNT, at: AT + 2_000 })
    expect(trial.row).toMatchObject({ ...row, ending: 'complete', deducted: amount })
    expect(trial.store.account()).toMatchObject({ credits: credits(1_000) - amount, held: 0n })
    expect(trial.logged).toEqual([])
  })

  test('in its ledger and its log at once: what was held is free again and the row tells what was deducted', async () => {
    const trial = new Trial()
    await trial.settle()
    expect(trial.store.account()).toMatchObject({ credits: credits(994), held: 0n })
    expect(trial.observed).toMatchObject([{ amount: credits(6), deducted: credits(6) }])
  })

  test('to the credential of the platform, and to none where the account brought its own', async () => {
    const trial = new Trial()
    await trial.settle()
    const own = new Trial()
    await own.settle({ leg: leg({ byok: true }) })
    const platform = sampleChain(1, MODEL, VENDOR).credentialId
    expect([trial.written[0]?.credentialId, own.written[0]?.credentialId]).toEqual([platform, undefined])
  })
})

describe('an answer is never free because of a fault of ours: the row says gateway-error', () => {
  const FAULT = 'a call is charged by the best figure that is known'

  test.each<[string, Trial['broken'], Partial<ReservedCall>, MicroCredits, number]>([
    ['where the reader of prices fails the text is read anew', { terms: true }, {}, credits(6), 1],
    [
      'where prices cannot be read at all it costs what was held',
      {},
      { demand: exampleDemand({ terms: '{}' }) },
      credits(21),
      2,
    ],
    [
      'where the calendar month cannot be determined it counts in the one of the account',
      { month: true },
      {},
      credits(6),
      1,
    ],
  ])('%s', async (_sentence, broken, call, amount, faults) => {
    const trial = new Trial()
    trial.broken = broken
    await trial.settle({}, call)
    expect(trial.written[0]).toMatchObject({ amount, log: { ending: 'gateway-error' } })
    expect(trial.logged).toEqual(Array.from({ length: faults }, () => FAULT))
    expect(trial.written[0]?.monthStart === 0).toBe(broken.month === true)
  })

  test('where its tokens cannot be counted the quick estimate of the hold stands', async () => {
    const trial = new Trial()
    trial.broken = { tokens: true }
    await trial.settle({ inputEstimated: true, reading: used({ input: 40, output: 500 }) })
    expect(trial.written[0]).toMatchObject({
      used: { usage: { input: 40, output: 500 } },
      log: { ending: 'gateway-error' },
    })
  })
})

describe('the store', () => {
  test('that lost the connection in the middle is told once more, and the charge counts once', async () => {
    const trial = new Trial()
    trial.storeFails.push(new StorageUnavailable('lost'))
    expect(await trial.settle()).toBe(true)
    expect(trial.store.account()).toMatchObject({ credits: credits(994) })
    expect(trial.pending).toEqual([])
  })

  test.each<[string, readonly Error[]]>([
    ['that was never reached', [new StorageUnavailable('away', { untouched: true })]],
    ['that stays away', [new StorageUnavailable('lost'), new StorageUnavailable('lost')]],
    ['that fails otherwise', [new Error('odd')]],
  ])('%s keeps nobody waiting: the end is kept and tried again', async (_sentence, failures) => {
    const trial = new Trial()
    trial.storeFails.push(...failures)
    expect(await trial.settle()).toBe(false)
    expect(trial.pending).toMatchObject([{ kind: 'settle', callId: 'a', amount: credits(6) }])
    expect(trial.observed).toMatchObject([{ amount: credits(6) }])
  })

  test('that throws at once has its end kept too', async () => {
    const trial = new Trial()
    trial.throwsAtOnce = new Error('odd')
    expect(await trial.settle()).toBe(false)
    expect(trial.pending).toMatchObject([{ kind: 'settle', callId: 'a', amount: credits(6) }])
    expect([trial.tried, trial.released]).toEqual([1, 1])
  })

  test.each<[string, readonly Error[]]>([
    ['taken', []],
    ['refused', [new Error('odd')]],
  ])(
    'has %s the end: the client gets the end of its answer, and the body is let go',
    async (_sentence, failures) => {
      const trial = new Trial()
      trial.storeFails.push(...failures)
      await trial.settle()
      expect([trial.tried, trial.released]).toEqual([1, 1])
    },
  )
})
