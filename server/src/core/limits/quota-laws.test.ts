/** Quotas against a naive list of uses: calls that overrun, end late, are ended by others and corrected, plans that change. */
import { expect, test } from 'vitest'
import { randomOf } from '../../../test/simulation/random.ts'
import type { Counted, LimitState } from '../ledger/hot-rows.ts'
import { microCredits } from '../money.ts'
import { emptyState } from './limit-state.ts'
import { NaiveWindow } from './naive-window.ts'
import { correctQuota, holdQuota, readQuota, readQuotaCounted, settleQuota } from './quota.ts'
import { runningAt } from './window.ts'

const SEEDS = 100
const STEPS = 120
const LENGTH_MS = 10_000
const TIERS = ['amount:10']
const START = 1_000_000

interface Call {
  readonly id: string
  readonly held: bigint
  readonly charged?: bigint
  readonly counted?: Counted
}

/** One seed's calls, in the state and in the list. */
function play(seed: number): void {
  const random = randomOf(seed)
  const naive = new NaiveWindow(LENGTH_MS)
  let state: LimitState = emptyState('quota:1')
  let at = START
  let grant = 20n
  const open: Call[] = []
  const recovered: Call[] = []
  const take = (calls: Call[]) => calls.splice(random.upTo(calls.length - 1), 1)[0]
  const late = () => at - (random.chance(0.3) ? random.upTo(2 * LENGTH_MS) : 0)
  const quota = () => [{ credits: microCredits(grant), seconds: 10 }]
  const charge = (call: string, units: bigint, then: number) => {
    naive.charge(call, units, then)
    naive.grant ??= grant
  }
  for (let step = 0; step < STEPS; step++) {
    at += random.chance(0.6) ? 1 + random.upTo(LENGTH_MS / 2) : random.upTo(1)
    if (random.chance(0.05)) grant = BigInt(5 + random.upTo(40))
    const roll = random.upTo(9)
    if (roll < 4) {
      const call = { id: `${step}`, held: BigInt(1 + random.upTo(10)) }
      state = holdQuota(state, quota(), { held: call.held, at })
      naive.hold(call.id, call.held, at)
      naive.grant = grant
      open.push(call)
    } else if (roll < 8) {
      const call = take(open)
      if (call === undefined) continue
      const [charged, then] = [BigInt(random.upTo(random.pick([10, 60]))), late()]
      state = settleQuota(state, TIERS, { held: call.held, charged, at: then, quota: quota() })
      if (charged > 0n) charge(call.id, charged, then)
      naive.release(call.id)
      if (random.chance(0.5))
        recovered.push({ ...call, charged, counted: readQuotaCounted(state, TIERS, charged) })
    } else {
      const { id, charged: was = 0n, counted = {} } = take(recovered) ?? {}
      const [charged, then] = [BigInt(random.upTo(40)), late()]
      if (id === undefined || charged === was) continue
      state = correctQuota(state, TIERS, { counted, charged, at: then, quota: quota() })
      if (charged > was) charge(id, charged - was, then)
      else naive.giveBack(id, was - charged)
    }
    const [window] = state.windows
    const running = runningAt(window, LENGTH_MS, at)
    expect(
      { used: running?.used ?? 0n, anchor: running?.anchor ?? 0, held: window?.held ?? 0n },
      `step ${step} of seed ${seed}`,
    ).toEqual({ used: naive.used(at), anchor: naive.startedAt(at), held: naive.held() })
    const least = BigInt(random.upTo(20))
    const { room, retryAfterMs } = readQuota(state, quota(), { least, at })
    if (room + naive.held() >= least && room + naive.held() > 0n) continue
    const waitMs = naive.endsInMsUntil(at, (used) => grant > used && grant - used >= least)
    expect(retryAfterMs, `Retry-After at step ${step} of seed ${seed}`).toBe(waitMs)
  }
}

test('used, held, anchors and waits are at each step as a list of uses has them', () => {
  for (let seed = 1; seed <= SEEDS; seed++) play(seed)
})

test('of two tiers of one length the smaller grants; one of nothing carries nothing over', () => {
  const at = START
  const twins = [30, 20, 25].map((credits) => ({ credits: microCredits(BigInt(credits)), seconds: 10 }))
  const held = holdQuota(emptyState('quota:1'), twins, { held: 1n, at })
  expect(held.windows[0]?.carry?.grant).toBe(20n)
  const none = [{ credits: microCredits(0n), seconds: 10 }]
  const charged = settleQuota(emptyState('quota:1'), TIERS, { held: 0n, charged: 9n, at, quota: none })
  expect(readQuota(charged, none, { least: 1n, at })).toMatchObject({ room: -9n, retryAfterMs: LENGTH_MS })
  expect(readQuota(charged, none, { least: 1n, at: at + LENGTH_MS }).room).toBe(0n)
})
