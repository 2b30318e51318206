import { expect, test } from 'vitest'
import { instanceId } from '../ids.ts'
import { lookAround, NOT_WATCHING, noteBeat, noteFailedBeat, type SeenInstance, type Watch } from './watch.ts'

const PERIODS = { gapMs: 10, silentMs: 20 }
const OWN = instanceId('own')

type Step =
  /** Its own heartbeat is written. */
  | 'beat'
  /** Its own heartbeat cannot be written. */
  | 'fail'
  /** It reads the instances; `other` is the state of the other one. */
  | { readonly other: Partial<SeenInstance> | 'unchanged' | 'beaten' | 'absent' }

/** Every 5 ms a round: what one instance does and sees, and the times at which it takes over from the other. */
function play(rounds: readonly (readonly Step[])[]): readonly number[] {
  let watch: Watch = NOT_WATCHING
  let other: SeenInstance = {
    id: instanceId('other'),
    epoch: 1,
    beats: 7,
    beatAt: 1_000_000,
    gone: false,
    hasCalls: true,
  }
  const takenOverAt: number[] = []
  for (const [round, steps] of rounds.entries()) {
    const at = round * 5
    for (const step of steps) {
      if (step === 'beat') watch = noteBeat(watch, at, PERIODS)
      else if (step === 'fail') watch = noteFailedBeat()
      else {
        if (step.other === 'beaten') other = { ...other, beats: other.beats + 1 }
        else if (typeof step.other === 'object') other = { ...other, ...step.other }
        const own: SeenInstance = { ...other, id: OWN, beats: 0 }
        const instances = step.other === 'absent' ? [own] : [own, other]
        const seen = lookAround(watch, { at, own: OWN, instances }, PERIODS)
        watch = seen.watch
        if (seen.silent.some(({ id }) => id === other.id)) takenOverAt.push(at)
        expect(seen.silent.every(({ id }) => id !== OWN)).toBe(true)
      }
    }
  }
  return takenOverAt
}

const look: readonly Step[] = ['beat', { other: 'unchanged' }]
const alive: readonly Step[] = ['beat', { other: 'beaten' }]
const away: readonly Step[] = ['fail']
const asleep: readonly Step[] = []
const times = (count: number, steps: readonly Step[]) => Array.from({ length: count }, () => steps)

test.each<readonly [string, readonly (readonly Step[])[], readonly number[]]>([
  ['who is silent for a whole period is taken over from', times(5, look), [20]],
  ['who beats is left alone', times(40, alive), []],
  ['a new process waits a whole period, however old the beat is', times(4, look), []],
  ['the period begins anew with every beat', [...times(4, look), alive, ...times(3, look)], []],
  ['and runs out after it', [...times(4, look), alive, ...times(4, look)], [40]],
  [
    'after an outage of any length, in which nobody could beat, everybody has a whole period again',
    [...times(2, look), ...times(400, away), ...times(4, look)],
    [],
  ],
  ['and no more than that', [...times(2, look), ...times(400, away), ...times(5, look)], [(402 + 4) * 5]],
  [
    'a database that is back for two seconds and away again starts no period that goes on',
    Array.from({ length: 50 }, () => [...times(4, look), ...times(3, away)]).flat(),
    [],
  ],
  [
    'a process that slept itself has seen nothing: two that slept together do not take over from each other',
    [...times(3, look), ...times(7, asleep), ...times(4, look)],
    [],
  ],
  [
    'a nap shorter than a gap changes nothing',
    [...times(2, look), ...times(1, asleep), ...times(2, look)],
    [20],
  ],
  [
    'between its own late beat and the look nothing is taken over',
    [...times(3, look), ...times(7, asleep), [{ other: 'unchanged' }], ...times(4, look)],
    [],
  ],
  [
    'who cannot beat itself takes over from nobody',
    [...times(2, look), ...times(9, [{ other: 'unchanged' }])],
    [],
  ],
  [
    'a clock of the other one that steps back or stands still says nothing',
    [...times(3, look), ['beat', { other: { beatAt: 5, beats: 8 } }], ...times(3, look)],
    [],
  ],
  [
    'an instance that was taken over has a whole period again',
    [...times(4, look), ['beat', { other: { epoch: 2 } }], ...times(3, look)],
    [],
  ],
  [
    'one that was forgotten and is there again is watched anew',
    [...times(3, look), ['beat', { other: 'absent' }], ...times(4, look)],
    [],
  ],
  [
    'calls without an instance wait a whole period too',
    [['beat', { other: { epoch: undefined } }], ...times(3, look)],
    [],
  ],
  [
    'a process that is known to have ended is taken over from at once',
    [['beat', { other: { gone: true } }]],
    [0],
  ],
  ['even by one that has not beaten', [[{ other: { gone: true } }]], [0]],
])('%s', (_, rounds, expected) => {
  expect(play(rounds)).toEqual(expected)
})
