/**
 * One world in a database. Batches go to two openings, as from two instances; the management API works over an opening of
 * its own, as another process would, so that whatever an engine remembers between batches has to notice.
 */

import { type AccountId, accountId, callId, type InstanceId, type VendorCode } from '../../src/core/ids.ts'
import type { JsonObject } from '../../src/core/json.ts'
import type {
  AccountRow,
  KeyRow,
  LimitState,
  MemberRow,
  OpenCall,
  Subject,
  Subscription,
} from '../../src/core/ledger/hot-rows.ts'
import { balancePool, SUBSCRIPTION_REVENUE } from '../../src/core/ledger/ledger.ts'
import type { HotOperation, ReserveOperation } from '../../src/core/ledger/operations.ts'
import { Secret } from '../../src/core/secret.ts'
import type { TaskKind } from '../../src/core/video/task.ts'
import { idempotencyOf } from '../../src/management/acts.ts'
import { exchangeBalance } from '../../src/management/money/exchange.ts'
import { recover } from '../../src/storage/conformance/suite.ts'
import { decodeAccountRow, HOT_ACCOUNT_COLUMNS } from '../../src/storage/sql/accounts/account-row.ts'
import type { HotResult } from '../../src/storage/sql/calls/hot-batch.ts'
import { decodeLimitState } from '../../src/storage/sql/calls/limit-state-row.ts'
import { decodeOpenCall, openCalls } from '../../src/storage/sql/calls/open-call-row.ts'
import type { SqlEngine } from '../../src/storage/sql/engine.ts'
import { callLogs, decodeCallLog } from '../../src/storage/sql/logs/call-log-row.ts'
import { decodeMemberRow, selectHotMembers } from '../../src/storage/sql/organisations/member-row.ts'
import { integerOf, numberOf, type StoredRow, textOf } from '../../src/storage/sql/table.ts'
import type { Storage } from '../../src/storage/storage.ts'
import type { ActOutcome } from '../../src/storage/stores/customers.ts'
import { byRunning } from './open-calls.ts'
import { addToPools } from './pools.ts'
import type { Ran } from './record-hot.ts'
import type { RowReader } from './row-reader.ts'
import { expectSame } from './same.ts'
import type {
  Act,
  Answer,
  Recovered,
  RecoveryBounds,
  SimulatedMember,
  SimulatedStore,
  StoredMoney,
  StoreState,
} from './store.ts'
import { taskIdOf, taskOf } from './task.ts'
import { removeFromTeam, setMember, startTeam } from './team.ts'

export interface EngineStoreOptions {
  readonly hot: {
    readonly engines: SqlEngine[]
    readonly reopen: (opening: 0 | 1) => Promise<void>
    /** Resolves when the database has what was decided; absent: it has when a batch is answered. */
    readonly written?: (() => Promise<void>) | undefined
  }
  readonly customers: Storage
  readonly reader: RowReader
  /** What the management API's own engine ran since the last time. */
  readonly takeRecovered: () => readonly Ran[]
}

export class EngineStore implements SimulatedStore {
  readonly #options: EngineStoreOptions
  readonly #known = new Map<string, string>()
  readonly #reserved = new Set<string>()
  /** Own credentials there are, and whether they are switched on. */
  readonly #byok = new Map<AccountId, Map<VendorCode, boolean>>()
  #switchedOff = 0
  readonly #ordered = new Set<string>()
  readonly #epochs = new Map<InstanceId, number>()
  readonly #accounts = new Set<AccountId>()
  readonly #subjects = new Set<Subject>()
  /** What may have changed since it was read. */
  readonly #touchedCalls = new Set<string>()
  readonly #touchedTransactions = new Set<string>()
  readonly #booked = new Set<string>()
  /** What accounts owe may have been charged under names that only the store knows. */
  #owedCharged = false
  readonly #logged = new Set<string>()
  readonly #limitTexts = new Map<string, string>()
  readonly #state = {
    accounts: new Map<AccountRow['id'], AccountRow>(),
    members: new Map<MemberRow['id'], MemberRow>(),
    limitStates: new Map<Subject, LimitState>(),
    openCalls: new Map<OpenCall['callId'], OpenCall>(),
    recoveredCalls: new Map<OpenCall['callId'], OpenCall>(),
    pools: new Map<string, bigint>(),
    logs: 0,
    ended: new Map<string, number>(),
  }

  constructor(options: EngineStoreOptions) {
    this.#options = options
  }

  async change({
    keys,
    accounts,
    members,
    bookings,
  }: Parameters<SimulatedStore['change']>[0]): Promise<void> {
    const teams = new Set(members.map(({ organisationId }) => organisationId))
    for (const account of accounts) {
      if (teams.has(account.id) && !this.#accounts.has(account.id)) {
        await startTeam(this.#options.customers, account.id)
        this.#accounts.add(account.id)
      }
      if (this.#isNew(`account ${account.id}`, account)) await this.#changeAccount(account)
    }
    for (const member of members) {
      if (this.#isNew(`member ${member.id}`, member)) await this.#changeMember(member)
    }
    for (const key of keys) if (this.#isNew(`key ${key.id}`, key)) await this.#changeKey(key)
    for (const booking of bookings) {
      await this.#options.customers.ledger.book(booking)
      for (const { transactionId } of booking) this.#touchedTransactions.add(transactionId)
    }
  }

  async run(batch: readonly HotOperation[], opening: 0 | 1): Promise<readonly Answer[]> {
    for (const operation of batch) this.#touch(operation)
    const { engines, written } = this.#options.hot
    const results = await engines[opening]?.runHot(batch.map((operation) => this.#markFirst(operation)))
    await written?.()
    return results?.map(answerOf) ?? []
  }

  /** As the request pipeline does for a call of its own. */
  #markFirst(operation: HotOperation): HotOperation {
    if (operation.kind !== 'reserve' || this.#reserved.has(operation.callId)) return operation
    this.#reserved.add(operation.callId)
    return { ...operation, first: true }
  }

  async order(
    { callId, instanceId: instance, keyId: key, accountId: account }: ReserveOperation,
    kind: TaskKind,
  ) {
    const task = taskOf({ callId, keyId: key, accountId: account, kind })
    if (this.#ordered.has(task.id)) return
    this.#ordered.add(task.id)
    await this.#options.customers.videos.create(task, undefined, { instance, until: 0 })
  }

  async lease(instance: InstanceId, times: { readonly at: number; readonly until: number }): Promise<number> {
    const leased = await this.#options.customers.videos.lease({ instance, ...times, limit: LEASED_AT_ONCE })
    for (const { callId } of leased) this.#touchedCalls.add(callId)
    return leased.length
  }

  async act(act: Act): Promise<boolean> {
    const outcome = await (act.plan === undefined
      ? exchangeBalance(this.#options.customers, { ...act, idempotencyKey: act.name, creditsPerUnit: '1000' })
      : this.#buy(act, act.plan))
    if (outcome.kind !== 'done') return false
    this.#touchedTransactions.add(transactionOf(outcome.answer))
    // The plan is the account's from now on: the next change of the account is held against it.
    this.#known.delete(`account ${act.accountId}`)
    return true
  }

  async beat(instance: InstanceId, at: number): Promise<void> {
    const { calls } = this.#options.customers
    let outcome = await calls.heartbeat(instance, at, this.#epochs.get(instance))
    // Others took over from it: it begins anew, once for each time.
    while (outcome.kind === 'taken-over') {
      this.#epochs.set(instance, outcome.epoch)
      outcome = await calls.heartbeat(instance, at, outcome.epoch)
    }
    for (const id of this.#state.openCalls.keys()) this.#touchedCalls.add(id)
  }

  async recover(bounds: RecoveryBounds): Promise<readonly Recovered[]> {
    const { customers, takeRecovered } = this.#options
    takeRecovered()
    const count = await recover(customers, bounds)
    const ran = takeRecovered()
    expectSame('the number of calls that were recovered', count, ran.length)
    for (const { operation } of ran) this.#touch(operation)
    return ran.map(({ operation, result }) => ({ operation, answer: answerOf(result) }))
  }

  async forgetRecovered(before: number): Promise<void> {
    await this.#options.customers.calls.forgetRecovered(before)
    for (const id of this.#state.recoveredCalls.keys()) this.#touchedCalls.add(id)
  }

  async chargeOwed(month: { readonly at: number; readonly monthStart: number }): Promise<void> {
    await this.#options.customers.accounts.chargeOwed(month)
    this.#owedCharged = true
  }

  restart(opening: 0 | 1): Promise<void> {
    return this.#options.hot.reopen(opening)
  }

  async read(): Promise<StoreState> {
    const { reader } = this.#options
    const calls = [...this.#touchedCalls]
    const accounts = [...this.#accounts]
    const owedCharged = this.#owedCharged ? accounts : []
    this.#owedCharged = false
    const [accountRows, memberRows, limitRows, openRows, [open], transfers, owed, logs, ended] =
      await Promise.all([
        reader.rows(ACCOUNTS, accounts),
        reader.rows(MEMBERS, accounts),
        reader.rows(LIMIT_STATES, [...this.#subjects]),
        reader.rows(`${OPEN_CALLS} call_id`, calls),
        reader.rows('select count(*) as rows from open_calls where account_id', accounts),
        reader.rows(TRANSFERS, [...calls, ...this.#touchedTransactions]),
        reader.rows(OWED_CHARGES, owedCharged),
        reader.rows(`${LOG_ROWS} call_id`, calls),
        reader.rows(`${VIDEO_TASKS} id`, calls.map(taskIdOf), ENDED),
      ])
    this.#touchedCalls.clear()
    this.#touchedTransactions.clear()
    const state = this.#state
    for (const row of accountRows) state.accounts.set(accountId(textOf(row, 'id')), decodeAccountRow(row))
    for (const member of memberRows.map(decodeMemberRow)) state.members.set(member.id, member)
    for (const row of limitRows) this.#noteLimits(row)
    for (const call of calls) {
      state.openCalls.delete(callId(call))
      state.recoveredCalls.delete(callId(call))
    }
    for (const call of openRows.map(decodeOpenCall)) {
      if (call.recovered === undefined) state.openCalls.set(call.callId, call)
      else state.recoveredCalls.set(call.callId, call)
    }
    expectSame(
      'the number of open calls',
      open && numberOf(open, 'rows'),
      state.openCalls.size + state.recoveredCalls.size,
    )
    for (const row of [...transfers, ...owed]) this.#noteTransfer(row)
    const logRows = moneyOf(logs)
    for (const call of logRows.keys()) this.#logged.add(call)
    for (const row of ended) state.ended.set(textOf(row, 'id'), Number(textOf(row, 'progress')))
    return { ...state, logRows, logs: this.#logged.size }
  }

  async readWhole(): Promise<StoreState> {
    const { reader } = this.#options
    const accounts = [...this.#accounts]
    const [accountRows, memberRows, limitRows, openRows, sums, logs, ended] = await Promise.all([
      reader.rows(ACCOUNTS, accounts),
      reader.rows(MEMBERS, accounts),
      reader.rows(LIMIT_STATES, [...this.#subjects]),
      reader.rows(`${OPEN_CALLS} account_id`, accounts),
      reader.rows(POOLS, accounts, 'group by debit, credit'),
      reader.rows(`${LOG_ROWS} account_id`, accounts),
      reader.rows(`${VIDEO_TASKS} account_id`, accounts, ENDED),
    ])
    const pools = new Map<string, bigint>()
    for (const row of sums) {
      const { debit, credit } = sidesOf(row)
      addToPools(pools, { debit, credit, amount: BigInt(textOf(row, 'amount')) })
    }
    return {
      accounts: new Map(accountRows.map((row) => [accountId(textOf(row, 'id')), decodeAccountRow(row)])),
      members: new Map(memberRows.map(decodeMemberRow).map((member) => [member.id, member])),
      limitStates: new Map(limitRows.map(decodeLimitState).map((state) => [state.subject, state])),
      ...byRunning(openRows.map(decodeOpenCall)),
      logRows: moneyOf(logs),
      pools,
      logs: logs.length,
      ended: new Map(ended.map((row) => [textOf(row, 'id'), Number(textOf(row, 'progress'))])),
    }
  }

  #touch(operation: HotOperation): void {
    this.#touchedCalls.add(operation.kind === 'log' ? operation.log.callId : operation.callId)
    if (operation.kind === 'claim') this.#subjects.add(`credential:${operation.credentialId}`)
  }

  /** Most of them are as they were, and parsing them all would be most of the reading. */
  #noteLimits(row: StoredRow): void {
    const subject = textOf(row, 'subject')
    const text = `${integerOf(row, 'slots')} ${textOf(row, 'windows')}`
    if (this.#limitTexts.get(subject) === text) return
    this.#limitTexts.set(subject, text)
    const state = decodeLimitState(row)
    this.#state.limitStates.set(state.subject, state)
  }

  #noteTransfer(row: StoredRow): void {
    const name = `${textOf(row, 'transaction_id')}#${integerOf(row, 'sequence')}`
    if (this.#booked.has(name)) return
    this.#booked.add(name)
    addToPools(this.#state.pools, { ...sidesOf(row), amount: integerOf(row, 'amount') })
  }

  /** Money is no part of what the management API writes. */
  #isNew(name: string, row: AccountRow | KeyRow | MemberRow): boolean {
    const text = JSON.stringify(row, (field, value: unknown) =>
      MONEY.has(field) ? undefined : typeof value === 'bigint' ? value.toString() : value,
    )
    if (this.#known.get(name) === text) return false
    this.#known.set(name, text)
    return true
  }

  async #changeAccount(row: AccountRow): Promise<void> {
    const { accounts } = this.#options.customers
    const { id, status, verification, userRate, apiDeduction, monthlyCap } = row
    const { autoExchange, subscription, policy, byokVendors } = row
    const terms = { status, verification, userRate, apiDeduction, monthlyCap }
    const patch = { ...terms, autoExchange, subscription, policy }
    this.#owedCharged = true
    if (this.#accounts.has(id)) await accounts.patch(id, patch)
    else await accounts.create({ id, createdAt: 0, ...patch })
    this.#accounts.add(id)
    this.#subjects.add(`account:${id}`).add(`quota:${id}`)
    const known = this.#byok.get(id) ?? new Map<VendorCode, boolean>()
    this.#byok.set(id, known)
    for (const vendor of byokVendors) if (known.get(vendor) !== true) await this.#switchOn(id, vendor)
    for (const [vendor, enabled] of known) {
      if (enabled && !byokVendors.includes(vendor)) await this.#switchOff(id, vendor)
    }
  }

  /** One that was switched off is switched on again, one that was removed or never was is put. */
  async #switchOn(id: AccountId, vendor: VendorCode): Promise<void> {
    const { accounts } = this.#options.customers
    const known = this.#byok.get(id)
    if (known?.get(vendor) === false) await accounts.switchByok(id, vendor, true)
    else await accounts.putByok(id, vendor, { secret: new Secret('own'), fields: {} }, { enabled: true })
    known?.set(vendor, true)
  }

  /** Switched off and removed in turn. */
  async #switchOff(id: AccountId, vendor: VendorCode): Promise<void> {
    const { accounts } = this.#options.customers
    this.#switchedOff += 1
    if (this.#switchedOff % 2 === 0) {
      await accounts.removeByok(id, vendor)
      this.#byok.get(id)?.delete(vendor)
    } else {
      await accounts.switchByok(id, vendor, false)
      this.#byok.get(id)?.set(vendor, false)
    }
  }

  async #changeMember(member: SimulatedMember): Promise<void> {
    const { customers } = this.#options
    const subject: Subject = `member:${member.id}`
    if (member.status === 'removed') await removeFromTeam(customers, member)
    else await setMember(customers, member, this.#subjects.has(subject) ? 'there' : 'new')
    this.#subjects.add(subject)
  }

  async #changeKey({ id, accountId: account, memberId, status, expiresAt, policy }: KeyRow): Promise<void> {
    const { keys } = this.#options.customers
    const subject: Subject = `key:${id}`
    if (this.#subjects.has(subject)) {
      await keys.patch(id, { memberId, status, expiresAt, policy })
      return
    }
    this.#subjects.add(subject)
    await keys.create({
      id,
      accountId: account,
      memberId,
      sessionId: undefined,
      name: id,
      hash: id.padStart(64, '0'),
      hint: id,
      status,
      createdAt: 0,
      expiresAt,
      group: undefined,
      models: [],
      ipAllow: [],
      policy,
    })
  }

  /** As `subscribe` books it, at a price of the simulation's own. */
  #buy(
    { name, accountId: account, at, amount }: Act,
    subscription: Subscription,
  ): Promise<ActOutcome<'poor'>> {
    return this.#options.customers.customers.acts.perform<'poor'>({
      accountId: account,
      operation: 'subscribe',
      idempotency: idempotencyOf({ at, idempotencyKey: name }, [name]),
      at,
      decide: (state) => {
        if (state.account.balance < amount) return { kind: 'refused', refusal: 'poor' }
        const [debit, credit] = [balancePool(account), SUBSCRIPTION_REVENUE]
        const transfer = { transactionId: name, sequence: 0, at, debit, credit, amount, reference: undefined }
        const transfers = amount > 0n ? [{ ...transfer, kind: 'subscription' as const }] : []
        return { kind: 'done', transfers, subscription, answer: { id: name } }
      },
    })
  }
}

const LEASED_AT_ONCE = 20

const ACCOUNTS = `select ${HOT_ACCOUNT_COLUMNS.join(', ')} from accounts where id`
const MEMBERS = `${selectHotMembers('members m')} where m.organisation_id`
const LIMIT_STATES = 'select subject, slots, windows from limit_states where subject'
const OPEN_CALLS = `select ${Object.keys(openCalls.columns).join(', ')} from open_calls where`
const TRANSFERS = 'select transaction_id, sequence, debit, credit, amount from transfers where transaction_id'
const OWED_CHARGES =
  "select transaction_id, sequence, debit, credit, amount from transfers where kind = 'owed-charge' and reference is null and account_id"
/** As text: PostgreSQL's sum of integers is none. */
const POOLS = 'select debit, credit, cast(sum(amount) as text) as amount from transfers where account_id'
const LOG_ROWS = `select ${Object.keys(callLogs.columns).join(', ')} from call_logs where`
const VIDEO_TASKS = 'select id, progress from video_tasks where'
const ENDED = "and phase = 'ended'"

const MONEY: ReadonlySet<string> = new Set([
  'credits',
  'held',
  'balance',
  'owed',
  'monthStart',
  'monthSpent',
  'monthHeld',
])

function answerOf(result: HotResult): Answer {
  return result.kind === 'impossible' ? { kind: 'impossible' } : result.outcome
}

/** An act says under which transaction it was booked. */
function transactionOf({ id }: JsonObject): string {
  if (typeof id !== 'string') throw new Error('an act has no id')
  return id
}

function moneyOf(rows: readonly StoredRow[]): ReadonlyMap<string, StoredMoney> {
  return new Map(
    rows
      .map(decodeCallLog)
      .map(({ callId: call, amount, deducted, owed }) => [call, { amount, deducted, owed }]),
  )
}

const sidesOf = (row: StoredRow) => ({ debit: textOf(row, 'debit'), credit: textOf(row, 'credit') })
