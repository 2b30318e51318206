/**
 * Random operations on a store of hot rows, held step by step against the naive model: calls, claims, progress, both
 * doors, repeats of all of them, crashes with recovery, clock steps back and forth, and changes of keys, accounts,
 * plans, policies and prices in between. One world is one store; the same seed makes the same world.
 */
import { expect } from 'vitest'
import { exampleLog, NO_PRICES } from '../../src/core/calls/examples.ts'
import type {
  AccountRow,
  KeyRow,
  LimitState,
  OpenCall,
  Subject,
  Transfer,
} from '../../src/core/calls/hot-rows.ts'
import { REVENUE } from '../../src/core/calls/ledger.ts'
import {
  type NaiveAccount,
  type NaiveAnswer,
  type NaiveCounts,
  type NaiveFunding,
  type NaiveKey,
  NaiveModel,
  type NaiveModelPrice,
  type NaiveRefusal,
} from '../../src/core/calls/naive-model.ts'
import type {
  AbandonOperation,
  ClaimOperation,
  Demand,
  Funding,
  HotOperation,
  HotOutcome,
  Refusal,
  ReserveOperation,
  SettleOperation,
  VideoEnd,
} from '../../src/core/calls/operations.ts'
import { decideRecovery } from '../../src/core/calls/recover.ts'
import { NO_USAGE } from '../../src/core/canonical/usage.ts'
import {
  accountId,
  callId,
  chainId,
  credentialId,
  instanceId,
  keyId,
  modelId,
  vendorCode,
} from '../../src/core/ids.ts'
import type { Dimension, Policy } from '../../src/core/limits/policy.ts'
import { microCredits } from '../../src/core/money.ts'
import { priceCall } from '../../src/core/pricing/price.ts'
import type { PriceTerms } from '../../src/core/pricing/terms.ts'

const MONTH_MS = 600_000
const START = 1_700_000_100_000

/** What is simulated: the pure decisions over maps, or an engine with its database. */
export interface SimulatedStore {
  /** What the back office changed; money only by grants. */
  change(rows: {
    readonly keys: readonly KeyRow[]
    readonly accounts: readonly AccountRow[]
    readonly grants: readonly Transfer[]
  }): Promise<void>
  /** One batch, one transaction. */
  run(batch: readonly HotOperation[]): Promise<readonly HotOutcome[]>
  read(): Promise<StoreState>
}

export interface StoreState {
  readonly accounts: ReadonlyMap<AccountRow['id'], AccountRow>
  readonly limitStates: ReadonlyMap<Subject, LimitState>
  readonly openCalls: ReadonlyMap<OpenCall['callId'], OpenCall>
  /** Ledger account → what its entries sum up to, µCr. */
  readonly pools: ReadonlyMap<string, bigint>
  readonly logs: number
  /** Video tasks that ended, with what their ends said. */
  readonly ended: ReadonlyMap<string, unknown>
}

/** mulberry32: small, fast, and the same everywhere. */
function randomOf(seed: number) {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const upTo = (max: number) => Math.floor(next() * (max + 1))
  return {
    upTo,
    chance: (part: number) => next() < part,
    pick: <Item>(items: readonly Item[]): Item => {
      const item = items[upTo(items.length - 1)]
      if (item === undefined) throw new Error('nothing to pick from')
      return item
    },
  }
}

/** In the order in which a store gives them. */
const VENDORS = ['google', 'openai']
const CREDENTIALS = ['one', 'two']
const DIMENSIONS: readonly Dimension[] = ['requests', 'tokens', 'images', 'videos', 'amount', 'video_seconds']

/** One operation with what the model is told of it. */
interface Planned {
  readonly operation: HotOperation
  readonly answer: () => unknown
}

export class Simulation {
  private readonly random: ReturnType<typeof randomOf>
  private readonly store: SimulatedStore
  private readonly naive = new NaiveModel()
  private state: StoreState = NOTHING_STORED
  private readonly prices = new Map<string, NaiveModelPrice>()
  private readonly credentialPolicies = new Map<string, Policy>()
  private readonly earlier: Planned[] = []
  private readonly grants: Transfer[] = []
  private granted = 0
  private readonly endedExpected = new Map<string, unknown>()
  private at = START
  private calls = 0
  private loggedExpected = 0

  constructor(seed: number, store: SimulatedStore) {
    this.random = randomOf(seed)
    this.store = store
    for (let index = 0; index < 3; index++) this.changePrice(`model_${index}`)
    for (const id of CREDENTIALS) this.credentialPolicies.set(id, this.randomPolicy())
    for (const id of ['acc_1', 'acc_2']) {
      this.naive.accounts.set(id, this.newAccount(id))
      this.changeAccount(id)
    }
    for (const [key, account] of [
      ['key_1', 'acc_1'],
      ['key_2', 'acc_1'],
      ['key_3', 'acc_2'],
    ] as const) {
      this.naive.keys.set(key, {
        id: key,
        account,
        status: 'enabled',
        expiresAt: undefined,
        policy: this.randomPolicy(),
      })
    }
  }

  async run(operations: number): Promise<void> {
    await this.changeStore()
    let done = 0
    while (done < operations) {
      this.stepClock()
      if (this.random.chance(0.15)) {
        this.changeSomething()
        await this.changeStore()
      }
      const batch = Array.from({ length: 1 + this.random.upTo(5) }, (_, index) => this.plan(index))
      const outcomes = await this.store.run(batch.map(({ operation }) => operation))
      for (const [index, { operation, answer }] of batch.entries()) {
        expect(plain(operation, outcomes[index])).toEqual(answer())
      }
      this.earlier.push(...batch)
      if (this.earlier.length > 40) this.earlier.splice(0, this.earlier.length - 40)
      this.state = await this.store.read()
      this.compare()
      done += batch.length
    }
  }

  private plan(index: number): Planned {
    const open = [...this.state.openCalls.values()]
    const roll = this.random.upTo(99)
    const again = this.random.chance(0.05)
      ? this.earlier[this.random.upTo(this.earlier.length - 1)]
      : undefined
    if (again !== undefined && again.operation.kind !== 'reserve') return again
    if (open.length === 0 || roll < 38) return this.planReserve()
    const call = this.random.pick(open)
    if (roll < 50) return this.planClaim(call)
    if (roll < 58) return this.planProgress(call)
    if (roll < 82) return this.planSettle(call)
    if (roll < 92) return this.planAbandon(call)
    // First in its batch, since a call that has ended before is the store's to know.
    if (roll < 94 && index === 0) return this.planReserveAgain(call)
    // The store leaves the calls of living tasks to whoever leases the task next.
    return call.counts.videos > 0 ? this.planAbandon(call) : this.planRecovery(call)
  }

  private planReserve(): Planned {
    const key = this.random.pick([...this.naive.keys.values()])
    const call = `call_${this.calls++}`
    const model = this.random.pick([...this.prices.values()])
    const others = [...this.prices.values()].filter(({ id }) => id !== model.id)
    const fallback = this.random.chance(0.4) ? this.random.pick(others) : undefined
    const videos = this.random.chance(0.2) ? 1 : 0
    const counts: NaiveCounts = {
      requests: 1,
      images: this.random.upTo(2),
      videos,
      videoSeconds: videos * this.random.upTo(8),
    }
    const output = this.random.upTo(600)
    const tokens = { input: this.random.upTo(500), output, worst: output + this.random.upTo(2000) }
    const strict = this.random.chance(0.6)
    const month = this.month()
    const at = this.at
    const operation: ReserveOperation = {
      kind: 'reserve',
      callId: callId(call),
      instanceId: instanceId('instance_1'),
      at,
      keyId: keyId(key.id),
      accountId: accountId(key.account),
      counts,
      model: demandOf(model, { counts, tokens, strict }),
      fallback: fallback && demandOf(fallback, { counts, tokens, strict }),
      defaultPolicy: { concurrency: undefined, windows: [] },
      monthStart: month.start,
      monthEnd: month.end,
      description: '{}',
    }
    const ask = {
      call,
      key: key.id,
      at,
      monthStart: month.start,
      monthEnd: month.end,
      counts,
      model,
      fallback,
      tokens,
      strict,
    }
    return { operation, answer: () => this.naive.reserve(ask) }
  }

  /** The same reservation once more, as a store repeats it that lost the answer to its commit. */
  private planReserveAgain(open: OpenCall): Planned {
    const known = this.naive.open.get(open.callId)
    if (known === undefined) return this.planAbandon(open)
    const { reserve } = known
    const operation: ReserveOperation = {
      kind: 'reserve',
      callId: open.callId,
      instanceId: open.instanceId,
      at: this.at,
      keyId: open.keyId,
      accountId: open.accountId,
      counts: open.counts,
      model: demandOf(reserve.model, reserve),
      fallback: reserve.fallback && demandOf(reserve.fallback, reserve),
      defaultPolicy: { concurrency: undefined, windows: [] },
      monthStart: 0,
      description: '{}',
    }
    return { operation, answer: () => this.naive.reserve({ ...reserve, at: this.at }) }
  }

  private planClaim(open: OpenCall): Planned {
    const credential = this.random.pick(CREDENTIALS)
    const policy = this.credentialPolicies.get(credential) ?? this.randomPolicy()
    const at = this.at
    const operation: ClaimOperation = {
      kind: 'claim',
      callId: open.callId,
      at,
      credentialId: credentialId(credential),
      policy,
      counts: open.counts,
    }
    const ask = { call: open.callId, credential, policy, counts: open.counts, at }
    return { operation, answer: () => this.naive.claim(ask) }
  }

  private planProgress(open: OpenCall): Planned {
    const use = this.randomUse(open)
    const operation: HotOperation = {
      kind: 'progress',
      callId: open.callId,
      at: this.at,
      chainId: chainId(Number(use.chain)),
      modelId: modelId(use.model.id),
      byok: use.byok,
      usage: { ...NO_USAGE, input: use.input, output: use.output },
      usageSource: 'estimated',
      images: use.images,
    }
    return { operation, answer: () => 'done' }
  }

  private planSettle(open: OpenCall): Planned {
    const use = this.randomUse(open)
    const claimed =
      open.claims.length > 0 && this.random.chance(0.5) ? this.random.pick(open.claims) : undefined
    const { recipe, amount } = priceCall(
      {
        usage: { ...NO_USAGE, input: use.input, output: use.output },
        images: use.images,
        videoSeconds: use.seconds,
        requests: 1,
      },
      { terms: termsOf(use.model), chainId: chainId(Number(use.chain)), userRate: open.userRate },
    )
    const month = this.month()
    const operation: SettleOperation = {
      kind: 'settle',
      callId: open.callId,
      keyId: open.keyId,
      accountId: open.accountId,
      at: this.at,
      monthStart: month.start,
      modelId: modelId(use.model.id),
      credentialId: claimed,
      byok: use.byok,
      recipe,
      amount,
      tokens: use.input + use.output,
      images: use.images,
      videoSeconds: use.seconds,
      log: exampleLog(open.callId),
      task: this.taskOf(open),
    }
    const { task } = operation
    const naive = { ...use, call: open.callId, at: this.at, monthStart: month.start, credential: claimed }
    return { operation, answer: () => this.settleNaive(naive, { amount, task }) }
  }

  private planAbandon(open: OpenCall): Planned {
    const { callId: id, keyId: key, accountId: account } = open
    const operation: AbandonOperation = {
      kind: 'abandon',
      callId: id,
      keyId: key,
      accountId: account,
      at: this.at,
      log: exampleLog(id),
      task: this.taskOf(open),
    }
    return { operation, answer: () => this.abandonNaive(id, operation.task) }
  }

  /** Every video is a task, whose record says something else each time it is ended. */
  private taskOf(open: OpenCall): VideoEnd | undefined {
    if (open.counts.videos === 0) return undefined
    return { id: `video_of_${open.callId}`, patch: { progress: this.random.upTo(100) } }
  }

  /** The process of the call died; it ends as its last progress says. */
  private planRecovery(open: OpenCall): Planned {
    const operation = decideRecovery(open, this.at, this.month().start)
    if (operation.kind === 'abandon')
      return { operation, answer: () => this.abandonNaive(open.callId, undefined) }
    const { progress } = open
    const reserve = this.naive.open.get(open.callId)?.reserve
    if (progress === undefined || reserve === undefined) throw new Error('recovered without progress')
    const isFallback = progress.modelId === reserve.fallback?.id
    const naive = {
      call: open.callId,
      at: this.at,
      monthStart: this.month().start,
      model: isFallback ? reserve.fallback : reserve.model,
      chain: String(progress.chainId),
      byok: progress.byok,
      input: progress.usage.input ?? 0,
      output: progress.usage.output ?? 0,
      images: progress.images,
      seconds: 0,
      credential: progress.credentialId,
    }
    return { operation, answer: () => this.settleNaive(naive, { amount: operation.amount, task: undefined }) }
  }

  private settleNaive(
    use: Parameters<NaiveModel['settle']>[0],
    settled: { readonly amount: bigint; readonly task: VideoEnd | undefined },
  ) {
    const charge = this.naive.settle(use)
    if (charge === undefined) return { first: false, deducted: 0n }
    this.leaveNaive(settled.task)
    expect(settled.amount).toBe(charge.amount)
    return { first: true, deducted: charge.deducted }
  }

  private abandonNaive(call: string, task: VideoEnd | undefined) {
    if (this.naive.abandon(call)) this.leaveNaive(task)
    return 'done'
  }

  /** By whichever door: one log row, and the end of the task where there is one. */
  private leaveNaive(task: VideoEnd | undefined): void {
    this.loggedExpected += 1
    if (task !== undefined) this.endedExpected.set(task.id, task.patch)
  }

  private randomUse(open: OpenCall) {
    const reserve = this.naive.open.get(open.callId)?.reserve
    if (reserve === undefined) throw new Error(`the model does not know ${open.callId}`)
    const fallback = open.funding.fallback === undefined ? undefined : reserve.fallback
    const model = fallback !== undefined && this.random.chance(0.3) ? fallback : reserve.model
    return {
      model,
      chain: this.random.pick(['1', '2', '9']),
      byok: this.random.chance(0.15),
      input: this.random.upTo(600),
      output: this.random.chance(0.1) ? this.random.upTo(9000) : this.random.upTo(600),
      images: this.random.upTo(3),
      seconds: open.counts.videoSeconds,
    }
  }

  private stepClock(): void {
    if (this.random.chance(0.02)) this.at -= this.random.upTo(200_000)
    else if (this.random.chance(0.7)) this.at += this.random.upTo(4_000)
    if (this.random.chance(0.01)) this.at += this.random.upTo(MONTH_MS)
  }

  private month() {
    const start = Math.floor(this.at / MONTH_MS) * MONTH_MS
    return { start, end: start + MONTH_MS }
  }

  private changeSomething(): void {
    const { random } = this
    // A deleted key stays deleted, as it was.
    const key = random.pick([...this.naive.keys.values()].filter(({ status }) => status !== 'deleted'))
    switch (random.upTo(3)) {
      case 0:
        key.policy = this.randomPolicy()
        return
      case 1:
        key.status = random.chance(0.9)
          ? 'enabled'
          : random.chance(0.9) || this.isLast()
            ? 'disabled'
            : 'deleted'
        key.expiresAt = random.chance(0.05) ? this.at + random.upTo(50_000) - 5_000 : undefined
        return
      case 2:
        this.changePrice(random.pick([...this.prices.keys()]))
        return
      case 3:
        this.changeAccount(random.pick([...this.naive.accounts.keys()]))
    }
  }

  /** Something has to be left to call with. */
  private isLast(): boolean {
    return [...this.naive.keys.values()].filter(({ status }) => status !== 'deleted').length === 1
  }

  private changePrice(id: string): void {
    const { random } = this
    this.prices.set(id, {
      id,
      input: random.upTo(3000),
      output: random.upTo(9000),
      image: random.chance(0.3) ? random.upTo(4_000_000) : 0,
      second: random.chance(0.3) ? random.upTo(2_000_000) : 0,
      tenths: { '1': 10, '2': 5 + random.upTo(15) },
      vendors: random.pick([['openai'], ['google'], ['openai', 'google']]),
      covered: random.chance(0.6),
      verification: random.chance(0.8) ? random.pick([-1, 0]) : random.pick([1, 2]),
      plan: random.chance(0.8) ? random.pick([-1, 0]) : random.pick([1, 2, 3]),
    })
  }

  private newAccount(id: string): NaiveAccount {
    return {
      id,
      suspended: false,
      verification: 2,
      ratePercent: 100,
      credits: 0n,
      held: 0n,
      balance: 0n,
      deduction: true,
      cap: 0n,
      monthStart: 0,
      spent: 0n,
      monthHeld: 0n,
      exchange: { enabled: false, below: 0n, step: 0n },
      subscription: undefined,
      policy: this.randomPolicy(),
      byok: [],
    }
  }

  private changeAccount(id: string): void {
    const { random } = this
    const account = this.naive.accounts.get(id)
    if (account === undefined) throw new Error(`no account ${id}`)
    account.suspended = random.chance(0.02)
    account.verification = random.pick([0, 1, 2, 2])
    account.ratePercent = random.pick([100, 100, 87, 33, 0])
    account.deduction = random.chance(0.8)
    account.cap = random.chance(0.6) ? 0n : credits(random.upTo(60))
    account.exchange = {
      enabled: random.chance(0.6),
      below: credits(random.upTo(40)),
      step: credits(random.upTo(30)),
    }
    const quota = [60, 300]
      .slice(random.upTo(2))
      .map((seconds) => ({ credits: credits(random.upTo(60)), seconds }))
    const level = 1 + random.upTo(2)
    const expiresAt = this.at + random.upTo(2 * MONTH_MS)
    account.subscription = random.chance(0.4) ? undefined : { level, expiresAt, quota }
    account.policy = this.randomPolicy()
    Object.assign(account, { byok: VENDORS.filter(() => random.chance(0.2)) })
    this.grant(account, { pool: 'credits', amount: credits(random.chance(0.5) ? random.upTo(40) : 0) })
    this.grant(account, { pool: 'balance', amount: credits(random.upTo(60)) })
  }

  private grant(account: NaiveAccount, grant: { pool: 'credits' | 'balance'; amount: bigint }): void {
    if (grant.amount === 0n) return
    account[grant.pool] += grant.amount
    this.grants.push({
      transactionId: `grant_${this.granted++}`,
      sequence: 0,
      at: this.at,
      debit: 'platform/grants',
      credit: `${account.id}/${grant.pool}`,
      amount: microCredits(grant.amount),
      kind: 'grant',
      reference: undefined,
    })
  }

  private randomPolicy(): Policy {
    const { random } = this
    const windows = Array.from({ length: random.upTo(5) }, () => {
      const dimension = random.pick(DIMENSIONS)
      const limit =
        dimension === 'tokens'
          ? random.upTo(15_000)
          : dimension === 'amount'
            ? random.upTo(60)
            : random.upTo(40)
      return { dimension, limit: limit + 1, seconds: random.pick([10, 60, 300]) }
    })
    // Twins share a window and the smaller limit rules; the model is spared that.
    const single = windows.filter(
      (window, index) =>
        windows.findIndex(
          (other) => other.dimension === window.dimension && other.seconds === window.seconds,
        ) === index,
    )
    return { concurrency: random.chance(0.5) ? undefined : 1 + random.upTo(6), windows: single }
  }

  private changeStore(): Promise<void> {
    return this.store.change({
      keys: [...this.naive.keys.values()].map(keyRow),
      accounts: [...this.naive.accounts.values()].map(accountRow),
      grants: this.grants.splice(0),
    })
  }

  private compare(): void {
    const { accounts, limitStates, openCalls, pools, logs, ended } = this.state
    const pool = (name: string) => pools.get(name) ?? 0n
    expect([...pools.values()].reduce((total, amount) => total + amount, 0n)).toBe(0n)
    expect(pool(REVENUE) >= 0n).toBe(true)
    for (const account of this.naive.accounts.values()) {
      const row = accounts.get(accountId(account.id))
      expect(row).toEqual(accountRow(account))
      expect(pool(`${account.id}/credits`) + pool(`${account.id}/held`)).toBe(account.credits)
      expect(pool(`${account.id}/held`)).toBe(account.held)
      expect(pool(`${account.id}/balance`)).toBe(account.balance)
      const open = [...openCalls.values()].filter((call) => call.accountId === account.id)
      expect(open.reduce((total, call) => total + call.held, 0n)).toBe(account.held)
      expect(open.reduce((total, call) => total + call.monthHeld, 0n)).toBe(account.monthHeld)
    }
    expect([...openCalls.keys()].sort()).toEqual([...this.naive.open.keys()].sort())
    expect(logs).toBe(this.loggedExpected)
    expect(ended).toEqual(this.endedExpected)
    for (const [subject, slots] of this.naive.slots) {
      expect([subject, stateOf(limitStates, subject)?.slots ?? 0]).toEqual([subject, slots])
    }
    for (const [subject, windows] of this.naive.windows) {
      const state = stateOf(limitStates, subject)
      for (const [tier, window] of windows) {
        const found = state?.windows.find((one) => one.tier === tier)
        const runs = found !== undefined && Math.abs(this.at - found.anchor) < window.lengthMs
        const seen = {
          used: runs ? found.used : 0n,
          held: found?.held ?? 0n,
          anchor: runs ? found.anchor : 0,
        }
        const used = window.used(this.at)
        const running = window.endsInMs(this.at) !== window.lengthMs || window.anchor === this.at
        const expected = { used, held: window.held(), anchor: running ? (window.anchor ?? 0) : 0 }
        expect([subject, tier, seen]).toEqual([subject, tier, expected])
      }
    }
  }
}

const NOTHING_STORED: StoreState = {
  accounts: new Map(),
  limitStates: new Map(),
  openCalls: new Map(),
  pools: new Map(),
  logs: 0,
  ended: new Map(),
}

const credits = (count: number) => BigInt(count) * 1_000_000n

const stateOf = (states: ReadonlyMap<Subject, LimitState>, subject: string): LimitState | undefined => {
  for (const [key, state] of states) if (key === subject) return state
  return undefined
}

function termsOf(model: NaiveModelPrice): PriceTerms {
  const perMillion = (micro: number) => (micro / 1000).toString()
  const perPiece = (micro: number) => (micro / 1_000_000_000).toString()
  return {
    pricing: {
      ...NO_PRICES,
      billingModes: ['token', 'image', 'video_second'],
      inputPrice: perMillion(model.input),
      outputPrice: perMillion(model.output),
      imagePrice: perPiece(model.image),
      videoPrice: perPiece(model.second),
    },
    creditsPerYuan: '1000',
    multipliers: Object.fromEntries(
      Object.entries(model.tenths).map(([id, tenths]) => [id, String(tenths / 10)]),
    ),
  }
}

function demandOf(
  model: NaiveModelPrice,
  ask: { counts: NaiveCounts; tokens: { input: number; output: number; worst: number }; strict: boolean },
): Demand {
  return {
    modelId: modelId(model.id),
    requiredVerification: model.verification,
    requiredPlan: model.plan,
    subscriptionCovered: model.covered,
    vendors: model.vendors.map(vendorCode),
    terms: JSON.stringify(termsOf(model)),
    estimate: {
      inputTokens: ask.tokens.input,
      outputTokens: ask.tokens.output,
      images: ask.counts.images,
      videoSeconds: ask.counts.videoSeconds,
      bound: ask.strict ? 'strict' : 'affordable',
      worstInputTokens: ask.tokens.input,
      worstOutputTokens: ask.tokens.worst,
    },
  }
}

function keyRow(key: NaiveKey): KeyRow {
  const { status, expiresAt, policy } = key
  return { id: keyId(key.id), accountId: accountId(key.account), status, expiresAt, policy }
}

function accountRow(account: NaiveAccount): AccountRow {
  const { exchange, subscription } = account
  return {
    id: accountId(account.id),
    status: account.suspended ? 'suspended' : 'active',
    verification: account.verification,
    userRate: String(account.ratePercent),
    credits: microCredits(account.credits),
    held: microCredits(account.held),
    balance: microCredits(account.balance),
    apiDeduction: account.deduction,
    monthlyCap: microCredits(account.cap),
    monthStart: account.monthStart,
    monthSpent: microCredits(account.spent),
    monthHeld: microCredits(account.monthHeld),
    autoExchange: {
      enabled: exchange.enabled,
      belowCredits: microCredits(exchange.below),
      step: microCredits(exchange.step),
    },
    subscription: subscription && {
      plan: 'any',
      level: subscription.level,
      expiresAt: subscription.expiresAt,
      quota: subscription.quota.map((tier) => ({ ...tier, credits: microCredits(tier.credits) })),
    },
    policy: account.policy,
    byokVendors: account.byok.map(vendorCode),
  }
}

/** An outcome in the model's words. */
function plain(operation: HotOperation, outcome: HotOutcome | undefined): unknown {
  if (outcome === undefined) throw new Error(`no outcome of ${operation.kind}`)
  switch (outcome.kind) {
    case 'refused':
      return { kind: 'refused', refusal: plainRefusal(outcome.refusal) } satisfies NaiveAnswer
    case 'reserved':
      return {
        kind: 'reserved',
        held: outcome.held,
        model: plainFunding(outcome.model),
        fallback: plainFallback(outcome.fallback),
      } satisfies NaiveAnswer
    case 'claimed':
      return 'claimed'
    case 'full':
      return outcome.retryAfterMs
    case 'settled':
      return { first: outcome.first, deducted: outcome.deducted }
    case 'done':
      return 'done'
  }
}

const plainRefusal = ({ code, retryAfterMs }: Refusal): NaiveRefusal => ({ code, waitMs: retryAfterMs })
const plainFunding = ({ byokVendors, otherwise }: Funding): NaiveFunding => ({
  byok: byokVendors,
  payer: otherwise,
})

function plainFallback(
  fallback: Extract<HotOutcome, { kind: 'reserved' }>['fallback'],
): NaiveFunding | NaiveRefusal | undefined {
  if (fallback === undefined) return undefined
  return fallback.kind === 'funded' ? plainFunding(fallback) : plainRefusal(fallback.refusal)
}
