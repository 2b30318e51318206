import { describe, expect, test } from 'vitest'
import type { ChainFailure, ChainHealth, ChainTry } from './health.ts'
import * as health from './health.ts'
import { standingOf } from './order.ts'

const CUT: ChainFailure = { kind: 'cut' }
const TIMEOUT: ChainFailure = { kind: 'timeout' }
const OVERLOADED: ChainFailure = { kind: 'overloaded', retryAfterMs: undefined }
const REQUEST: ChainFailure = { kind: 'request' }
const limited = (retryAfterMs: number | undefined): ChainFailure => ({ kind: 'rate-limited', retryAfterMs })

/** A chain whose calls are reported one after the other; times in seconds. */
class Told {
  state: ChainHealth = health.HEALTHY
  #id = 0

  begin(at: number, own = false): ChainTry {
    this.#id += 1
    const one = { id: this.#id, beganAt: at * 1_000, own }
    this.state = health.begin(this.state, one, at * 1_000)
    return one
  }

  answered(one: ChainTry, at: number): this {
    this.state = health.answered(this.state, one, at * 1_000)
    return this
  }

  succeeded(one: ChainTry, at: number): this {
    this.state = health.succeeded(this.state, one, at * 1_000)
    return this
  }

  failed(one: ChainTry, failure: ChainFailure, at: number): this {
    this.state = health.failed(this.state, one, failure, { now: at * 1_000, note: undefined })
    return this
  }

  withdrawn(one: ChainTry): this {
    this.state = health.withdrawn(this.state, one)
    return this
  }

  /** A whole call that takes no time. */
  call(at: number, outcome: 'well' | ChainFailure): this {
    const one = this.begin(at)
    return outcome === 'well' ? this.answered(one, at).succeeded(one, at) : this.failed(one, outcome, at)
  }

  stands(at: number): string {
    const { kind, reason } = standingOf(this.state, at * 1_000)
    return reason === undefined ? kind : `${kind}: ${reason}`
  }

  get restsUntil(): number | undefined {
    return this.state.cooldown === undefined ? undefined : this.state.cooldown.until / 1_000
  }
}

const COOLING = 'last-resort: cooling-down'

describe('a chain begins a cooldown', () => {
  test.each<[string, readonly ('well' | ChainFailure)[], string]>([
    ['not after one failure', [CUT], 'ready'],
    ['after two in a row', [CUT, CUT], COOLING],
    ['after two time-outs: they are failures as hard as any', [TIMEOUT, TIMEOUT], COOLING],
    ['after two of different kinds', [OVERLOADED, TIMEOUT], COOLING],
    ['not when a clean end lies between', [CUT, 'well', CUT], 'ready'],
    ['not for requests the upstream blames', [REQUEST, REQUEST, REQUEST], 'ready'],
    ['not for refused content', [{ kind: 'refused-content' }, { kind: 'refused-content' }], 'ready'],
    ['a request at fault does not stand between two failures', [CUT, REQUEST, CUT], COOLING],
    ['at once when the credential is refused', [{ kind: 'auth' }], COOLING],
    ['at once when its money is gone', [{ kind: 'quota' }], COOLING],
    ['not for one 404: it may be about what the client named', [{ kind: 'not-found' }], 'ready'],
    ['after two 404s', [{ kind: 'not-found' }, { kind: 'not-found' }], COOLING],
    ['never for a 429 without a time', [limited(undefined), limited(undefined), limited(undefined)], 'ready'],
  ])('%s', (_what, outcomes, expected) => {
    const told = new Told()
    outcomes.forEach((outcome, index) => told.call(index, outcome))
    expect(told.stands(outcomes.length + 3)).toBe(expected)
  })

  test.each([
    ['when more than half of the last twenty failed, though never two in a row', 3, true],
    ['not when half of them did', 1, false],
  ])('%s', (_what, failuresToOne, begins) => {
    const told = new Told()
    for (let round = 0; round < 40 && told.state.cooldown === undefined; round += 1) {
      // A time-out beside an answered call counts among the twenty, not in a row.
      const late = told.begin(round)
      const later = told.begin(round + 0.1)
      told.answered(later, round + 0.2)
      if (round % failuresToOne === 0) told.succeeded(later, round + 0.3)
      else told.withdrawn(later)
      told.failed(late, TIMEOUT, round + 0.4)
    }
    expect([told.state.cooldown !== undefined, told.state.failuresInRow]).toEqual([begins, 0])
    if (begins) expect(told.state.outcomeCount).toBeGreaterThanOrEqual(10)
  })

  test('not for a time-out of one request while later ones were answered: that request takes long', () => {
    const told = new Told()
    const huge = [told.begin(0), told.begin(0)]
    const small = told.begin(1)
    told.answered(small, 2)
    for (const one of huge) told.failed(one, TIMEOUT, 120)
    expect(told.stands(121)).toBe('ready')
  })

  test('but for time-outs while nothing was answered', () => {
    const told = new Told()
    const before = told.begin(0)
    const hanging = [told.begin(1), told.begin(2)]
    told.answered(before, 3)
    for (const one of hanging) told.failed(one, TIMEOUT, 120)
    expect(told.stands(121)).toBe(COOLING)
  })
})

describe('a cooldown', () => {
  const cooling = () => new Told().call(0, CUT).call(0, CUT)

  test('lasts 15 s, then one call is the probe and the others go elsewhere', () => {
    const told = cooling()
    expect(told.stands(14.9)).toBe(COOLING)
    expect(told.stands(15)).toBe('ready')
    told.begin(15)
    expect(told.stands(15)).toBe('last-resort: probing')
  })

  test('ends when the probe succeeds', () => {
    const told = cooling()
    const probe = told.begin(15)
    told.answered(probe, 16)
    expect(told.stands(17)).toBe('last-resort: probing')
    told.succeeded(probe, 17)
    expect([told.stands(17), told.state.failuresInRow]).toEqual(['ready', 0])
  })

  test('doubles each time the probe fails, up to five minutes', () => {
    const told = cooling()
    const pauses: number[] = []
    for (let at = 15; pauses.length < 7; at = told.restsUntil ?? 0) {
      told.failed(told.begin(at), TIMEOUT, at)
      pauses.push((told.restsUntil ?? 0) - at)
    }
    expect(pauses).toEqual([30, 60, 120, 240, 300, 300, 300])
  })

  test('is not made longer by calls that began before it, however many fail', () => {
    const told = new Told()
    const running = Array.from({ length: 50 }, () => told.begin(0))
    for (const one of running) told.failed(one, TIMEOUT, 5)
    expect(told.restsUntil).toBe(20)
  })

  test('is not made longer by last resorts within it', () => {
    const told = cooling()
    for (let at = 1; at < 14; at += 1) told.call(at, CUT)
    expect(told.restsUntil).toBe(15)
  })

  test('is ended by a last resort that succeeds, not by a call that began before', () => {
    const told = new Told()
    const before = told.begin(0)
    told.call(1, CUT).call(1, CUT).succeeded(before, 2)
    expect(told.stands(2)).toBe(COOLING)
    told.call(3, 'well')
    expect(told.stands(3)).toBe('ready')
  })

  test('is not begun again by a call that began before it ended', () => {
    const told = cooling()
    const old = [told.begin(14), told.begin(14)]
    const probe = told.begin(15)
    told.answered(probe, 15).succeeded(probe, 16)
    for (const one of old) told.failed(one, TIMEOUT, 17)
    expect(told.stands(18)).toBe('ready')
  })

  test('begins longer when the chain fails again soon after it recovered, and short again much later', () => {
    const told = cooling().call(15, 'well').call(16, CUT).call(16, CUT)
    expect(told.restsUntil).toBe(16 + 30)
    told.call(46, 'well').call(2_000, CUT).call(2_000, CUT)
    expect(told.restsUntil).toBe(2_015)
  })

  test.each<[string, (told: Told, probe: ChainTry) => void]>([
    ['its client left', (told, probe) => told.withdrawn(probe)],
    ['it was a request at fault', (told, probe) => told.failed(probe, REQUEST, 16)],
    ['it met a 429', (told, probe) => told.failed(probe, limited(undefined), 16)],
  ])('a probe that says nothing is given back: %s', (_what, end) => {
    const told = cooling()
    const probe = told.begin(15)
    end(told, probe)
    expect(told.stands(17)).toBe('ready')
    told.begin(17)
    expect(told.stands(17)).toBe('last-resort: probing')
  })

  test('a probe that flows for long makes way for the next after 30 s', () => {
    const told = cooling()
    const probe = told.begin(15)
    told.answered(probe, 20)
    expect(told.stands(49)).toBe('last-resort: probing')
    expect(told.stands(50)).toBe('ready')
  })

  test('of a refused credential begins with a minute', () => {
    expect(new Told().call(0, { kind: 'auth' }).restsUntil).toBe(60)
  })
})

describe('a 429 with a time', () => {
  test.each([
    ['pauses the chain that long', 7_000, 7],
    ['at most 60 s', 600_000, 60],
    ['at least 1 s', 0, 1],
  ])('%s', (_what, retryAfterMs, seconds) => {
    const told = new Told().call(0, limited(retryAfterMs))
    expect(told.state.rateLimit?.until).toBe(seconds * 1_000)
    expect(told.stands(seconds)).toBe('ready')
  })

  test('lets one call a second through', () => {
    const told = new Told().call(0, limited(30_000))
    expect(told.stands(0.5)).toBe('shut: rate-limited')
    expect(told.stands(1)).toBe('extra: rate-limited')
    told.begin(1)
    expect(told.stands(1.5)).toBe('shut: rate-limited')
    expect(told.stands(2)).toBe('extra: rate-limited')
  })

  test('is over as soon as a call that was let through is answered', () => {
    const told = new Told().call(0, limited(30_000))
    told.answered(told.begin(1), 1.2)
    expect(told.stands(1.3)).toBe('ready')
  })

  test('is not over because a call that began before it is answered', () => {
    const told = new Told()
    const before = told.begin(0)
    told.call(1, limited(30_000)).answered(before, 2)
    expect(told.stands(2.5)).toBe('extra: rate-limited')
  })

  test('is no failure of the chain', () => {
    const told = new Told().call(0, CUT).call(1, limited(1_000)).call(3, 'well')
    expect([told.state.failuresInRow, told.state.cooldown]).toEqual([0, undefined])
  })
})

describe('a 429 without a time', () => {
  /** So many run; one is refused. */
  const crowd = (size: number): { readonly told: Told; readonly running: ChainTry[] } => {
    const told = new Told()
    const running = Array.from({ length: size }, () => told.begin(0))
    for (const one of running) told.answered(one, 0.5)
    told.call(1, limited(undefined))
    return { told, running }
  }

  test('halves how many calls run at once', () => {
    expect(crowd(15).told.state.lowered?.limit).toBe(8)
  })

  test('halves once for all that ran together', () => {
    const told = new Told()
    const running = Array.from({ length: 16 }, () => told.begin(0))
    for (const one of running) told.failed(one, limited(undefined), 1)
    expect(told.state.lowered?.limit).toBe(8)
  })

  test('sends the others elsewhere while that many run, but for one a second', () => {
    const { told, running } = crowd(15)
    expect(told.stands(1.5)).toBe('shut: full')
    expect(told.stands(2)).toBe('extra: full')
    for (const one of running.slice(0, 8)) told.succeeded(one, 2)
    expect(told.stands(2)).toBe('ready')
  })

  test('grows by one for as many answers as the limit is high', () => {
    const { told, running } = crowd(15)
    for (const one of running) told.succeeded(one, 2)
    for (let count = 0; count < 9; count += 1) told.call(3, 'well')
    expect(Math.floor(told.state.lowered?.limit ?? 0)).toBe(9)
  })

  test('is forgotten when twice as many run as did, and after ten minutes', () => {
    const { told, running } = crowd(3)
    for (const one of running) told.succeeded(one, 2)
    expect(told.state.lowered?.limit).toBe(2)
    for (let count = 0; count < 30; count += 1) told.call(3, 'well')
    expect(told.state.lowered).toBeUndefined()
    const quiet = crowd(100)
    quiet.told.call(700, 'well')
    expect(quiet.told.state.lowered).toBeUndefined()
  })

  test('of a chain with one call leaves one, and the next answer forgets it', () => {
    const told = new Told().call(0, limited(undefined))
    expect(told.stands(0.1)).toBe('ready')
    told.call(0.2, 'well')
    expect(told.state.lowered).toBeUndefined()
  })
})

describe('an account’s own credential', () => {
  test('that is refused says nothing of the chain', () => {
    const told = new Told()
    for (let at = 0; at < 5; at += 1) told.failed(told.begin(at, true), { kind: 'auth' }, at)
    for (let at = 0; at < 5; at += 1) told.failed(told.begin(at, true), CUT, at)
    expect(told.state).toEqual({ ...health.HEALTHY })
  })

  test('may be the probe that restores the chain, or finds it still failing', () => {
    const told = new Told().call(0, CUT).call(0, CUT)
    told.failed(told.begin(15, true), CUT, 15)
    expect(told.restsUntil).toBe(45)
    const probe = told.begin(45, true)
    told.answered(probe, 45).succeeded(probe, 46)
    expect(told.stands(46)).toBe('ready')
  })

  test('is not held to limits of the platform’s', () => {
    const told = new Told().call(0, limited(30_000)).call(0, { kind: 'quota' })
    expect(standingOf(health.asSeenByOwner(told.state), 100).kind).toBe('ready')
  })
})
