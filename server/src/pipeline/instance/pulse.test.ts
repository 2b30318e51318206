import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createPulse, type PulsedStream } from './pulse.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
})
afterEach(() => {
  vi.useRealTimers()
})

test('every stream speaks once a second, and never all of them at once', () => {
  const pulse = createPulse(() => 0)
  const spoken = Array.from({ length: 100 }, () => 0)
  let together = 0
  let mostTogether = 0
  const streams = spoken.map(
    (_, index): PulsedStream => ({
      onPulse: () => {
        spoken[index] = (spoken[index] ?? 0) + 1
        together += 1
      },
    }),
  )
  for (const stream of streams) pulse.add(stream)
  for (let tick = 0; tick < 30; tick++) {
    together = 0
    vi.advanceTimersByTime(100)
    mostTogether = Math.max(mostTogether, together)
  }
  expect(new Set(spoken)).toEqual(new Set([3]))
  expect(mostTogether).toBeLessThanOrEqual(20)
  pulse.stop()
})

test('one that has just begun speaks within a tenth of a second, and then once a second', () => {
  const pulse = createPulse(() => 0)
  let spoken = 0
  const stream: PulsedStream = { onPulse: () => (spoken += 1) }
  pulse.add(stream)
  pulse.soon(stream)
  vi.advanceTimersByTime(100)
  expect(spoken).toBe(1)
  vi.advanceTimersByTime(2_000)
  expect(spoken).toBe(3)
  pulse.remove(stream)
  vi.advanceTimersByTime(2_000)
  expect(spoken).toBe(3)
  pulse.stop()
})

test('a stop is sent to all processes, including those that have just begun, and is known to later ones', () => {
  const pulse = createPulse(() => 0)
  const told: string[] = []
  const stream = (name: string): PulsedStream => ({ onPulse: () => undefined, onStop: () => told.push(name) })
  const [first, second] = [stream('first'), stream('second')]
  for (const one of [first, second]) pulse.add(one)
  pulse.soon(second)
  expect(pulse.stopping).toBe(false)
  pulse.stopAll()
  expect([told.toSorted(), pulse.stopping]).toEqual([['first', 'second'], true])
  pulse.stop()
})

test('a stream that has left is silent, also when it leaves out of another one’s turn', () => {
  const pulse = createPulse(() => 0)
  const heard: string[] = []
  const second: PulsedStream = { onPulse: () => heard.push('second') }
  const first: PulsedStream = {
    onPulse: () => {
      heard.push('first')
      pulse.remove(second)
      pulse.remove(first)
    },
  }
  pulse.add(first)
  pulse.add(second)
  pulse.beat(0)
  pulse.beat(1_000)
  expect(heard).toEqual(['first'])
  pulse.stop()
})
