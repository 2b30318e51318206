/** Three chains under random calls and faults, against what must hold whatever happens. A failure names its seed. */
import { describe, expect, test } from 'vitest'
import { FUZZ_SEED, seededChance } from '../../../../test/passthrough/test-kit.ts'
import { sampleChain } from '../../../../test/management/sample-catalogue.ts'
import type { Chain } from '../../../core/catalogue.ts'
import { chainId, credentialId } from '../../../core/ids.ts'
import { type ChainFailure, HEALTHY } from '../../../core/routing/health.ts'
import { nextChain, standingOf } from '../../../core/routing/order.ts'
import { type ChainRun, createHealthBoard } from './health-board.ts'

const SOUND = sampleChain(3, 'm', 'v')
const CHAINS = [sampleChain(1, 'm', 'v'), sampleChain(2, 'm', 'v'), SOUND] as const
const PAUSE_MS_MAX = 300_000
const PROBE_MS_MAX = 900_000
const PROBE_ANSWER_MS_MAX = 30_000

const FAILURES: readonly [ChainFailure, ...ChainFailure[]] = [
  { kind: 'cut' },
  { kind: 'timeout' },
  { kind: 'connect' },
  { kind: 'overloaded', retryAfterMs: undefined },
  { kind: 'rate-limited', retryAfterMs: 30_000 },
  { kind: 'rate-limited', retryAfterMs: undefined },
  { kind: 'auth' },
  { kind: 'not-found' },
  { kind: 'request' },
  { kind: 'refused-content' },
]

interface OpenCall {
  readonly chain: Chain
  readonly run: ChainRun
  /** It went out as the probe of its chain. */
  readonly probe: boolean
  /** Epoch ms. */
  readonly beganAt: number
  answeredAt: number | undefined
}

/** 1500 steps: a call begins, is answered, ends somehow, or time passes. */
function play(seed: number): void {
  const { next: chance, below } = seededChance(seed)
  const anyOf = <Value>(values: readonly [Value, ...Value[]]): Value =>
    values[below(values.length)] ?? values[0]
  const board = createHealthBoard()
  const open: OpenCall[] = []
  let now = 1_000_000
  const healthOf = (chain: Chain) => board.of(chain)

  const beginOn = (chain: Chain): void => {
    const before = board.of(chain)
    const probe = before.cooldown !== undefined && standingOf(before, now).kind === 'ready'
    open.push({
      chain,
      run: board.begin(chain, { own: false, now }),
      probe,
      beganAt: now,
      answeredAt: undefined,
    })
  }
  const endOne = (): void => {
    const [call] = open.splice(below(open.length), 1)
    if (call === undefined) return
    const { chain, run } = call
    if (chain === SOUND || chance() < 0.3) {
      run.answered(now)
      run.succeeded(now)
    } else if (chance() < 0.2) run.withdrawn()
    else run.failed(anyOf(FAILURES), now)
    // Ending again changes nothing.
    const after = board.of(chain)
    run.succeeded(now)
    run.withdrawn()
    expect(board.of(chain)).toEqual(after)
  }

  for (let step = 0; step < 1_500; step += 1) {
    const what = chance()
    if (what < 0.35) {
      const next = nextChain(CHAINS, { now, healthOf })
      if (next === undefined || next.standing.kind !== 'ready') throw new Error('the sound chain was starved')
      beginOn(next.chain)
    } else if (what < 0.45) beginOn(anyOf(CHAINS))
    else if (what < 0.55) {
      const call = open[below(open.length)]
      call?.run.answered(now)
      if (call !== undefined) call.answeredAt ??= now
    } else if (what < 0.9) endOne()
    else now += anyOf([1, 100, 1_000, 15_000, 60_000])

    for (const chain of CHAINS) {
      const health = board.of(chain)
      const { cooldown } = health
      const probes = open.filter(
        (call) =>
          call.chain === chain &&
          call.probe &&
          cooldown !== undefined &&
          call.beganAt >= cooldown.pausedAt &&
          now <
            (call.answeredAt === undefined
              ? call.beganAt + PROBE_MS_MAX
              : call.answeredAt + PROBE_ANSWER_MS_MAX),
      )
      expect(probes.length, 'one probe at a time').toBeLessThanOrEqual(1)
      expect(health.running, 'every call is counted until it ends').toBe(
        open.filter((call) => call.chain === chain).length,
      )
      expect((cooldown?.until ?? 0) - now, 'a pause has an end').toBeLessThanOrEqual(PAUSE_MS_MAX)
      const limit = Math.max(health.rateLimit?.nextAt ?? 0, health.lowered?.nextAt ?? 0)
      expect(limit - now, 'one call a second is let through').toBeLessThanOrEqual(1_000)
      expect(health.outcomeCount).toBeLessThanOrEqual(20)
    }
  }

  // The faults are over: whatever was, every chain serves again.
  while (open.length > 0) open.pop()?.run.withdrawn()
  for (let second = 0; second < 400; second += 1) {
    now += 1_000
    for (const chain of CHAINS) {
      if (standingOf(board.of(chain), now).kind !== 'ready') continue
      const run = board.begin(chain, { own: false, now })
      run.answered(now)
      run.succeeded(now)
    }
  }
  for (const chain of CHAINS) {
    const { cooldown, failuresInRow } = board.of(chain)
    expect([cooldown, failuresInRow, standingOf(board.of(chain), now).kind]).toEqual([undefined, 0, 'ready'])
  }
}

test('no cooldown lasts for ever, no chain is probed by two calls, a healthy one is never starved', () => {
  for (let run = 0; run < 15; run += 1) {
    const seed = FUZZ_SEED + run
    try {
      play(seed)
    } catch (error) {
      throw new Error(`seed ${seed}`, { cause: error })
    }
  }
})

describe('the board', () => {
  const [chain] = CHAINS
  const failTwice = (board: ReturnType<typeof createHealthBoard>): void => {
    for (let index = 0; index < 2; index += 1)
      board.begin(chain, { own: false, now: 0 }).failed({ kind: 'cut' }, 0)
  }

  test('forgets chains the catalogue no longer has, and calls that end on them afterwards', () => {
    const board = createHealthBoard()
    const late = board.begin(chain, { own: false, now: 0 })
    board.keepOnly(new Set([chainId(2)]))
    late.failed({ kind: 'auth' }, 0)
    expect(board.of(chain)).toBe(HEALTHY)
  })

  test('keeps what it knows of the others', () => {
    const board = createHealthBoard()
    failTwice(board)
    board.keepOnly(new Set([chain.id]))
    expect(board.of(chain).cooldown?.until).toBe(15_000)
  })

  test('takes a chain with another credential for new, whatever ends on the old one', () => {
    const board = createHealthBoard()
    const late = board.begin(chain, { own: false, now: 0 })
    failTwice(board)
    const moved = { ...chain, credentialId: credentialId('another') }
    expect(board.of(moved)).toBe(HEALTHY)
    board.begin(moved, { own: false, now: 1 }).succeeded(1)
    late.failed({ kind: 'auth' }, 2)
    expect(board.of(moved)).toMatchObject({ cooldown: undefined, running: 0, outcomeCount: 1 })
  })

  test('is reset by an operator, and still counts the running calls', () => {
    const board = createHealthBoard()
    const running = board.begin(chain, { own: false, now: 0 })
    failTwice(board)
    board.reset(chain.id)
    expect(board.of(chain)).toEqual({ ...HEALTHY, running: 1 })
    running.withdrawn()
    expect(board.of(chain).running).toBe(0)
  })
})
