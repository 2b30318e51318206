/** A store's state against the model's: every balance, window and slot. */
import type { LimitState, OpenCall } from '../../src/core/ledger/hot-rows.ts'
import { QUOTA_REVENUE, REVENUE } from '../../src/core/ledger/ledger.ts'
import type { NaiveModel } from '../../src/core/calls/naive-model.ts'
import { accountId, callId, memberId } from '../../src/core/ids.ts'
import { runningAt } from '../../src/core/limits/window.ts'
import { expectSame } from './same.ts'
import type { StoredMoney, StoreState } from './store.ts'
import { accountRow, memberRow } from './words.ts'

export interface Expected {
  readonly naive: NaiveModel
  readonly at: number
  readonly logs: number
  readonly ended: ReadonlyMap<string, number>
  readonly logRows: ReadonlyMap<string, StoredMoney>
}

export function compareState(state: StoreState, { naive, at, logs, ended, logRows }: Expected): void {
  compareAccounts(state, naive)
  for (const call of naive.open.keys()) {
    if (!state.openCalls.has(callId(call))) throw new Error(`call ${call} is not open`)
  }
  expectSame('the number of open calls', state.openCalls.size, naive.open.size)
  expectSame('the number of recovered calls', state.recoveredCalls.size, naive.recovered.size)
  for (const { callId: call, held, monthHeld, memberHeld, quotaHeld } of state.recoveredCalls.values())
    expectSame(`what the recovered call ${call} holds`, held + monthHeld + memberHeld + quotaHeld, 0n)
  for (const [call, found] of state.logRows) {
    const expected = logRows.get(call)
    if (expected === undefined) continue
    const { amount, deducted, owed } = expected
    expectSame(`the money in the log row of ${call}`, found, { amount, deducted, owed })
  }
  expectSame('the number of log rows', state.logs, logs)
  expectSame('the number of tasks that ended', state.ended.size, ended.size)
  for (const [id, progress] of ended) {
    expectSame(`what the end of task ${id} told`, state.ended.get(id), progress)
  }
  compareLimits(state, naive, at)
}

function compareAccounts({ accounts, members, openCalls, pools }: StoreState, naive: NaiveModel): void {
  const pool = (name: string) => pools.get(name) ?? 0n
  let total = 0n
  for (const amount of pools.values()) total += amount
  expectSame('the sum of the ledger', total, 0n)
  for (const name of [REVENUE, QUOTA_REVENUE]) {
    if (pool(name) < 0n) throw new Error(`${name} fell below zero`)
  }
  const holds = sumHolds(openCalls.values())
  for (const account of naive.accounts.values()) {
    const { id } = account
    expectSame(`account ${id}`, accounts.get(accountId(id)), accountRow(account))
    expectSame(
      `the Credits of ${id} by the ledger`,
      pool(`${id}/credits`) + pool(`${id}/held`),
      account.credits,
    )
    expectSame(`what the ledger says that ${id} holds`, pool(`${id}/held`), 0n)
    expectSame(`the balance of ${id} by the ledger`, pool(`${id}/balance`), account.balance)
    expectSame(`what ${id} owes by the ledger`, -pool(`${id}/owed`), account.owed)
    const { held, monthHeld } = holds.get(id) ?? { held: 0n, monthHeld: 0n }
    expectSame(`what the open calls of ${id} hold`, held, account.held)
    expectSame(`what the open calls of ${id} hold of the month`, monthHeld, account.monthHeld)
  }
  for (const member of naive.members.values()) {
    const { id } = member
    expectSame(`member ${id}`, members.get(memberId(id)), memberRow(member))
    const held = holds.get(id)?.monthHeld ?? 0n
    expectSame(`what the open calls of ${id} hold of the month`, held, member.monthHeld)
  }
}

function sumHolds(calls: Iterable<OpenCall>): ReadonlyMap<string, { held: bigint; monthHeld: bigint }> {
  const holds = new Map<string, { held: bigint; monthHeld: bigint }>()
  const add = (id: string, held: bigint, monthHeld: bigint) => {
    const sums = holds.get(id) ?? { held: 0n, monthHeld: 0n }
    holds.set(id, { held: sums.held + held, monthHeld: sums.monthHeld + monthHeld })
  }
  for (const { accountId: account, memberId: member, held, monthHeld, memberHeld } of calls) {
    add(account, held, monthHeld)
    if (member !== undefined) add(member, held, memberHeld)
  }
  return holds
}

function compareLimits({ limitStates }: StoreState, naive: NaiveModel, at: number): void {
  const states = new Map<string, LimitState>(limitStates)
  for (const [subject, slots] of naive.slots) {
    expectSame(`the slots of ${subject}`, states.get(subject)?.slots ?? 0, slots)
  }
  for (const [subject, windows] of naive.windows) {
    const tiers = new Map(states.get(subject)?.windows.map((window) => [window.tier, window]))
    for (const [tier, window] of windows) {
      const found = tiers.get(tier)
      const running = runningAt(found, window.lengthMs, at)
      const seen = { used: running?.used ?? 0n, held: found?.held ?? 0n, anchor: running?.anchor ?? 0 }
      const expected = { used: window.used(at), held: window.held(), anchor: window.startedAt(at) }
      expectSame(`${subject} ${tier}`, seen, expected)
    }
  }
}
