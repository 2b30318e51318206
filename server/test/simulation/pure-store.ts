/** The decisions alone, over maps: no database between the operations and the arithmetic. */
import { strict as assert } from 'node:assert'
import { chargeOwed } from '../../src/core/admission/owed.ts'
import { balancePool, creditsPool, owedPool, SUBSCRIPTION_REVENUE } from '../../src/core/ledger/ledger.ts'
import type {
  AccountRow,
  HotRows,
  KeyRow,
  LimitState,
  MemberRow,
  OpenCall,
  Subject,
  Transfer,
} from '../../src/core/ledger/hot-rows.ts'
import type { HotOperation, ReserveOperation } from '../../src/core/ledger/operations.ts'
import { decideRecovery } from '../../src/core/calls/ends/recover.ts'
import type { InstanceId } from '../../src/core/ids.ts'
import { microCredits } from '../../src/core/money.ts'
import { recomputeAmount } from '../../src/core/pricing/price.ts'
import { decideHotBatch } from '../../src/storage/sql/calls/hot-batch.ts'
import { byRunning } from './open-calls.ts'
import { addToPools } from './pools.ts'
import { taskIdOf } from './task.ts'
import type {
  Act,
  Answer,
  Recovered,
  RecoveryBounds,
  SimulatedStore,
  StoredMoney,
  StoreState,
} from './store.ts'

/** As the engines have it. */
const RENEW_AFTER_MS = 60_000

export class PureStore implements SimulatedStore {
  readonly #keys = new Map<KeyRow['id'], KeyRow>()
  readonly #accounts = new Map<AccountRow['id'], AccountRow>()
  readonly #members = new Map<MemberRow['id'], MemberRow>()
  readonly #limitStates = new Map<Subject, LimitState>()
  readonly #openCalls = new Map<OpenCall['callId'], OpenCall>()
  readonly #pools = new Map<string, bigint>()
  readonly #booked = new Set<string>()
  readonly #logged = new Set<OpenCall['callId']>()
  /** Tasks that have not ended, with their calls. */
  readonly #running = new Map<string, OpenCall['callId']>()
  readonly #ended = new Map<string, number>()
  readonly #acts = new Set<string>()
  readonly #logRows = new Map<string, StoredMoney>()
  #owedBooked = 0
  readonly #heartbeats = new Map<InstanceId, number>()

  async change({
    keys,
    accounts,
    members,
    bookings,
  }: Parameters<SimulatedStore['change']>[0]): Promise<void> {
    for (const { keys: _, ...member } of members) this.#members.set(member.id, member)
    for (const key of keys) this.#keys.set(key.id, key)
    for (const account of accounts) {
      const owed = this.#accounts.get(account.id)?.owed ?? account.owed
      this.#bookOwed(account, owed - account.owed)
      this.#accounts.set(account.id, account)
    }
    for (const transfer of bookings.flat()) this.#book(transfer)
  }

  async run(batch: readonly HotOperation[]): Promise<readonly Answer[]> {
    const rows: HotRows = {
      keys: this.#keys,
      members: this.#members,
      accounts: this.#accounts,
      limitStates: this.#limitStates,
      openCalls: this.#openCalls,
    }
    const { results, writes } = decideHotBatch(rows, batch, this.#logged)
    assert.equal(new Set(writes.accounts.map(({ id }) => id)).size, writes.accounts.length)
    assert.equal(new Set(writes.limitStates.map(({ subject }) => subject)).size, writes.limitStates.length)
    for (const row of writes.accounts) this.#accounts.set(row.id, row)
    for (const row of writes.members) this.#members.set(row.id, row)
    for (const row of writes.limitStates) this.#limitStates.set(row.subject, row)
    for (const row of [...writes.openCallsNew, ...writes.openCallsChanged])
      this.#openCalls.set(row.callId, row)
    for (const id of writes.openCallsClosed) assert.ok(this.#openCalls.delete(id))
    for (const transfer of writes.transfers) this.#book(transfer)
    for (const { id, patch } of writes.videosEnded) this.#endTask(id, patch.progress ?? 0)
    for (const { callId } of writes.logsCorrected) assert.ok(this.#logged.has(callId))
    for (const log of [...writes.logs, ...writes.logsCorrected]) {
      const { callId, recipe, amount, deducted, owed } = log
      this.#logged.add(callId)
      this.#logRows.set(callId, { amount, deducted, owed })
      if (recipe !== undefined) assert.equal(recomputeAmount(recipe), amount)
    }
    return results.map((result) => (result.kind === 'impossible' ? result : result.outcome))
  }

  async order({ callId }: ReserveOperation): Promise<void> {
    const id = taskIdOf(callId)
    if (!this.#ended.has(id)) this.#running.set(id, callId)
  }

  async lease(instance: InstanceId): Promise<number> {
    for (const id of this.#running.values()) {
      const call = this.#openCalls.get(id)
      if (call !== undefined) this.#openCalls.set(id, { ...call, instanceId: instance })
    }
    return this.#running.size
  }

  async forgetRecovered(before: number): Promise<void> {
    for (const [id, { recovered }] of this.#openCalls) {
      if (recovered !== undefined && recovered.at < before) this.#openCalls.delete(id)
    }
  }

  async chargeOwed({ at, monthStart }: { at: number; monthStart: number }): Promise<void> {
    for (const account of this.#accounts.values()) {
      const month = { startAt: Math.max(monthStart, account.monthStart) }
      const charged = chargeOwed(account, month)
      this.#bookOwed(account, charged.charged, at)
      this.#accounts.set(account.id, charged.account)
    }
  }

  #bookOwed({ id }: AccountRow, amount: bigint, at = 0): void {
    if (amount === 0n) return
    this.#owedBooked += 1
    this.#book({
      transactionId: `owed ${this.#owedBooked}`,
      sequence: 0,
      at,
      debit: creditsPool(id),
      credit: owedPool(id),
      amount: microCredits(amount),
      kind: 'owed-charge',
      reference: undefined,
    })
  }

  async act({ name, accountId, at, amount, plan }: Act): Promise<boolean> {
    if (this.#acts.has(name)) return true
    const account = this.#accounts.get(accountId)
    if (account === undefined || account.balance < amount) return false
    this.#acts.add(name)
    const credit = plan === undefined ? creditsPool(accountId) : SUBSCRIPTION_REVENUE
    const movement = { sequence: 0, at, debit: balancePool(accountId), credit, reference: undefined }
    if (amount > 0n) this.#book({ ...movement, transactionId: name, amount, kind: 'exchange' })
    this.#accounts.set(accountId, {
      ...account,
      balance: microCredits(account.balance - amount),
      credits: microCredits(account.credits + (plan === undefined ? amount : 0n)),
      subscription: plan ?? account.subscription,
    })
    return true
  }

  async beat(instance: InstanceId, at: number): Promise<void> {
    this.#heartbeats.set(instance, at)
    for (const [id, call] of this.#openCalls) {
      if (call.instanceId === instance && call.touchedAt < at - RENEW_AFTER_MS)
        this.#openCalls.set(id, { ...call, touchedAt: at })
    }
  }

  async recover({ at, deadBefore, leakedBefore }: RecoveryBounds): Promise<readonly Recovered[]> {
    const running = new Set(this.#running.values())
    const lost = [...this.#openCalls.values()].filter(({ callId, instanceId, startedAt, recovered }) => {
      const beat = this.#heartbeats.get(instanceId)
      const isDead = beat === undefined || beat < deadBefore
      return recovered === undefined && !running.has(callId) && (isDead || startedAt < leakedBefore)
    })
    const operations = lost.map((call) => decideRecovery(call, at))
    const busy = new Set(
      [...byRunning(this.#openCalls.values()).openCalls.values()].map((call) => call.instanceId),
    )
    for (const [instance, beat] of this.#heartbeats)
      if (beat < deadBefore && !busy.has(instance)) this.#heartbeats.delete(instance)
    const answers = await this.run(operations)
    return operations.map((operation, index) => ({ operation, answer: answers[index] ?? { kind: 'done' } }))
  }

  async restart(): Promise<void> {}

  async read(): Promise<StoreState> {
    return {
      accounts: this.#accounts,
      members: this.#members,
      limitStates: this.#limitStates,
      ...byRunning(this.#openCalls.values()),
      logRows: this.#logRows,
      pools: this.#pools,
      logs: this.#logged.size,
      ended: this.#ended,
    }
  }

  readWhole(): Promise<StoreState> {
    return this.read()
  }

  /** A task that is not there is not made by its end. */
  #endTask(id: string, progress: number): void {
    assert.ok(!this.#ended.has(id), id)
    if (this.#running.delete(id)) this.#ended.set(id, progress)
  }

  #book(transfer: Transfer): void {
    const name = `${transfer.transactionId}#${transfer.sequence}`
    assert.ok(!this.#booked.has(name), name)
    this.#booked.add(name)
    assert.ok(transfer.amount > 0n)
    addToPools(this.#pools, transfer)
  }
}
