/**
 * Random operations on a store of hot rows, held step by step against the naive model: calls, claims, progress, both
 * ways, repeats of all of them, crashes with recovery, clock steps back and forth, and changes of keys, accounts,
 * plans, policies and prices in between. One world is one set of accounts; the same seed makes the same world. It is
 * long because it is one idea: what may happen, and what the model is told of it.
 */
import { exampleLog, exampleReserve } from '../../src/core/calls/examples.ts'
import type { CallProgress, OpenCall, Transfer } from '../../src/core/ledger/hot-rows.ts'
import type { CallLogRow } from '../../src/core/ledger/log-row.ts'
import {
  type NaiveAccount,
  type NaiveCounts,
  type NaiveMember,
  NaiveModel,
  payOwed,
  type NaiveModelPrice,
  type NaiveReserve,
} from '../../src/core/calls/naive-model.ts'
import {
  type AbandonOperation,
  type ClaimOperation,
  type HotOperation,
  type ReserveOperation,
  type SettleOperation,
  type VideoEnd,
} from '../../src/core/ledger/operations.ts'
import { decideRecovery } from '../../src/core/calls/ends/recover.ts'
import { NO_USAGE } from '../../src/core/canonical/usage.ts'
import { NOTHING_USED } from '../../src/core/metering/quantities.ts'
import {
  accountId,
  callId,
  chainId,
  credentialId,
  type InstanceId,
  instanceId,
  keyId,
  modelId,
} from '../../src/core/ids.ts'
import type { Dimension, Policy } from '../../src/core/limits/policy.ts'
import { microCredits } from '../../src/core/money.ts'
import { priceCall } from '../../src/core/pricing/price.ts'
import type { TaskKind } from '../../src/core/video/task.ts'
import { compareState } from './compare.ts'
import { type Random, randomOf } from './random.ts'
import { expectSame } from './same.ts'
import type { Act, Answer, SimulatedStore, StoredMoney, StoreState } from './store.ts'
import type { Tally } from './tally.ts'
import { taskIdOf } from './task.ts'
import { accountRow, demandOf, isOfMember, keyRow, memberRow, plain, termsOf } from './words.ts'

const MONTH_MS = 600_000
const START = 1_700_000_100_000
/** At a round price they cost a whole Credit. */
const ROUND_TOKENS = 250
/** Steps after which everything is read anew instead of what was touched. */
const STEPS_PER_WHOLE_READ = 100
/** The shortest windows of quotas have gone on by then. */
const ROLLED_MS = 10_000
/** Batches that wait for the database at once. */
const OUTAGES_MAX = 6
/** Operations and reservations that may be repeated later. */
const REMEMBERED = 60

/** A call begins at one time, whoever writes its log row. */
const DESCRIPTION = { ...exampleReserve('any').description, createdAt: exampleLog('any').createdAt }

/** In the order in which a store gives them. */
const VENDORS = ['google', 'openai']
const DIMENSIONS: readonly Dimension[] = ['requests', 'tokens', 'images', 'videos', 'amount', 'video_seconds']

/** One operation with what the model is told of it. */
interface Planned {
  /** What is counted when it is done. */
  readonly name: string
  readonly call: string
  readonly operation: HotOperation
  readonly answer: () => unknown
  /** What its instance tells for as long as it hears no answer: the very same, or that the call never began. */
  readonly unheard?: () => readonly Planned[]
  /** Where a repetition is as of when it is made: only ends of calls are told later as of when they were. */
  readonly again?: () => Planned
}

interface Reservation {
  readonly operation: ReserveOperation
  readonly ask: NaiveReserve
}

export class Simulation {
  private readonly random: Random
  private readonly store: SimulatedStore
  private readonly tally: Tally
  /** Begins every id, so that worlds can share a database. */
  private readonly name: string
  /** Everything comes in round numbers, so that limits, caps and thresholds are met exactly. */
  private readonly isRound: boolean
  private readonly naive = new NaiveModel()
  private state: StoreState = NOTHING_STORED
  private readonly prices = new Map<string, NaiveModelPrice>()
  /** Members who went → what became of their keys. */
  private readonly gone = new Map<string, 'delete' | 'keep'>()
  private readonly credentialPolicies = new Map<string, Policy>()
  private readonly earlier: Planned[] = []
  private readonly reservations: Reservation[] = []
  private readonly acts: Act[] = []
  private readonly bookings: Transfer[][] = []
  private readonly instances: InstanceId[] = []
  /** Batches that the database has not taken, or not said so. */
  private readonly outages: (readonly Planned[])[] = []
  private readonly heartbeats = new Map<InstanceId, number>()
  /** Calls that are tasks, of videos or of background responses. */
  private readonly kinds = new Map<string, TaskKind>()
  /** Those → whether their task was written before anything went wrong. */
  private readonly tasks = new Map<string, boolean>()
  /** Calls that were reserved without their instances knowing it: nothing is done with them but giving them back. */
  private readonly lost = new Set<string>()
  private readonly ended = new Map<string, number>()
  private readonly logged = new Set<string>()
  /** What the log says of ended calls, in money. */
  private readonly logRows = new Map<string, StoredMoney>()
  private at = START
  /** Where the clock has stood. */
  private readonly stood = new Set([START])
  private made = 0
  /** Operations so far. */
  done = 0

  constructor(seed: number, store: SimulatedStore, tally: Tally) {
    this.random = randomOf(seed)
    this.store = store
    this.tally = tally
    this.name = `w${seed}`
    const { random } = this
    this.isRound = random.chance(0.4)
    for (let count = 3 + random.upTo(2); count > 0; count--) this.changePrice(this.newId('model'))
    for (let count = 2 + random.upTo(1); count > 0; count--)
      this.credentialPolicies.set(this.newId('credential'), this.randomPolicy())
    for (let count = 2 + random.upTo(3); count > 0; count--) {
      const account = this.newAccount(this.newId('acc'))
      this.naive.accounts.set(account.id, account)
      this.changeAccount(account)
      for (let keys = 1 + random.upTo(2); keys > 0; keys--) this.newKey(account.id)
      if (random.chance(0.5))
        for (let members = 1 + random.upTo(2); members > 0; members--) this.newMember(account.id)
    }
    for (let count = 3; count > 0; count--) this.instances.push(instanceId(this.newId('instance')))
  }

  /** Runs at least as many, and returns how many it were. */
  async run(operations: number): Promise<number> {
    await this.changeStore()
    for (let step = 1; this.done < operations; step++) {
      this.stepClock()
      const isAway = this.outages.length < OUTAGES_MAX && this.random.chance(0.04)
      if (isAway) this.setClock(this.at)
      const batch = this.planBatch()
      await this.changeSomething(1 + batch.length / 12)
      await (isAway ? this.outage(batch) : this.step(batch))
      if (this.outages.length > 0 && this.random.chance(0.15)) await this.endOutage()
      if (this.random.chance(0.03)) {
        this.tally.add('batch again')
        await this.step(batch)
      }
      if (this.random.chance(0.04)) await this.crash()
      if (this.random.chance(0.03)) await this.pause()
      if (this.random.chance(0.03)) await this.lease()
      if (this.random.chance(0.01)) await this.forgetRecovered()
      if (step % STEPS_PER_WHOLE_READ === 0) await this.compareWhole()
    }
    await this.endWorld()
    return this.done
  }

  /**
   * The database may be away for any time: before the batch was committed, so that nothing of it is there, or after, so
   * that only its answers are lost. Its instances tell the ends of their calls again until it is back, as of then, whatever
   * has happened since; who wanted to begin one has been refused, and what it may have taken is given back. Nothing else
   * happens in its millisecond: the ends may begin a window there long after another one was forgotten.
   */
  private async outage(batch: readonly Planned[]): Promise<void> {
    const isCommitted = this.random.chance(0.5)
    for (const { operation, call } of batch) if (operation.kind === 'reserve') this.lost.add(call)
    if (isCommitted) await this.step(batch)
    this.tally.add(isCommitted ? 'outage after a commit' : 'outage before a commit')
    this.outages.push(batch)
    this.setClock(this.at)
  }

  private async endOutage(): Promise<void> {
    const [batch] = this.outages.splice(this.random.upTo(this.outages.length - 1), 1)
    if (batch === undefined) return
    this.tally.add('an outage ended')
    const ends = batch.flatMap(({ unheard }) => unheard?.() ?? [])
    await this.step(ends)
    // Told from ahead of a clock that was set back they begin windows there: the one of this millisecond does not come again.
    if (ends.some(({ operation }) => 'at' in operation && operation.at > this.at)) this.setClock(this.at)
  }

  private async step(batch: readonly Planned[]): Promise<void> {
    const operations = batch.map(({ operation }) => operation)
    this.done += batch.length
    const answers = await this.store.run(operations, this.random.chance(0.5) ? 1 : 0)
    for (const [index, planned] of batch.entries()) this.check(planned, answers[index])
    for (const { operation } of batch) if (operation.kind === 'reserve') await this.orderTask(operation)
    if (batch.length > 50) this.tally.add('batch of more than 50')
    this.earlier.push(...batch.slice(-REMEMBERED))
    this.earlier.splice(0, Math.max(0, this.earlier.length - REMEMBERED))
    this.state = await this.store.read()
    this.compare(this.state)
  }

  private check({ name, operation, answer }: Planned, found: Answer | undefined): void {
    const account = 'accountId' in operation ? this.naive.accounts.get(operation.accountId) : undefined
    const balance = account?.balance
    const owed = account?.owed
    const carried = this.naive.carriedOver(this.at)
    const expected = answer()
    this.tallyCarried(carried, operation)
    expectSame(`the answer to ${name} of ${this.name}`, found && plain(found), expected)
    if (account !== undefined && balance !== undefined && account.balance < balance)
      this.tally.add(operation.kind === 'reserve' ? 'exchange before a hold' : 'exchange after a charge')
    if (account !== undefined && owed !== undefined && account.owed < owed)
      this.tally.add(
        operation.kind === 'reserve' ? 'owed: charged before a hold' : 'owed: charged after a call',
      )
    if (found === undefined) return
    this.tally.add(`${name}: ${outcomeOf(found)}`)
    if (found.kind === 'refused' && found.refusal.message?.includes('held by its running calls'))
      this.tally.add('reserve: Credits are held by running calls')
    if (found.kind === 'refused' && isOfMember(found.refusal))
      this.tally.add(`${name}: ${outcomeOf(found)} for the member`)
  }

  private tallyCarried(before: bigint, { kind }: HotOperation): void {
    const carried = this.naive.carriedOver(this.at)
    if (carried > 0n) this.tally.add('a quota has carried over what was used beyond it')
    if (carried < before && (kind === 'settle' || kind === 'abandon'))
      this.tally.add('late: less of what was carried over')
  }

  /** Most tasks are written at once; of some the process dies in between. */
  private async orderTask(operation: ReserveOperation): Promise<void> {
    const call = operation.callId
    const kind = this.kinds.get(call)
    if (kind === undefined || !this.naive.open.has(call) || this.lost.has(call)) return
    const isWritten = this.tasks.get(call) ?? this.random.chance(0.8)
    this.tasks.set(call, isWritten)
    if (isWritten) await this.store.order(operation, kind)
  }

  private compare(state: StoreState): void {
    const { naive, at, logged, ended } = this
    compareState(state, { naive, at, logs: logged.size, ended, logRows: this.logRows })
  }

  /** What the steps have told must be what is there. */
  private async compareWhole(): Promise<void> {
    // What was done since the last step was not read yet, where the database was away for the next.
    this.state = await this.store.read()
    const whole = await this.store.readWhole()
    this.compare(whole)
    expectSame(
      'the open calls',
      [...this.state.openCalls.values()].sort(byCall),
      [...whole.openCalls.values()].sort(byCall),
    )
    expectSame('the pools', Object.fromEntries(this.state.pools), Object.fromEntries(whole.pools))
  }

  private planBatch(): readonly Planned[] {
    const roll = this.random.upTo(99)
    const size =
      roll < 72 ? 1 + this.random.upTo(5) : roll < 94 ? 8 + this.random.upTo(24) : 51 + this.random.upTo(200)
    const concerned = new Set<string>()
    return Array.from({ length: size }, () => {
      const planned = this.plan(concerned, size)
      concerned.add(planned.call)
      return planned
    })
  }

  private plan(concerned: ReadonlySet<string>, size: number): Planned {
    const open = this.openCalls().filter(({ callId: call }) => !this.lost.has(call))
    const again = this.random.chance(0.05)
      ? this.earlier[this.random.upTo(this.earlier.length - 1)]
      : undefined
    if (again !== undefined && again.operation.kind !== 'reserve') return again.again?.() ?? again
    const roll = this.random.upTo(99)
    const reserves = size > 2 * open.length ? 60 : 38
    if (open.length === 0 || roll < reserves) return this.planReserve()
    if (roll >= 96) {
      // Once in a batch, since a call that has ended before is the store's to know.
      const known = this.random.pick(this.reservations)
      if (!concerned.has(known.ask.call)) return this.planKnown(known)
    }
    const recovered = this.random.chance(0.1) ? this.rather([...this.naive.recovered.keys()]) : []
    if (recovered.length > 0) return this.planLate(this.random.pick(recovered))
    // Rather those that have told where they stand, so that recovery has something to charge.
    const told = this.random.chance(0.3) ? open.filter(({ progress }) => progress !== undefined) : []
    const call = this.random.pick(told.length > 0 ? told : open)
    const act = this.random.upTo(61)
    if (act < 14) return this.planClaim(call)
    if (act < 18) return this.planUnclaim(call)
    if (act < 26) return this.planProgress(call)
    if (act < 46) return this.planSettle(call)
    if (act < 56) return this.planAbandon(call)
    // The store leaves the calls of living tasks to whoever leases the task next.
    return this.tasks.get(call.callId) === true ? this.planSettle(call) : this.planRecovery(call)
  }

  /**
   * Rather those of which something was owed that has been paid since, or whose quota has gone on; those of which it is still
   * owed or stands mostly wait.
   */
  private rather(recovered: readonly string[]): readonly string[] {
    const owing = (call: string) => {
      const { owed = 0n, quota = 0n, at = 0, open } = this.naive.recovered.get(call) ?? {}
      // Its windows have gone on meanwhile.
      if (quota > 0n) return Math.abs(this.at - at) > ROLLED_MS ? 'rolled' : 'owed'
      if (open === undefined || owed === 0n) return 'nothing'
      return owed > (this.naive.accounts.get(open.account)?.owed ?? 0n) ? 'paid' : 'owed'
    }
    const paid = recovered.filter((call) => owing(call) === 'paid')
    if (paid.length > 0) {
      this.tally.add('an instance came back after what was owed was paid')
      return paid
    }
    const rolled = recovered.filter((call) => owing(call) === 'rolled')
    if (rolled.length > 0) return rolled
    const others = recovered.filter((call) => owing(call) === 'nothing')
    return this.random.chance(0.8) ? others : recovered
  }

  private openOfState: { readonly state: StoreState; readonly calls: readonly OpenCall[] } | undefined

  private openCalls(): readonly OpenCall[] {
    if (this.openOfState?.state !== this.state)
      this.openOfState = { state: this.state, calls: [...this.state.openCalls.values()].sort(byCall) }
    return this.openOfState.calls
  }

  private planReserve(): Planned {
    const keys = [...this.naive.keys.values()]
    const usable = keys.filter(({ status, expiresAt }) => status === 'enabled' && expiresAt === undefined)
    const key = this.random.pick(usable.length > 0 && this.random.chance(0.9) ? usable : keys)
    const call = this.newId('call')
    const model = this.random.pick([...this.prices.values()])
    const others = [...this.prices.values()].filter(({ id }) => id !== model.id)
    const fallback = this.random.chance(0.4) ? this.random.pick(others) : undefined
    const videos = this.random.chance(0.12) ? 1 : 0
    const counts: NaiveCounts = {
      requests: 1,
      images: this.random.upTo(2),
      videos,
      videoSeconds: videos * this.random.upTo(8),
    }
    if (videos > 0) this.kinds.set(call, 'video')
    else if (this.random.chance(0.08)) this.kinds.set(call, 'response')
    const [input, output] = [this.tokens(500), this.tokens(600)]
    const tokens = {
      input,
      output,
      worstInput: input + (this.random.chance(0.3) ? this.tokens(500) : 0),
      worstOutput: output + this.tokens(2000),
    }
    const strict = this.random.chance(0.6)
    const coversWorst = this.random.chance(0.5)
    const bounds = { counts, tokens, strict, coversWorst }
    const month = this.month()
    const at = this.at
    const operation: ReserveOperation = {
      kind: 'reserve',
      callId: callId(call),
      instanceId: this.random.pick(this.instances),
      at,
      keyId: keyId(key.id),
      accountId: accountId(key.account),
      counts,
      model: demandOf(model, bounds),
      fallback: fallback && demandOf(fallback, bounds),
      defaultPolicy: { concurrency: undefined, windows: [] },
      monthStart: month.start,
      monthEnd: month.end,
      description: DESCRIPTION,
    }
    const ask = {
      call,
      key: key.id,
      at,
      monthStart: month.start,
      monthEnd: month.end,
      model,
      fallback,
      ...bounds,
    }
    this.reservations.push({ operation, ask })
    if (this.reservations.length > REMEMBERED) this.reservations.shift()
    return {
      name: 'reserve',
      call,
      operation,
      answer: () => this.reserveNaive(ask),
      unheard: () => this.giveUp(operation),
    }
  }

  /** A reservation whose answer was lost: its log row, so that one still on its way finds its call ended; then its end. */
  private giveUp({ callId: call, keyId: key, accountId: account, at }: ReserveOperation): readonly Planned[] {
    const log = exampleLog(call, { keyId: key, accountId: account, httpStatus: 503 })
    const logged: Planned = {
      name: 'log of a lost reservation',
      call,
      operation: { kind: 'log', log },
      answer: () => this.logNaive(call),
    }
    // Its instance dies between the two: recovery ends a call that has a log row.
    if (this.random.chance(0.2)) return [logged]
    const operation: AbandonOperation = {
      kind: 'abandon',
      callId: call,
      keyId: key,
      accountId: account,
      at,
      sent: false,
      log,
    }
    return [
      logged,
      {
        name: 'end of a lost reservation',
        call,
        operation,
        answer: () => this.abandonNaive(operation),
      },
    ]
  }

  /** A reservation once more, as a store repeats it that lost the answer to its commit; or the log of one that was refused. */
  private planKnown({ operation, ask }: Reservation): Planned {
    const { call } = ask
    if (!this.naive.open.has(call) && !this.logged.has(call) && this.random.chance(0.5)) {
      const { keyId: key, accountId: account } = operation
      const log = exampleLog(call, { keyId: key, accountId: account, httpStatus: 429 })
      return { name: 'log', call, operation: { kind: 'log', log }, answer: () => this.logNaive(call) }
    }
    const again = { ...ask, at: this.at }
    return {
      name: 'reserve again',
      call,
      operation: { ...operation, at: this.at },
      answer: () => this.reserveNaive(again),
    }
  }

  private planClaim(open: OpenCall): Planned {
    return this.claimOf(open, this.random.pick([...this.credentialPolicies.keys()]))
  }

  private claimOf(open: OpenCall, credential: string): Planned {
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
    return {
      name: 'claim',
      call: open.callId,
      operation,
      answer: () => this.naive.claim(ask),
      again: () => this.claimOf(open, credential),
    }
  }

  private planUnclaim(open: OpenCall): Planned {
    const others = [...this.credentialPolicies.keys()].map(credentialId)
    const credential = this.random.pick(open.claims.length > 0 ? open.claims : others)
    return {
      name: 'unclaim',
      call: open.callId,
      operation: { kind: 'unclaim', callId: open.callId, credentialId: credential },
      answer: () => this.naive.unclaim({ call: open.callId, credential }),
    }
  }

  private planProgress(open: OpenCall): Planned {
    // Often far more than it turns out to be: what recovery charges for it lies over caps and quotas, and is given back.
    const cap = this.naive.accounts.get(open.accountId)?.cap ?? 0n
    const use = this.randomUse(open, cap > 0n || open.quotaHeld > 0n ? 0.8 : 0.1)
    const left = this.random.chance(0.3) || undefined
    const isDeclared = open.counts.videos > 0 && this.random.chance(0.3)
    const claim = this.random.chance(0.3) ? open.claims[0] : undefined
    const operation: HotOperation = {
      kind: 'progress',
      callId: open.callId,
      at: this.at,
      chainId: chainId(Number(use.chain)),
      credentialId: claim,
      modelId: modelId(use.model.id),
      byok: use.byok,
      usage: isDeclared ? NO_USAGE : { ...NO_USAGE, input: use.input, output: use.output },
      usageSource: isDeclared ? 'declared' : 'estimated',
      images: isDeclared ? 0 : use.images,
      left,
    }
    const name = left === true ? 'progress of a client that left' : 'progress'
    const answer = () => (left === true ? this.naive.left(open.callId) : 'done')
    return { name, call: open.callId, operation, answer }
  }

  private planSettle(open: OpenCall): Planned {
    const use = this.randomUse(open)
    const claimed =
      open.claims.length > 0 && this.random.chance(0.5) ? this.random.pick(open.claims) : undefined
    const used = {
      ...NOTHING_USED,
      usage: { ...NO_USAGE, input: use.input, output: use.output },
      images: use.images,
      videoSeconds: use.seconds,
    }
    const { recipe, amount } = priceCall(used, {
      terms: termsOf(use.model),
      chainId: chainId(Number(use.chain)),
      userRate: open.userRate,
    })
    const month = this.month()
    const { callId: call, keyId: key, accountId: account } = open
    const operation: SettleOperation = {
      kind: 'settle',
      callId: call,
      keyId: key,
      accountId: account,
      at: this.at,
      monthStart: month.start,
      modelId: modelId(use.model.id),
      credentialId: claimed,
      byok: use.byok,
      recipe,
      amount,
      used,
      log: this.endLog(open),
      task: this.taskOf(open),
    }
    const { task } = operation
    const naive = { ...use, call, at: this.at, monthStart: month.start, credential: claimed }
    const planned: Planned = {
      name: 'settle',
      call,
      operation,
      answer: () => this.settleNaive(naive, { amount, task }),
      unheard: () => [planned],
    }
    return planned
  }

  /** The instance of a call that was taken over says what became of it, or goes on as if nothing had happened. */
  private planLate(call: string): Planned {
    const open = this.state.recoveredCalls.get(callId(call))
    if (open === undefined) return this.planReserve()
    this.tally.add('an instance came back late')
    const roll = this.random.upTo(9)
    if (roll === 0) return this.planProgress(open)
    if (roll === 1) return this.planClaim(open)
    if (roll === 2) return this.planUnclaim(open)
    return roll < 8 ? this.planSettle(open) : this.planAbandon(open)
  }

  private planAbandon(open: OpenCall): Planned {
    const { callId: call, keyId: key, accountId: account } = open
    const sent = this.random.chance(0.5)
    const operation: AbandonOperation = {
      kind: 'abandon',
      callId: call,
      keyId: key,
      accountId: account,
      at: this.at,
      monthStart: this.random.chance(0.8) ? this.month().start : undefined,
      sent,
      log: this.endLog(open),
      task: this.taskOf(open),
    }
    const planned: Planned = {
      name: 'abandon',
      call,
      operation,
      answer: () => this.abandonNaive(operation),
      unheard: () => [planned],
    }
    return planned
  }

  /** Its client may have left at any moment; what was made until then is estimated. */
  private endLog({ callId: call, keyId: key, accountId: account }: OpenCall): CallLogRow {
    const row = { keyId: key, accountId: account }
    if (!this.random.chance(0.2)) return exampleLog(call, row)
    this.tally.add('a client left')
    return exampleLog(call, { ...row, clientGone: true, ending: 'client-gone', usageSource: 'estimated' })
  }

  /** The record of a task says something else each time it is ended. */
  private taskOf({ callId: call }: OpenCall): VideoEnd | undefined {
    if (!this.kinds.has(call)) return undefined
    return { id: taskIdOf(call), patch: { progress: this.random.upTo(100) } }
  }

  /** The process of the call died; it ends as its last progress says. */
  private planRecovery(open: OpenCall): Planned {
    const operation = decideRecovery(open, this.at, this.month().start)
    return this.recovery(open, operation)
  }

  private recovery(open: OpenCall, operation: SettleOperation | AbandonOperation): Planned {
    const { callId: call, progress } = open
    const { at } = operation
    const produced = progress !== undefined && hasProduced(open, progress)
    expectSame(`how recovery ends ${call}`, operation.kind, produced ? 'settle' : 'abandon')
    if (operation.kind === 'abandon') {
      const told = { ...operation, sent: true }
      return { name: 'recovery by abandon', call, operation, answer: () => this.abandonNaive(told) }
    }
    const reserve = this.naive.open.get(call)?.reserve
    if (progress === undefined || reserve === undefined) throw new Error('recovered without progress')
    const isFallback = progress.modelId === reserve.fallback?.id
    const naive = {
      call,
      at,
      monthStart: operation.monthStart,
      model: isFallback ? reserve.fallback : reserve.model,
      chain: String(progress.chainId),
      byok: progress.byok,
      input: progress.usage.input ?? 0,
      output: progress.usage.output ?? 0,
      images: progress.images,
      seconds: progress.usageSource === 'declared' ? open.counts.videoSeconds : 0,
      credential: progress.credentialId,
    }
    const { amount } = operation
    return {
      name: 'recovery by settle',
      call,
      operation,
      answer: () => this.settleNaive(naive, { amount, task: undefined, recovery: true }),
    }
  }

  private reserveNaive(ask: NaiveReserve): unknown {
    if (this.logged.has(ask.call) && !this.naive.open.has(ask.call)) return 'impossible'
    return this.naive.reserve(ask)
  }

  private logNaive(call: string): unknown {
    this.logged.add(call)
    return 'done'
  }

  private settleNaive(
    use: Parameters<NaiveModel['settle']>[0],
    settled: {
      readonly amount: bigint
      readonly task: VideoEnd | undefined
      readonly recovery?: boolean
    },
  ): unknown {
    const was = this.naive.recovered.get(use.call)
    const charge = this.naive.settle(use, settled.recovery)
    if (charge === undefined) return { first: false, late: false, deducted: 0n }
    this.leaveNaive(use.call, settled.task, 'settle')
    this.logRows.set(use.call, charge)
    if (charge.late && was !== undefined) this.tally.add(`settle: late, ${correctionOf(was, charge)}`)
    if (use.byok) this.tally.add('settle: by an own credential')
    if (charge.covered) this.tally.add('settle: covered by the subscription')
    if (charge.owed > 0n) this.tally.add('settle: owed')
    expectSame(`the price of ${use.call}`, settled.amount, charge.amount)
    return { first: true, late: charge.late, deducted: charge.deducted }
  }

  private abandonNaive({ callId: call, sent, at, monthStart, task, recovery }: AbandonOperation): unknown {
    const was = this.naive.recovered.get(call)
    if (!this.naive.abandon({ call, sent, at, monthStart }, recovery)) return 'done'
    if (was !== undefined) this.tally.add(`abandon: late, ${correctionOf(was, NOTHING_CHARGED)}`)
    this.logRows.set(call, { amount: 0n, deducted: 0n, owed: 0n })
    this.tally.add(sent ? 'abandon: sent' : 'abandon: not sent')
    this.leaveNaive(call, task, 'abandon')
    return 'done'
  }

  /** Settled or abandoned: one log row, and the end of the task where there is one. */
  private leaveNaive(call: string, task: VideoEnd | undefined, act: 'settle' | 'abandon'): void {
    this.logged.add(call)
    const kind = task && this.kinds.get(call)
    if (kind !== undefined) this.tally.add(`${kind} ended by ${act}`)
    if (task !== undefined && this.tasks.get(call) === true) this.ended.set(task.id, task.patch.progress ?? 0)
  }

  private randomUse(open: OpenCall, much = 0.1) {
    const { open: known, recovered } = this.naive
    const reserve = (known.get(open.callId) ?? recovered.get(open.callId)?.open)?.reserve
    if (reserve === undefined) throw new Error(`the model does not know ${open.callId}`)
    const fallback = open.funding.fallback === undefined ? undefined : reserve.fallback
    const model = fallback !== undefined && this.random.chance(0.3) ? fallback : reserve.model
    return {
      model,
      chain: this.random.pick(['1', '2', '9']),
      byok: this.random.chance(0.15),
      input: this.tokens(600),
      output: this.tokens(this.random.chance(much) ? 9000 : 600),
      images: this.random.upTo(3),
      seconds: open.counts.videoSeconds,
    }
  }

  private tokens(max: number): number {
    return this.isRound
      ? ROUND_TOKENS * this.random.upTo(Math.floor(max / ROUND_TOKENS))
      : this.random.upTo(max)
  }

  private milliseconds(max: number): number {
    return this.isRound ? 1_000 * this.random.upTo(max / 1_000) : this.random.upTo(max)
  }

  private stepClock(): void {
    const before = this.at
    let at = before
    if (this.random.chance(0.02)) at -= this.milliseconds(200_000) + 1
    else if (this.random.chance(0.7)) at += this.milliseconds(4_000)
    if (this.random.chance(0.05)) at += this.milliseconds(60_000)
    if (this.random.chance(0.01)) at += this.milliseconds(MONTH_MS)
    if (at !== before) this.setClock(at)
    if (this.at < before) this.tally.add('clock stepped back')
    if (this.month().start > before) this.tally.add('clock stepped over a month')
  }

  /** Never to a millisecond that was there before, but to one shortly before it: a window is known by that of its anchor. */
  private setClock(wanted: number): void {
    this.at = wanted
    while (this.stood.has(this.at)) this.at -= 1
    this.stood.add(this.at)
  }

  private month() {
    const start = Math.floor(this.at / MONTH_MS) * MONTH_MS
    return { start, end: start + MONTH_MS }
  }

  /** One instance dies; the others end what it left open, and what nobody has touched for long. */
  private async crash(): Promise<void> {
    const { random, instances, at } = this
    const victim = random.upTo(instances.length - 1)
    await this.tellProgress(instances[victim] ?? random.pick(instances))
    instances[victim] = instanceId(this.newId('instance'))
    this.tally.add('an instance crashed')
    for (const instance of instances) {
      await this.store.beat(instance, at)
      this.heartbeats.set(instance, at)
    }
    if (random.chance(0.1)) {
      await this.store.restart(random.chance(0.5) ? 1 : 0)
      this.tally.add('an opening closed and opened')
    }
    await this.recoverAll(random.chance(0.3) ? at - random.upTo(60_000) : 0)
  }

  /**
   * An instance is not heard of and the others end its calls. It wakes up some time and tells what they were, as of the
   * moment at which it fell asleep; under its old name it goes on with whatever it begins until then.
   */
  private async pause(): Promise<void> {
    const { random, instances } = this
    const sleeper = random.pick(instances)
    this.setClock(this.at)
    await this.tellProgress(sleeper)
    const calls = this.callsOf(sleeper)
    const ends = calls.map((call) => (random.chance(0.6) ? this.planSettle(call) : this.planAbandon(call)))
    this.tally.add('an instance paused')
    if (this.outages.length < OUTAGES_MAX) this.outages.push(ends)
    this.setClock(this.at + 1_000 + this.milliseconds(60_000))
    for (const instance of instances) {
      if (instance === sleeper) continue
      await this.store.beat(instance, this.at)
      this.heartbeats.set(instance, this.at)
    }
    await this.recoverAll(0)
  }

  private callsOf(owner: InstanceId): readonly OpenCall[] {
    return this.openCalls().filter(
      ({ callId: call, instanceId: instance }) => instance === owner && !this.lost.has(call),
    )
  }

  /** Where many of its calls stand, so that whoever ends them has something to charge. */
  private async tellProgress(owner: InstanceId): Promise<void> {
    const calls = this.callsOf(owner).filter(() => this.random.chance(0.5))
    if (calls.length > 0) await this.step(calls.map((call) => this.planProgress(call)))
  }

  /** Tasks go on with whoever leases them. */
  private async lease(): Promise<void> {
    const { random, at } = this
    const until = at + random.upTo(60_000)
    const leased = await this.store.lease(random.pick(this.instances), { at, until })
    if (leased > 0) this.tally.add('a task was leased')
    this.state = await this.store.read()
    this.compare(this.state)
  }

  private async forgetRecovered(): Promise<void> {
    const before = this.at - this.random.upTo(MONTH_MS)
    if (this.naive.forgetRecovered(before) > 0) this.tally.add('a recovered call was forgotten')
    await this.store.forgetRecovered(before)
    this.state = await this.store.read()
    this.compare(this.state)
  }

  private async recoverAll(leakedBefore: number): Promise<void> {
    const { at } = this
    this.state = await this.store.read()
    const open = new Map(this.state.openCalls)
    const isLost = ({ callId: call, instanceId: instance, startedAt }: OpenCall) => {
      const isDead = (this.heartbeats.get(instance) ?? 0) < at
      if (!isDead && startedAt < leakedBefore) this.tally.add('an idle call was taken for lost')
      return this.tasks.get(call) !== true && (isDead || startedAt < leakedBefore)
    }
    const lost = [...open.values()].filter(isLost).map((call) => call.callId)
    const recovered = await this.store.recover({ at, deadBefore: at, leakedBefore })
    this.forgetSilent(open.values())
    const found = recovered.map(({ operation }) => ('callId' in operation ? operation.callId : ''))
    expectSame('which calls were recovered', found.sort(), lost.sort())
    for (const { operation, answer } of recovered) {
      const call = 'callId' in operation ? open.get(operation.callId) : undefined
      if (call === undefined || (operation.kind !== 'settle' && operation.kind !== 'abandon'))
        throw new Error(`recovered by ${operation.kind}`)
      this.check(this.recovery(call, operation), answer)
      this.tally.add(`recovery: ${operation.kind}`)
    }
    this.state = await this.store.read()
    this.compare(this.state)
  }

  /** A silent instance without calls is known no more: a clock that is stepped back does not bring its last beat back. */
  private forgetSilent(open: Iterable<OpenCall>): void {
    const busy = new Set([...open].map((call) => call.instanceId))
    for (const [instance, beat] of this.heartbeats)
      if (beat < this.at && !busy.has(instance)) this.heartbeats.delete(instance)
  }

  /** Everything ends, and nothing is held any more. */
  private async endWorld(): Promise<void> {
    while (this.outages.length > 0) await this.endOutage()
    const tasks = this.openCalls().filter(({ callId: call }) => this.tasks.get(call) === true)
    if (tasks.length > 0)
      await this.step(
        tasks.map((call) => (this.random.chance(0.5) ? this.planSettle(call) : this.planAbandon(call))),
      )
    this.at = Math.max(this.at, ...this.heartbeats.values()) + 1
    await this.recoverAll(0)
    await this.compareWhole()
    expectSame('what is open in the end', this.naive.open.size, 0)
    for (const { id, held, monthHeld } of this.naive.accounts.values())
      expectSame(`what ${id} holds in the end`, { held, monthHeld }, { held: 0n, monthHeld: 0n })
    for (const { id, monthHeld } of this.naive.members.values())
      expectSame(`what member ${id} holds in the end`, monthHeld, 0n)
    for (const [subject, slots] of this.naive.slots) expectSame(`slots of ${subject} in the end`, slots, 0)
  }

  /** The management API and the customers, between the calls. */
  private async changeSomething(chances: number): Promise<void> {
    const { random } = this
    if (random.chance(chances * 0.12)) {
      this.change()
      await this.changeStore()
    }
    if (random.chance(chances * 0.02)) await this.act()
    if (random.chance(chances * 0.03)) await this.chargeOwed()
  }

  private change(): void {
    const { random } = this
    switch (random.upTo(5)) {
      case 0:
      case 1:
        this.changeKey()
        return
      case 2:
        this.tally.add('price changed')
        this.changePrice(random.pick([...this.prices.keys()]))
        return
      case 3:
      case 4:
        this.tally.add('account changed')
        this.changeAccount(random.pick([...this.naive.accounts.values()]))
        return
      case 5:
        this.changeMembers()
    }
  }

  /** A deleted key stays deleted; its account makes another. */
  private changeKey(): void {
    const { random } = this
    const key = random.pick([...this.naive.keys.values()].filter(({ status }) => status !== 'deleted'))
    this.tally.add('key changed')
    if (random.chance(0.5)) {
      key.policy = this.randomPolicy()
      return
    }
    key.status = random.pick([
      'enabled',
      'enabled',
      'enabled',
      'enabled',
      'enabled',
      'enabled',
      'disabled',
      'deleted',
    ])
    key.expiresAt = random.chance(0.1) ? this.at + random.upTo(50_000) - 5_000 : undefined
    if (key.status === 'deleted') this.newKey(key.account, key.member)
  }

  private newMember(account: string): void {
    const id = this.newId('mem')
    const month = { cap: 0n, monthStart: 0, spent: 0n, monthHeld: 0n }
    const policy = this.randomPolicy()
    const member = { id, account, status: 'active', personSuspended: false, policy, ...month } as const
    this.naive.members.set(id, { ...member })
    for (let keys = 1 + this.random.upTo(1); keys > 0; keys--) this.newKey(account, id)
  }

  private changeMembers(): void {
    const present = [...this.naive.members.values()].filter(({ status }) => status !== 'removed')
    if (present.length === 0) return
    const member = this.random.pick(present)
    this.tally.add('member changed')
    if (this.random.chance(0.1)) this.removeMember(member)
    else {
      member.status = this.random.chance(0.1) ? 'suspended' : 'active'
      member.personSuspended = this.random.chance(0.05)
      member.cap = this.random.chance(0.3) ? 0n : credits(this.random.upTo(40))
      member.policy = this.randomPolicy()
    }
  }

  /** Their keys are deleted or become the organisation's own, and somebody else comes. */
  private removeMember(member: NaiveMember): void {
    const keys = this.random.chance(0.5) ? 'keep' : 'delete'
    this.tally.add('member removed')
    this.gone.set(member.id, keys)
    member.status = 'removed'
    for (const key of this.naive.keys.values()) {
      if (key.member !== member.id || key.status === 'deleted') continue
      if (keys === 'keep') key.member = undefined
      else key.status = 'deleted'
    }
    this.newMember(member.account)
  }

  private newKey(account: string, member?: string): void {
    const id = this.newId('key')
    const policy = this.randomPolicy()
    this.naive.keys.set(id, { id, account, member, status: 'enabled', expiresAt: undefined, policy })
  }

  private newId(kind: string): string {
    return `${this.name}_${kind}_${this.made++}`
  }

  private changePrice(id: string): void {
    const { random, isRound } = this
    // µCr; round ones make whole Credits of round tokens.
    const upTo = (max: number, unit: number) => (isRound ? unit * random.upTo(max / unit) : random.upTo(max))
    this.prices.set(id, {
      id,
      input: upTo(4000, 4000),
      output: upTo(8000, 4000),
      image: random.chance(0.3) ? upTo(4_000_000, 1_000_000) : 0,
      second: random.chance(0.3) ? upTo(2_000_000, 1_000_000) : 0,
      tenths: { '1': 10, '2': isRound ? random.pick([10, 20]) : 5 + random.upTo(15) },
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
      owed: 0n,
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

  private changeAccount(account: NaiveAccount): void {
    const { random } = this
    account.suspended = random.chance(0.02)
    account.verification = random.pick([0, 1, 2, 2])
    account.ratePercent = this.isRound ? 100 : random.pick([100, 100, 87, 33, 0])
    account.deduction = random.chance(0.8)
    account.cap = random.chance(0.6) ? 0n : credits(random.upTo(60))
    account.exchange = {
      enabled: random.chance(0.6),
      below: credits(random.upTo(40)),
      step: credits(random.upTo(30)),
    }
    account.subscription = random.chance(0.4) ? undefined : this.randomSubscription()
    account.policy = this.randomPolicy()
    if (payOwed(account, account.monthStart) > 0n) this.tally.add('owed: charged by another cap')
    const byok = VENDORS.filter(() => random.chance(0.2))
    if (byok.join() !== account.byok.join()) this.tally.add('own credentials changed')
    Object.assign(account, { byok })
    this.grant(account, credits(random.chance(0.5) ? random.upTo(150) : 0), credits(random.upTo(100)))
  }

  private randomSubscription(): NonNullable<NaiveAccount['subscription']> {
    const { random } = this
    const quota = [10, 60, 300]
      .slice(random.upTo(3))
      .map((seconds) => ({ credits: credits(random.upTo(60)), seconds }))
    return { level: 1 + random.upTo(2), expiresAt: this.at + random.upTo(2 * MONTH_MS), quota }
  }

  private grant(account: NaiveAccount, toCredits: bigint, toBalance: bigint): void {
    account.credits += toCredits
    account.balance += toBalance
    const movement = {
      transactionId: this.newId('grant'),
      at: this.at,
      debit: 'platform/grants',
      kind: 'grant',
    } as const
    const booking = [
      {
        ...movement,
        sequence: 0,
        credit: `${account.id}/credits`,
        amount: microCredits(toCredits),
        reference: undefined,
      },
      {
        ...movement,
        sequence: 1,
        credit: `${account.id}/balance`,
        amount: microCredits(toBalance),
        reference: undefined,
      },
    ].filter(({ amount }) => amount > 0n)
    if (booking.length > 0) this.bookings.push(booking)
  }

  /** Housekeeping, for accounts that make no call. */
  private async chargeOwed(): Promise<void> {
    const { start } = this.month()
    let count = 0
    for (const account of this.naive.accounts.values()) {
      const month = Math.max(start, account.monthStart)
      if (payOwed(account, month) > 0n) count += 1
    }
    if (count > 0) this.tally.add('owed: charged by housekeeping')
    await this.store.chargeOwed({ at: this.at, monthStart: start })
    this.state = await this.store.read()
    this.compare(this.state)
  }

  /** Balance becomes Credits, or a plan is bought or renewed; or the same once more, which does nothing. */
  private async act(): Promise<void> {
    const { random } = this
    const known = random.chance(0.2) ? this.acts[random.upTo(this.acts.length - 1)] : undefined
    if (known !== undefined) {
      this.tally.add('act again')
      expectSame('an act that was done before', await this.store.act(known), true)
      return
    }
    const account = random.pick([...this.naive.accounts.values()])
    const amount = credits(1 + random.upTo(120))
    const plan = random.chance(0.5) ? this.planToBuy(account) : undefined
    const act: Act = {
      name: this.newId('act'),
      accountId: accountId(account.id),
      at: this.at,
      amount: microCredits(amount),
      plan: plan && accountRow({ ...account, subscription: plan }).subscription,
    }
    const isDone = account.balance >= amount
    this.tally.add(
      `${plan === undefined ? 'exchange by hand' : 'plan bought or renewed'}: ${isDone ? 'done' : 'refused'}`,
    )
    expectSame(`whether ${act.name} was done`, await this.store.act(act), isDone)
    if (!isDone) return
    account.balance -= amount
    if (plan === undefined) account.credits += amount
    else account.subscription = plan
    this.acts.push(act)
    if (this.acts.length > REMEMBERED) this.acts.shift()
  }

  /** A renewal goes on with the windows of its quota as they are. */
  private planToBuy({ subscription }: NaiveAccount): NonNullable<NaiveAccount['subscription']> {
    if (subscription === undefined || this.random.chance(0.5)) return this.randomSubscription()
    return { ...subscription, expiresAt: Math.max(subscription.expiresAt, this.at) + MONTH_MS }
  }

  private randomPolicy(): Policy {
    const { random } = this
    const windows = Array.from({ length: random.upTo(5) }, () => {
      const dimension = random.pick(DIMENSIONS)
      const limit =
        dimension === 'tokens'
          ? this.tokens(40_000)
          : dimension === 'amount'
            ? random.upTo(150)
            : random.upTo(random.pick([10, 100]))
      return { dimension, limit: Math.max(limit, 1), seconds: random.pick([10, 60, 300]) }
    })
    // Twins share a window and the smaller limit rules; the model is spared that.
    const single = windows.filter(
      (window, index) =>
        windows.findIndex(
          (other) => other.dimension === window.dimension && other.seconds === window.seconds,
        ) === index,
    )
    return { concurrency: random.chance(0.5) ? undefined : 1 + random.upTo(15), windows: single }
  }

  private changeStore(): Promise<void> {
    return this.store.change({
      keys: [...this.naive.keys.values()].map(keyRow),
      accounts: [...this.naive.accounts.values()].map(accountRow),
      members: [...this.naive.members.values()].map((member) => ({
        ...memberRow(member),
        keys: this.gone.get(member.id) ?? 'keep',
      })),
      bookings: this.bookings.splice(0),
    })
  }
}

const NOTHING_STORED: StoreState = {
  accounts: new Map(),
  members: new Map(),
  limitStates: new Map(),
  openCalls: new Map(),
  recoveredCalls: new Map(),
  logRows: new Map(),
  pools: new Map(),
  logs: 0,
  ended: new Map(),
}

const credits = (count: number) => BigInt(count) * 1_000_000n

const byCall = (left: OpenCall, right: OpenCall): number =>
  left.callId < right.callId ? -1 : left.callId > right.callId ? 1 : 0

/** Somebody made something that has a price. */
const hasProduced = ({ counts }: OpenCall, { usage, usageSource, images }: CallProgress): boolean =>
  (usage.input ?? 0) + (usage.output ?? 0) + images > 0 || (usageSource === 'declared' && counts.videos > 0)

const NOTHING_CHARGED = { deducted: 0n, covered: false }

/** What recovery charged, against what was due in truth. */
function correctionOf(
  was: { readonly credits: bigint; readonly owed: bigint; readonly quota: bigint },
  is: { readonly deducted: bigint; readonly covered: boolean },
): string {
  const more = is.deducted - was.credits - was.quota
  if (more === 0n) return 'as much'
  if (more > 0n) return 'more'
  return was.owed > 0n ? 'less of what was owed' : 'less'
}

function outcomeOf(answer: Answer): string {
  if (answer.kind === 'refused') return `refused ${answer.refusal.code}`
  if (answer.kind === 'settled') return answer.first ? 'first' : 'not first'
  return answer.kind
}
