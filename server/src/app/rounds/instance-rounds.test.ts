import { describe, expect, test, vi } from 'vitest'
import { instanceId } from '../../core/ids.ts'
import type { SeenInstance } from '../../core/instances/watch.ts'
import { StorageUnavailable } from '../../storage/failures/unavailable.ts'
import { createBackground } from '../../telemetry/background.ts'
import type { Log } from '../../telemetry/log.ts'
import { InstanceRounds, type InstanceRoundsOptions } from './instance-rounds.ts'
import type { BeatOutcome } from '../../storage/stores/calls.ts'

const OWN = instanceId('own')
const OTHER: SeenInstance = {
  id: instanceId('other'),
  epoch: 1,
  beats: 3,
  beatAt: 0,
  gone: false,
  hasCalls: true,
}

/** A store that answers as the test says, and a clock that the test moves. */
function scene() {
  const state = {
    elapsed: 0,
    beats: [] as (BeatOutcome | 'away')[],
    writes: true,
    epochs: [] as number[],
    takenOver: [] as string[],
    warnings: [] as string[],
    checks: 0,
    /** Resolves when the store has answered whether it accepts writes. */
    answered: Promise.resolve(),
  }
  const beaten: BeatOutcome = { kind: 'beaten', first: false }
  const calls: InstanceRoundsOptions['calls'] = {
    canWrite: () => state.writes,
    tryWriting: async () => {
      state.checks += 1
      await state.answered
      state.writes = true
    },
    heartbeat: (_, __, epoch = 1) => {
      state.epochs.push(epoch)
      const answer = state.beats.shift() ?? beaten
      return answer === 'away' ? Promise.reject(new StorageUnavailable('away')) : Promise.resolve(answer)
    },
    readInstances: () => Promise.resolve([OTHER]),
    takeOver: (instances) => {
      state.takenOver.push(...instances.map(({ id }) => id))
      return Promise.resolve(instances.length)
    },
    recoverLeaked: () => Promise.resolve([]),
  }
  const warn = (_fields: object, message: string) => void state.warnings.push(message)
  const log = { warn, error: warn } as unknown as Log
  const rounds = new InstanceRounds({
    calls,
    telemetry: { log, background: createBackground(log) },
    instance: OWN,
    isRunning: () => false,
    now: () => 0,
    elapsed: () => state.elapsed,
    periods: { gapMs: 10, silentMs: 20 },
  })
  /** A round every 5 ms. */
  const round = async (): Promise<void> => {
    await rounds.beat().catch(() => undefined)
    await rounds.lookAround()
    state.elapsed += 5
  }
  return { state, rounds, round }
}

describe('the rounds of an instance', () => {
  test('it takes over from who is silent for a whole period, and never after an outage', async () => {
    const { state, round } = scene()
    for (let count = 0; count < 4; count++) await round()
    state.beats = Array.from({ length: 30 }, () => 'away' as const)
    for (let count = 0; count < 34; count++) await round()
    expect(state.takenOver).toEqual([])
    await round()
    expect(state.takenOver).toEqual(['other'])
  })

  test('taken over it warns, and begins the new epoch at once', async () => {
    const { state, rounds } = scene()
    await rounds.beat()
    state.beats = [{ kind: 'taken-over', epoch: 2 }]
    await rounds.beat()
    await rounds.beat()
    expect(state.epochs).toEqual([1, 1, 2, 2])
    expect(state.warnings).toEqual([expect.stringMatching(/^this process was taken over/)])
    state.beats = [{ kind: 'taken-over', epoch: 3 }]
    await rounds.beat()
    expect(state.epochs.slice(4)).toEqual([2, 3])
    expect(state.warnings).toHaveLength(2)
  })

  test('it warns too if the process that took over has forgotten it; at its first heartbeat it does not', async () => {
    const { state, rounds } = scene()
    state.beats = [
      { kind: 'beaten', first: true },
      { kind: 'beaten', first: true },
    ]
    await rounds.beat()
    expect(state.warnings).toEqual([])
    await rounds.beat()
    expect(state.warnings).toHaveLength(1)
  })

  test('if every heartbeat reports a take-over it waits for the next round', async () => {
    const { state, rounds } = scene()
    state.beats = [2, 3, 4].map((epoch) => ({ kind: 'taken-over', epoch }))
    await expect(rounds.beat()).rejects.toThrow('keep taking over')
    expect(rounds.canWrite()).toBe(false)
    await rounds.beat()
    expect([state.epochs.at(-1), rounds.canWrite()]).toEqual([4, true])
  })

  test('it is not ready while its heartbeat fails, or the store refuses the writes of calls, and recovers by itself', async () => {
    const { state, rounds } = scene()
    state.beats = ['away']
    await expect(rounds.beat()).rejects.toThrow('away')
    expect(rounds.canWrite()).toBe(false)
    await rounds.beat()
    expect(rounds.canWrite()).toBe(true)
    // A heartbeat that neither succeeds nor fails.
    state.elapsed += 21
    expect(rounds.canWrite()).toBe(false)
    await rounds.beat()
    expect(rounds.canWrite()).toBe(true)
    state.writes = false
    expect(rounds.canWrite()).toBe(false)
    await rounds.beat()
    await vi.waitFor(() => expect(rounds.canWrite()).toBe(true))
  })

  test('its heartbeat does not wait until the store has answered whether it accepts writes, which is asked once', async () => {
    const { state, rounds } = scene()
    state.writes = false
    let answer = (): void => undefined
    state.answered = new Promise((resolve) => (answer = resolve))
    for (let count = 0; count < 3; count++) await rounds.beat()
    expect([state.epochs.length, state.checks, rounds.canWrite()]).toEqual([3, 1, false])
    answer()
    await vi.waitFor(() => expect(rounds.canWrite()).toBe(true))
  })

  test('if the store refuses writes, that is logged and asked again after the next heartbeat', async () => {
    const { state, rounds } = scene()
    state.writes = false
    state.answered = Promise.reject(new StorageUnavailable('the disk is full'))
    await rounds.beat()
    await vi.waitFor(() => expect(state.warnings).toEqual(['background work failed']))
    expect(rounds.canWrite()).toBe(false)
    state.answered = Promise.resolve()
    await rounds.beat()
    await vi.waitFor(() => expect(rounds.canWrite()).toBe(true))
    expect(state.checks).toBe(2)
  })
})
