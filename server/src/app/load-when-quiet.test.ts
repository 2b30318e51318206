/** The tokenizer is loaded when nothing runs, and a failure to read it ends nothing. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Pipeline } from '../pipeline/context.ts'
import { loadWhenQuiet, QUIET_LOOK_MS } from './load-when-quiet.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** @param outcomes of one attempt to load after the other */
function start(outcomes: readonly ('fails' | 'loads')[], openCalls: () => number) {
  const seen = { attempts: 0, warned: 0 }
  const load = (): void => {
    const outcome = outcomes[seen.attempts]
    seen.attempts += 1
    if (outcome !== 'loads') throw new Error('EMFILE: too many open files')
  }
  const warn = (): void => {
    seen.warned += 1
  }
  const parts = { tokens: { load }, telemetry: { log: { warn } } } as unknown as Pipeline
  const looks = loadWhenQuiet(parts, openCalls)
  return { seen, stop: () => clearInterval(looks) }
}

const look = (): void => void vi.advanceTimersByTime(QUIET_LOOK_MS)

test('it is loaded once, when no call runs', () => {
  let running = 1
  const { seen } = start(['loads'], () => running)
  look()
  look()
  expect(seen.attempts).toBe(0)
  running = 0
  look()
  look()
  expect(seen).toEqual({ attempts: 1, warned: 0 })
})

test('one that cannot be read is told of and tried again until it is there', () => {
  const { seen } = start(['fails', 'fails', 'loads'], () => 0)
  look()
  expect(seen).toEqual({ attempts: 1, warned: 1 })
  look()
  look()
  look()
  expect(seen).toEqual({ attempts: 3, warned: 2 })
})

test('a gateway that stops looks no more', () => {
  const { seen, stop } = start(['loads'], () => 0)
  stop()
  look()
  expect(seen.attempts).toBe(0)
})
