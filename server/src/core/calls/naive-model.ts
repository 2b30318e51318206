/**
 * The rules of docs/reference/contract.md#7.3, #8, #D-admission, #D-money written a second time, as plainly as possible
 * and deliberately in another way than the code: every window a list of uses, every price integer arithmetic, one call
 * after the other. The simulation compares `decideBatch` with it. For tests only. It is long because it is one idea: a
 * second implementation.
 */
import { NaiveWindow } from '../limits/naive-window.ts'
import type { Dimension, Policy } from '../limits/policy.ts'

export interface NaiveModelPrice {
  readonly id: string
  /** µCr per token. */
  readonly input: number
  readonly output: number
  /** µCr per image and per second of video. */
  readonly image: number
  readonly second: number
  /** Chain id → multiplier in tenths. */
  readonly tenths: Readonly<Record<string, number>>
  readonly vendors: readonly string[]
  readonly covered: boolean
  readonly verification: number
  readonly plan: number
}

export interface NaiveKey {
  readonly id: string
  readonly account: string
  /** Whose calls these are, where the account is an organisation. */
  member: string | undefined
  status: 'enabled' | 'disabled' | 'deleted'
  expiresAt: number | undefined
  policy: Policy
}

/** Who has a monthly cap. */
interface NaiveCapped {
  cap: bigint
  monthStart: number
  spent: bigint
  monthHeld: bigint
}

export interface NaiveMember extends NaiveCapped {
  readonly id: string
  readonly account: string
  status: 'active' | 'suspended' | 'removed'
  personSuspended: boolean
  policy: Policy
}

export interface NaiveAccount extends NaiveCapped {
  readonly id: string
  suspended: boolean
  verification: number
  ratePercent: number
  credits: bigint
  held: bigint
  balance: bigint
  /** Cost of calls above the cap, not charged yet. */
  owed: bigint
  deduction: boolean
  exchange: { enabled: boolean; below: bigint; step: bigint }
  subscription:
    | { level: number; expiresAt: number; quota: readonly { credits: bigint; seconds: number }[] }
    | undefined
  policy: Policy
  byok: readonly string[]
}

export interface NaiveCounts {
  readonly requests: number
  readonly images: number
  readonly videos: number
  readonly videoSeconds: number
}

export interface NaiveReserve {
  readonly call: string
  readonly key: string
  readonly at: number
  readonly monthStart: number
  readonly monthEnd: number
  readonly counts: NaiveCounts
  readonly model: NaiveModelPrice
  readonly fallback: NaiveModelPrice | undefined
  readonly tokens: NaiveTokens
  readonly strict: boolean
  /** Credits are held for the highest possible cost. */
  readonly coversWorst: boolean
}

export interface NaiveTokens {
  readonly input: number
  readonly output: number
  readonly worstInput: number
  readonly worstOutput: number
}

export interface NaiveFunding {
  readonly byok: readonly string[]
  readonly payer: 'subscription' | 'credits' | 'none'
}
export interface NaiveRefusal {
  readonly code: number
  readonly waitMs: number | undefined
  /** The answer says that the limit is the member's, not the key's or the account's. */
  readonly ofMember?: boolean | undefined
  /** The answer says that only the worst case would exceed the cap. */
  readonly inWorstCase?: boolean | undefined
}
export type NaiveAnswer =
  | { readonly kind: 'refused'; readonly refusal: NaiveRefusal }
  | {
      readonly kind: 'reserved'
      readonly held: bigint
      readonly model: NaiveFunding
      readonly fallback: NaiveFunding | NaiveRefusal | undefined
    }

interface Taking {
  readonly subject: string
  readonly counts: NaiveCounts
  readonly tiers: readonly { readonly dimension: Dimension; readonly seconds: number }[]
  /** Its slot is free already: the client has disconnected. */
  slotFree?: boolean
}

interface NaiveOpenCall {
  readonly reserve: NaiveReserve
  readonly account: string
  readonly member: string | undefined
  readonly rate: number
  readonly held: bigint
  readonly monthHeld: bigint
  readonly memberHeld: bigint
  readonly quotaHeld: bigint
  readonly quotaSeconds: readonly number[]
  readonly model: NaiveFunding
  readonly fallback: NaiveFunding | undefined
  readonly takings: Taking[]
}

export interface NaiveUse {
  readonly call: string
  readonly at: number
  readonly monthStart: number
  readonly model: NaiveModelPrice
  readonly chain: string
  readonly byok: boolean
  readonly input: number
  readonly output: number
  readonly images: number
  readonly seconds: number
  readonly credential: string | undefined
}

export interface NaiveCharge {
  readonly amount: bigint
  readonly deducted: bigint
  readonly covered: boolean
  /** The part of what was deducted that exceeded the cap. */
  readonly owed: bigint
  /** Recovery had ended the call before. */
  readonly late: boolean
}

/** How a call ended, as far as windows are concerned. */
type NaiveEnd =
  | { readonly use: NaiveUse; readonly amount: bigint; readonly deducted: bigint }
  | { readonly sent: boolean }

/** A call that recovery has ended: what it took, in money and in windows. */
interface NaiveRecovered {
  readonly open: NaiveOpenCall
  readonly at: number
  readonly month: number
  readonly credits: bigint
  readonly owed: bigint
  readonly quota: bigint
  readonly end: NaiveEnd
}

const CREDIT = 1_000_000n
const LEAST_OUTPUT = 256
const SOON = 1000
/** A used-up quota, a reached cap, Credits held by running calls: checked after the limits. */
const OF_THE_HOLD = [42905, 42906, 42901]

interface Share {
  readonly funding: NaiveFunding
  readonly held: bigint
  readonly monthHeld: bigint
  readonly memberHeld: bigint
  readonly quotaHeld: bigint
  readonly exchanged: bigint
}

export class NaiveModel {
  readonly keys = new Map<string, NaiveKey>()
  readonly members = new Map<string, NaiveMember>()
  readonly accounts = new Map<string, NaiveAccount>()
  readonly open = new Map<string, NaiveOpenCall>()
  readonly recovered = new Map<string, NaiveRecovered>()
  readonly windows = new Map<string, Map<string, NaiveWindow>>()
  readonly slots = new Map<string, number>()

  /** What is owed is charged first; a refused call changes nothing, not even that. */
  reserve(ask: NaiveReserve): NaiveAnswer {
    const account = this.accounts.get(this.keys.get(ask.key)?.account ?? '')
    const before = account && { ...account }
    if (account !== undefined && !this.open.has(ask.call)) payOwed(account, ask.monthStart)
    const answer = this.begin(ask)
    if (account !== undefined && answer.kind === 'refused') Object.assign(account, before)
    return answer
  }

  private begin(ask: NaiveReserve): NaiveAnswer {
    const known = this.open.get(ask.call)
    if (known !== undefined) {
      return { kind: 'reserved', held: known.held, model: known.model, fallback: known.fallback }
    }
    const key = this.keys.get(ask.key)
    if (key === undefined || key.status === 'deleted') return refused(40101)
    if (key.status === 'disabled') return refused(40102)
    if (key.expiresAt !== undefined && key.expiresAt <= ask.at) return refused(40103)
    const account = found(this.accounts, key.account)
    if (account.suspended) return refused(40303)
    const member = key.member === undefined ? undefined : found(this.members, key.member)
    if (member?.status === 'removed') return refused(40101)
    if (member?.personSuspended) return refused(40303, true)
    if (member?.status === 'suspended') return refused(40102, true)
    const payers = { account, member }
    const model = this.share(payers, ask, ask.model)
    if ('code' in model && !OF_THE_HOLD.includes(model.code)) return { kind: 'refused', refusal: model }
    const full = [
      ...this.exceeded(`key:${key.id}`, key.policy, ask),
      ...(member === undefined ? [] : this.exceeded(`member:${member.id}`, member.policy, ask)),
      ...this.exceeded(`account:${account.id}`, account.policy, ask),
    ]
    const longest = Math.max(...full.map((one) => one.waitMs))
    const first = full.find((one) => one.waitMs === longest)
    if (first !== undefined) return { kind: 'refused', refusal: first }
    if ('code' in model) return { kind: 'refused', refusal: model }
    const fallback = ask.fallback && this.share(payers, ask, ask.fallback)
    const shares = fallback === undefined || 'code' in fallback ? [model] : [model, fallback]
    const largest = (pick: (share: Share) => bigint) => shares.map(pick).reduce((a, b) => (a > b ? a : b))
    const exchanged = largest((share) => share.exchanged)
    account.credits += exchanged
    account.balance -= exchanged
    const held = largest((share) => share.held)
    const monthHeld = largest((share) => share.monthHeld)
    const quotaHeld = largest((share) => share.quotaHeld)
    account.held += held
    account.monthHeld += monthHeld
    const memberHeld = largest((share) => share.memberHeld)
    if (member !== undefined) member.monthHeld += memberHeld
    const covered = shares.some((share) => share.funding.payer === 'subscription')
    const quotaSeconds = covered ? [...new Set(account.subscription?.quota.map((tier) => tier.seconds))] : []
    if (quotaHeld > 0n) {
      const tiers = quotaSeconds.map((seconds) => `amount:${seconds}`)
      this.prune(`quota:${account.id}`, tiers, ask.at)
      for (const seconds of quotaSeconds) {
        const window = this.window(`quota:${account.id}`, 'amount', seconds)
        window.hold(ask.call, quotaHeld, ask.at)
        window.grant = grantOf(account, seconds)
      }
    }
    this.open.set(ask.call, {
      reserve: ask,
      account: account.id,
      member: member?.id,
      rate: account.ratePercent,
      held,
      monthHeld,
      memberHeld,
      quotaHeld,
      quotaSeconds,
      model: model.funding,
      fallback: fallback === undefined || 'code' in fallback ? undefined : fallback.funding,
      takings: [
        { subject: `key:${key.id}`, policy: key.policy },
        ...(member === undefined ? [] : [{ subject: `member:${member.id}`, policy: member.policy }]),
        { subject: `account:${account.id}`, policy: account.policy },
      ].map((limited) => this.take(ask.call, { ...limited, counts: ask.counts, at: ask.at })),
    })
    return {
      kind: 'reserved',
      held,
      model: model.funding,
      fallback: fallback === undefined || 'code' in fallback ? fallback : fallback.funding,
    }
  }

  claim(ask: {
    call: string
    credential: string
    policy: Policy
    counts: NaiveCounts
    at: number
  }): number | 'claimed' {
    const open = this.open.get(ask.call)
    if (open === undefined) return SOON
    const subject = `credential:${ask.credential}`
    if (open.takings.some((taking) => taking.subject === subject)) return 'claimed'
    const full = this.exceeded(subject, ask.policy, ask)
    if (full.length > 0) return Math.max(...full.map((one) => one.waitMs))
    open.takings.push(this.take(ask.call, { ...ask, subject }))
    return 'claimed'
  }

  unclaim(ask: { call: string; credential: string }): 'done' {
    const open = this.open.get(ask.call)
    const subject = `credential:${ask.credential}`
    const claim = open?.takings.find((taking) => taking.subject === subject)
    if (open === undefined || claim === undefined) return 'done'
    this.giveBack(ask.call, claim)
    open.takings.splice(open.takings.indexOf(claim), 1)
    return 'done'
  }

  /** A client that has disconnected may call again at once; everything else stays until the call ends. */
  left(call: string): 'done' {
    for (const taking of this.open.get(call)?.takings ?? []) {
      if (taking.subject.startsWith('credential:')) continue
      this.freeSlot(taking)
      taking.slotFree = true
    }
    return 'done'
  }

  private freeSlot({ subject, slotFree }: Taking): void {
    if (slotFree !== true) this.slots.set(subject, (this.slots.get(subject) ?? 0) - 1)
  }

  /** `recovery`: the call is ended by another instance than its own; what its own reports later is the truth. */
  settle(use: NaiveUse, recovery = false): NaiveCharge | undefined {
    const open = this.open.get(use.call) ?? this.recovered.get(use.call)?.open
    if (open === undefined) return undefined
    const account = found(this.accounts, open.account)
    const amount = costOf(use.model, use, { tenths: use.model.tenths[use.chain] ?? 10, rate: open.rate })
    const isFallback = use.model.id === open.reserve.fallback?.id && use.model.id !== open.reserve.model.id
    const funding = (isFallback ? open.fallback : undefined) ?? open.model
    const deducted = use.byok || amount < CREDIT ? 0n : amount
    const covered = !use.byok && funding.payer === 'subscription'
    const credits = covered ? 0n : deducted
    const quota = covered ? deducted : 0n
    const end = { use, amount, deducted }
    const month = Math.max(use.monthStart, account.monthStart)
    if (!this.open.has(use.call)) {
      if (recovery) return undefined
      const owed = this.correct(use.call, { month, credits, quota, end, at: use.at })
      return { amount, deducted, covered, owed, late: true }
    }
    this.open.delete(use.call)
    this.release(open, account)
    for (const seconds of open.quotaSeconds) {
      const window = this.window(`quota:${account.id}`, 'amount', seconds)
      if (quota > 0n) chargeQuota(window, account, { call: use.call, units: quota, at: use.at })
      window.release(use.call)
    }
    const touched = credits > 0n || open.held > 0n || open.monthHeld > 0n || open.memberHeld > 0n
    const owed = touched ? this.charge(open, { credits, month, own: open.monthHeld }) : 0n
    this.settleWindows(open, use, { amount, deducted })
    if (recovery) this.recovered.set(use.call, { open, at: use.at, month, credits, owed, quota, end })
    return { amount, deducted, covered, owed, late: false }
  }

  /**
   * Takes from Credits what the cap allows; the rest is owed. The call's own hold is released by now, so whatever is
   * held belongs to other calls.
   */
  private charge(open: NaiveOpenCall, by: { credits: bigint; month: number; own: bigint }): bigint {
    const account = found(this.accounts, open.account)
    const member = open.member === undefined ? undefined : found(this.members, open.member)
    for (const holder of member === undefined ? [account] : [account, member]) enter(holder, by.month)
    const free = account.cap - account.spent - account.monthHeld
    const room = free > by.own ? free : by.own
    const charged = account.cap > 0n && by.credits > room ? room : by.credits
    account.credits -= charged
    account.spent += charged
    account.owed += by.credits - charged
    if (member !== undefined) member.spent += by.credits
    const paid = payOwed(account, by.month)
    if (charged + paid > 0n) exchangeLow(account)
    return by.credits - charged
  }

  abandon(
    ask: { call: string; sent: boolean; at: number; monthStart?: number | undefined },
    recovery = false,
  ): boolean {
    const { call, sent, monthStart = 0 } = ask
    const open = this.open.get(call)
    if (open === undefined) {
      const late = this.recovered.get(call)
      if (late === undefined || recovery) return false
      const { monthStart: own } = found(this.accounts, late.open.account)
      const month = Math.max(own, monthStart)
      this.correct(call, { month, credits: 0n, quota: 0n, end: { sent }, at: ask.at })
      return true
    }
    this.open.delete(call)
    const account = found(this.accounts, open.account)
    this.release(open, account)
    const touched = open.held > 0n || open.monthHeld > 0n || open.memberHeld > 0n
    const month = Math.max(account.monthStart, monthStart)
    if (touched && payOwed(account, month) > 0n) exchangeLow(account)
    for (const seconds of open.quotaSeconds)
      this.window(`quota:${open.account}`, 'amount', seconds).release(call)
    for (const taking of open.takings) this.giveBack(call, taking, sent)
    const nothing = { credits: 0n, owed: 0n, quota: 0n }
    if (recovery) {
      this.recovered.set(call, { open, at: ask.at, month, ...nothing, end: { sent } })
    }
    return true
  }

  /** Recovered calls without a correction until now keep their charge. Returns their number. */
  forgetRecovered(before: number): number {
    const old = [...this.recovered].filter(([, { at }]) => at < before)
    for (const [call] of old) this.recovered.delete(call)
    return old.length
  }

  /** What the quotas of all accounts have carried over into their running windows. */
  carriedOver(at: number): bigint {
    let total = 0n
    for (const [subject, windows] of this.windows)
      if (subject.startsWith('quota:')) for (const window of windows.values()) total += window.carriedOver(at)
    return total
  }

  /** Corrects a recovered call from what was taken to what is true. Returns the total above the cap. */
  private correct(
    call: string,
    truth: { month: number; credits: bigint; quota: bigint; end: NaiveEnd; at: number },
  ): bigint {
    const was = found(this.recovered, call)
    this.recovered.delete(call)
    const { open } = was
    for (const seconds of open.quotaSeconds) {
      const window = this.window(`quota:${open.account}`, 'amount', seconds)
      const units = truth.quota - was.quota
      if (units > 0n) chargeQuota(window, found(this.accounts, open.account), { call, units, at: truth.at })
      else window.giveBack(call, was.quota - truth.quota)
    }
    for (const taking of open.takings) {
      for (const { dimension, seconds } of taking.tiers) {
        const window = this.window(taking.subject, dimension, seconds)
        const more = counts(open, taking, dimension, truth.end) - counts(open, taking, dimension, was.end)
        if (more > 0n) window.charge(call, more, truth.at)
        else window.giveBack(call, -more)
      }
    }
    const more = truth.credits - was.credits
    if (more > 0n) return was.owed + this.charge(open, { credits: more, month: truth.month, own: 0n })
    if (more === 0n) return was.owed
    const account = found(this.accounts, open.account)
    const member = open.member === undefined ? undefined : found(this.members, open.member)
    // First from what is still owed for it, then to Credits.
    const forgiven = [-more, was.owed, account.owed].reduce((a, b) => (a < b ? a : b))
    account.owed -= forgiven
    account.credits += -more - forgiven
    if (account.monthStart === was.month) account.spent = atLeastZero(account.spent - (-more - forgiven))
    if (member?.monthStart === was.month) member.spent = atLeastZero(member.spent + more)
    if (payOwed(account, truth.month) > 0n) exchangeLow(account)
    const left = was.owed - forgiven
    return left < truth.credits ? left : truth.credits
  }

  private release(open: NaiveOpenCall, account: NaiveAccount): void {
    account.held -= open.held
    account.monthHeld -= open.monthHeld
    if (open.member !== undefined) found(this.members, open.member).monthHeld -= open.memberHeld
  }

  private share(payers: NaivePayers, ask: NaiveReserve, model: NaiveModelPrice): Share | NaiveRefusal {
    const { account } = payers
    const plan =
      account.subscription !== undefined && ask.at < account.subscription.expiresAt
        ? account.subscription
        : undefined
    if (model.verification > 0 && account.verification < model.verification)
      return { code: 40203, waitMs: undefined }
    if (model.plan > 0 && (plan?.level ?? 0) < model.plan) return { code: 40203, waitMs: undefined }
    const byok = model.vendors.filter((vendor) => account.byok.includes(vendor))
    const nothing = { held: 0n, monthHeld: 0n, memberHeld: 0n, quotaHeld: 0n, exchanged: 0n }
    const own: Share = { funding: { byok, payer: 'none' }, ...nothing }
    if (byok.length > 0 && byok.length === model.vendors.length) return own
    const tenths = Math.max(...Object.values(model.tenths))
    const at = (input: number, output: number) =>
      costOf(
        model,
        { input, output, images: ask.counts.images, seconds: ask.counts.videoSeconds },
        { tenths, rate: account.ratePercent },
      )
    const full = at(ask.tokens.input, ask.tokens.output)
    const least = ask.strict ? full : at(ask.tokens.input, Math.min(ask.tokens.output, LEAST_OUTPUT))
    const worst = at(ask.tokens.worstInput, ask.tokens.worstOutput)
    let usedUp: NaiveRefusal | undefined
    if (plan !== undefined && model.covered && plan.quota.length > 0) {
      const tiers = plan.quota.map((tier) => {
        const window = this.window(`quota:${account.id}`, 'amount', tier.seconds)
        const unused = tier.credits - window.used(ask.at)
        return {
          left: unused - window.held(),
          unused,
          held: window.held(),
          endsInMs: window.endsInMsUntil(
            ask.at,
            (used) => tier.credits > used && tier.credits - used >= least,
          ),
        }
      })
      const lacking = tiers.filter(({ left }) => left <= 0n || left < least)
      const room = tiers.map(({ left }) => left).reduce((a, b) => (a < b ? a : b))
      const costlier = ask.coversWorst && worst > full
      const alone = tiers.every(({ held }) => held <= 0n)
      if (lacking.length === 0 && (!costlier || room >= worst || alone)) {
        const wanted = costlier && room >= worst ? worst : full
        return {
          funding: { byok, payer: 'subscription' },
          ...nothing,
          quotaHeld: room < wanted ? room : wanted,
        }
      }
      const waits = lacking.map(({ unused, endsInMs }) => (unused > 0n && unused >= least ? SOON : endsInMs))
      // If no tier is used up, the quota is short because of what running calls hold.
      usedUp = { code: 42905, waitMs: waits.length === 0 ? SOON : Math.max(...waits) }
    }
    const credits = account.deduction
      ? creditsShare(payers, ask, { full, least, worst })
      : { code: 40202, waitMs: undefined }
    if (!('code' in credits)) return { funding: { byok, payer: 'credits' }, quotaHeld: 0n, ...credits }
    return byok.length > 0 ? own : (usedUp ?? credits)
  }

  private exceeded(
    subject: string,
    policy: Policy,
    ask: { counts: NaiveCounts; at: number },
  ): { code: number; waitMs: number }[] {
    const full: { code: number; waitMs: number }[] = []
    if (policy.concurrency !== undefined && (this.slots.get(subject) ?? 0) >= policy.concurrency) {
      full.push({ code: 42901, waitMs: SOON })
    }
    for (const { dimension, seconds, limit } of policy.windows) {
      const window = this.window(subject, dimension, seconds)
      const wants = wanted(dimension, ask.counts)
      const cap = BigInt(dimension === 'amount' ? limit * 1_000_000 : limit)
      if (wants > 0n && window.used(ask.at) + window.held() + wants > cap) {
        const code = dimension === 'tokens' ? 42903 : dimension === 'video_seconds' ? 42910 : 42902
        full.push({ code, waitMs: window.endsInMs(ask.at) })
      }
    }
    return full
  }

  private take(
    call: string,
    ask: { subject: string; policy: Policy; counts: NaiveCounts; at: number },
  ): Taking {
    const { subject, policy, counts, at } = ask
    this.slots.set(subject, (this.slots.get(subject) ?? 0) + 1)
    this.prune(
      subject,
      policy.windows.map((tier) => `${tier.dimension}:${tier.seconds}`),
      at,
    )
    for (const { dimension, seconds } of policy.windows) {
      const window = this.window(subject, dimension, seconds)
      window.noteBeginning(at)
      if (dimension === 'video_seconds') window.hold(call, BigInt(counts.videoSeconds), at)
      if (isCounted(dimension)) window.use(call, wanted(dimension, counts), at)
    }
    return {
      subject,
      counts,
      tiers: policy.windows.map(({ dimension, seconds }) => ({ dimension, seconds })),
    }
  }

  private giveBack(call: string, taking: Taking, sent = false): void {
    const { subject, counts, tiers } = taking
    this.freeSlot(taking)
    for (const { dimension, seconds } of tiers) {
      const window = this.window(subject, dimension, seconds)
      if (dimension === 'video_seconds') window.release(call)
      if (isCounted(dimension) && !(sent && dimension === 'requests'))
        window.giveBack(call, wanted(dimension, counts))
    }
  }

  private settleWindows(
    open: NaiveOpenCall,
    use: NaiveUse,
    paid: { amount: bigint; deducted: bigint },
  ): void {
    const claims = open.takings.filter(({ subject }) => subject.startsWith('credential:'))
    const answered = use.credential === undefined ? claims.at(-1)?.subject : `credential:${use.credential}`
    for (const taking of open.takings) {
      const isClaim = claims.includes(taking)
      if (isClaim && (use.byok || taking.subject !== answered)) {
        this.giveBack(use.call, taking)
        continue
      }
      this.freeSlot(taking)
      for (const { dimension, seconds } of taking.tiers) {
        const window = this.window(taking.subject, dimension, seconds)
        if (dimension === 'tokens') window.charge(use.call, BigInt(use.input + use.output), use.at)
        if (dimension === 'amount') window.charge(use.call, isClaim ? paid.amount : paid.deducted, use.at)
        if (dimension === 'images') {
          const more = BigInt(use.images - taking.counts.images)
          if (more > 0n) window.charge(use.call, more, use.at)
          else window.giveBack(use.call, -more)
        }
        if (dimension === 'video_seconds') {
          window.charge(use.call, BigInt(use.seconds), use.at)
          window.release(use.call)
        }
      }
    }
  }

  private window(subject: string, dimension: Dimension, seconds: number): NaiveWindow {
    const ofSubject = this.windows.get(subject) ?? new Map<string, NaiveWindow>()
    this.windows.set(subject, ofSubject)
    const tier = `${dimension}:${seconds}`
    const window = ofSubject.get(tier) ?? new NaiveWindow(seconds * 1000)
    ofSubject.set(tier, window)
    return window
  }

  /** A tier that is no longer limited is removed once its window is over, unless something is still held there. */
  private prune(subject: string, tiers: readonly string[], at: number): void {
    const ofSubject = this.windows.get(subject)
    for (const [tier, window] of ofSubject ?? []) {
      if (!tiers.includes(tier) && window.held() === 0n && window.startedAt(at) === 0) ofSubject?.delete(tier)
    }
  }
}

const refused = (code: number, ofMember = false): NaiveAnswer => ({
  kind: 'refused',
  refusal: { code, waitMs: undefined, ...(ofMember && { ofMember }) },
})

const isCounted = (dimension: Dimension): boolean => ['requests', 'images', 'videos'].includes(dimension)

/** What a call asks of a window; of a window that is charged only later, the smallest amount. */
function wanted(dimension: Dimension, counts: NaiveCounts): bigint {
  if (dimension === 'requests') return BigInt(counts.requests)
  if (dimension === 'images') return BigInt(counts.images)
  if (dimension === 'videos') return BigInt(counts.videos)
  if (dimension === 'video_seconds') return BigInt(counts.videoSeconds)
  return dimension === 'tokens' && counts.videos > 0 ? 0n : 1n
}

/** Everything that a call that ended this way counts in one window. */
function counts(open: NaiveOpenCall, taking: Taking, dimension: Dimension, end: NaiveEnd): bigint {
  const taken = isCounted(dimension) ? wanted(dimension, taking.counts) : 0n
  if (!('use' in end)) return end.sent && dimension === 'requests' ? taken : 0n
  const { use } = end
  const isClaim = taking.subject.startsWith('credential:')
  const claims = open.takings.filter(({ subject }) => subject.startsWith('credential:'))
  const answered = use.credential === undefined ? claims.at(-1)?.subject : `credential:${use.credential}`
  if (isClaim && (use.byok || taking.subject !== answered)) return 0n
  if (dimension === 'tokens') return BigInt(use.input + use.output)
  if (dimension === 'amount') return isClaim ? end.amount : end.deducted
  if (dimension === 'images') return BigInt(use.images)
  return dimension === 'video_seconds' ? BigInt(use.seconds) : taken
}

/** What the account's plan grants in each window of that length, if it has one; of several, the smallest. */
function grantOf({ subscription }: NaiveAccount, seconds: number): bigint | undefined {
  const grants = subscription?.quota.filter((tier) => tier.seconds === seconds) ?? []
  const least = Math.min(...grants.map(({ credits }) => Number(credits)))
  return least > 0 && least < Infinity ? BigInt(least) : undefined
}

/**
 * A window that begins with a charge grants what the plan grants now; the grant of a running window was set when a call
 * last began in it.
 */
function chargeQuota(
  window: NaiveWindow,
  account: NaiveAccount,
  charge: { readonly call: string; readonly units: bigint; readonly at: number },
): void {
  window.charge(charge.call, charge.units, charge.at)
  window.grant ??= grantOf(account, window.lengthMs / 1000)
}

/** Charges what is owed as far as the month's cap allows; returns how much. */
export function payOwed(account: NaiveAccount, monthStart: number): bigint {
  const spent = monthStart > account.monthStart ? 0n : account.spent
  const room = account.cap === 0n ? account.owed : account.cap - spent - account.monthHeld
  const paid = account.owed < room ? account.owed : room
  if (paid <= 0n) return 0n
  enter(account, monthStart)
  account.credits -= paid
  account.spent += paid
  account.owed -= paid
  return paid
}

/** The month only moves forward. A member's follows the account's. */
function enter(holder: NaiveCapped, monthStart: number): void {
  if (monthStart <= holder.monthStart) return
  holder.monthStart = monthStart
  holder.spent = 0n
}

function exchangeLow(account: NaiveAccount): void {
  if (!account.deduction) return
  const exchanged = lowExchange(account)
  account.credits += exchanged
  account.balance -= exchanged
}

const atLeastZero = (amount: bigint): bigint => (amount > 0n ? amount : 0n)

interface NaivePayers {
  readonly account: NaiveAccount
  readonly member: NaiveMember | undefined
}

function creditsShare(
  { account, member }: NaivePayers,
  ask: NaiveReserve,
  cost: { full: bigint; least: bigint; worst: bigint },
): Omit<Share, 'funding' | 'quotaHeld'> | NaiveRefusal {
  const { enabled, step } = account.exchange
  let exchanged = lowExchange(account)
  if (account.credits - account.held + exchanged < cost.least && enabled && step > 0n) {
    let more = exchanged
    while (account.credits - account.held + more < cost.least) more += step
    if (more <= account.balance) exchanged = more
  }
  if (account.credits + exchanged < cost.least) return { code: 40202, waitMs: undefined }
  const available = account.credits - account.held + exchanged
  const worst = cost.worst > cost.full ? cost.worst : cost.full
  const costlier = ask.coversWorst && worst > cost.full
  const inFull = costlier && available >= worst
  const wanted = inFull ? worst : cost.full
  const held = wanted < available ? wanted : available
  const month =
    ask.monthStart >= account.monthStart
      ? { start: ask.monthStart, end: ask.monthEnd }
      : { start: account.monthStart, end: account.monthStart + 31 * 86_400_000 }
  const refusals: NaiveRefusal[] = []
  const room = (holder: NaiveCapped | undefined): bigint | undefined => {
    if (holder === undefined || holder.cap === 0n) return undefined
    const left = holder.cap - (month.start > holder.monthStart ? 0n : holder.spent)
    if (worst > 0n && left - holder.monthHeld < worst) {
      const waitMs = left < worst ? Math.max(month.end - ask.at, SOON) : SOON
      const inWorstCase = cost.least > 0n && left >= cost.least
      const ofMember = holder === member
      refusals.push({
        code: 42906,
        waitMs,
        ...(ofMember && { ofMember }),
        ...(inWorstCase && { inWorstCase }),
      })
    }
    return worst
  }
  const left = { account: room(account), member: room(member) }
  const [first, second] = refusals
  if (first !== undefined) {
    return second !== undefined && Number(second.waitMs) > Number(first.waitMs) ? second : first
  }
  // Only one call at a time may run that is not fully held for: for that one the month holds more than Credits do.
  const lent = account.monthHeld - account.held
  if (available < cost.least || (costlier && !inFull && lent > 0n)) return { code: 42901, waitMs: SOON }
  return {
    held,
    monthHeld: left.account ?? (costlier ? worst : held),
    memberHeld: member === undefined ? 0n : (left.member ?? held),
    exchanged,
  }
}

/** One step after the other until Credits reach the threshold or the balance has no whole step left. */
function lowExchange({ exchange, credits, balance }: NaiveAccount): bigint {
  if (!exchange.enabled || exchange.step <= 0n) return 0n
  let exchanged = 0n
  while (credits + exchanged < exchange.below && balance - exchanged >= exchange.step)
    exchanged += exchange.step
  return exchanged
}

function costOf(
  model: NaiveModelPrice,
  use: { input: number; output: number; images: number; seconds: number },
  by: { tenths: number; rate: number },
): bigint {
  const list =
    use.input * model.input +
    use.output * model.output +
    use.images * model.image +
    use.seconds * model.second
  const thousandths = BigInt(list) * BigInt(by.tenths) * BigInt(by.rate)
  const whole = thousandths / 1000n
  const rest = thousandths % 1000n
  if (rest > 500n) return whole + 1n
  return rest === 500n && whole % 2n === 1n ? whole + 1n : whole
}

function found<Key, Value>(map: ReadonlyMap<Key, Value>, key: Key): Value {
  const value = map.get(key)
  if (value === undefined) throw new Error(`nothing under ${String(key)}`)
  return value
}
