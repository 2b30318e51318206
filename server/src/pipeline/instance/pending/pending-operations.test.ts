import { expect, test } from 'vitest'
import { exampleAbandon, exampleSettle } from '../../../core/calls/examples.ts'
import { StorageUnavailable } from '../../../storage/failures/unavailable.ts'
import { createTelemetry } from '../../../telemetry/telemetry.ts'
import { decodePending, encodePending } from './pending-codec.ts'
import { createPendingOperations, type EndStore } from './pending-operations.ts'
import type { PendingOperation } from './pending-operation.ts'

const settled = () => new Promise((resolve) => setImmediate(resolve))

/** A store that is away or refuses as the test says, and time that passes when the test says so. */
function scene(bounds: { readonly countMax?: number; readonly bytesMax?: number } = {}) {
  const taken: string[] = []
  const asked: string[] = []
  const state = { away: true, refuses: new Set<string>() }
  const answer = async (verb: string, callId: string) => {
    asked.push(`${verb} ${callId}`)
    await settled()
    if (state.away) throw new StorageUnavailable('away')
    if (state.refuses.has(callId)) throw new Error('a value out of range')
    taken.push(`${verb} ${callId}`)
    return { kind: 'done' as const }
  }
  const calls: EndStore = {
    settle: async ({ callId, amount }) => {
      await answer('settle', callId)
      return { kind: 'settled', first: true, late: false, deducted: amount }
    },
    abandon: ({ callId }) => answer('abandon', callId),
    log: ({ log }) => answer('log', log.callId),
  }
  const waits: { readonly ms: number; readonly end: () => void }[] = []
  const pending = createPendingOperations({
    ...bounds,
    storage: { calls },
    telemetry: createTelemetry({ level: 'silent', now: () => 0, version: 'test' }),
    wait: (ms, signal) =>
      new Promise((resolve) => {
        const end = () => {
          signal.removeEventListener('abort', end)
          resolve()
        }
        waits.push({ ms, end })
        signal.addEventListener('abort', end)
      }),
  })
  const pass = async () => {
    for (const { end } of waits.splice(0)) end()
    for (let turn = 0; turn < 12; turn++) await settled()
  }
  return { pending, state, taken, asked, waits, pass }
}

const settle = (id: string): PendingOperation => exampleSettle(id)
const abandon = (id: string): PendingOperation => exampleAbandon(id)
const lost = (id: string): PendingOperation => ({ ...exampleAbandon(id), kind: 'lost-reservation' })

test('a finished call is billed however often the store was away before', async () => {
  const { pending, state, taken, pass } = scene()
  pending.add(settle('call_1'))
  for (let tries = 0; tries < 500; tries++) await pass()
  expect([taken, pending.count()]).toEqual([[], 1])
  state.away = false
  await pass()
  expect([taken, pending.count(), pending.bytes()]).toEqual([['settle call_1'], 0, 0])
})

test('a store that is away is asked about every five seconds, for all calls together', async () => {
  const { pending, asked, waits, pass } = scene()
  for (let index = 0; index < 1_000; index++) pending.add(settle(`call_${index}`))
  const paused: number[] = []
  for (let tries = 0; tries < 6; tries++) {
    expect(waits).toHaveLength(1)
    paused.push(waits[0]?.ms ?? 0)
    await pass()
  }
  expect(paused).toEqual([1_000, 1_000, 2_000, 4_000, 5_000, 5_000])
  expect(asked).toHaveLength(6 * 200)
})

test('a lost reservation is logged as ended first, so that one still on its way finds its call ended', async () => {
  const { pending, state, taken, pass } = scene()
  state.away = false
  pending.add(lost('call_1'))
  await pass()
  expect(taken).toEqual(['log call_1', 'abandon call_1'])
})

test('one that the store refuses does not delay the others, and is retried later', async () => {
  const { pending, state, taken, waits, pass } = scene()
  state.away = false
  state.refuses.add('call_1')
  for (const id of ['call_1', 'call_2', 'call_3']) pending.add(abandon(id))
  await pass()
  await pass()
  expect(taken).toEqual(['abandon call_2', 'abandon call_3'])
  expect(pending.has('call_1' as never)).toBe(true)
  expect(waits.map(({ ms }) => ms)).toEqual([30_000])
  state.refuses.clear()
  await pass()
  expect(taken).toEqual(['abandon call_2', 'abandon call_3', 'abandon call_1'])
})

test.each([
  ['too many', { countMax: 2 }],
  ['too many bytes', { bytesMax: 2 * encodePending(settle('call_1')).length }],
])('%s that wait: no call may begin, what ends is taken all the same', async (_, bounds) => {
  const { pending, state, pass } = scene(bounds)
  pending.add(settle('call_1'))
  expect(pending.isFull()).toBe(false)
  pending.add(settle('call_2'))
  expect(pending.isFull()).toBe(true)
  pending.add(settle('call_3'))
  expect(pending.count()).toBe(3)
  state.away = false
  await pass()
  expect([pending.count(), pending.isFull()]).toEqual([0, false])
})

test('the same call twice is kept once', async () => {
  const { pending } = scene()
  pending.add(settle('call_1'))
  const bytes = pending.bytes()
  pending.add(settle('call_1'))
  expect([pending.count(), pending.bytes()]).toEqual([1, bytes])
})

test('a stop tries once more and hands out what the store has not taken; then nothing is tried', async () => {
  const { pending, asked, pass } = scene()
  pending.add(settle('call_1'))
  await pass()
  const tries = asked.length
  expect(await pending.stop()).toEqual([settle('call_1')])
  expect(asked).toHaveLength(tries + 1)
  pending.add(abandon('call_2'))
  await pass()
  expect(asked).toHaveLength(tries + 1)
  expect(pending.left()).toEqual([settle('call_1'), abandon('call_2')])
})

test('a stop leaves nothing where the store is there', async () => {
  const { pending, state, taken } = scene()
  for (let index = 0; index < 450; index++) pending.add(settle(`call_${index}`))
  state.away = false
  expect(await pending.stop()).toEqual([])
  expect(taken).toHaveLength(450)
})

test.each([settle('call_1'), abandon('call_2'), lost('call_3')])(
  'a $kind is the same after it was text',
  (operation) => {
    expect(decodePending(encodePending(operation))).toEqual(
      JSON.parse(JSON.stringify(operation, bigints), amounts),
    )
    const once = encodePending(operation)
    const twice = encodePending(decodePending(once))
    expect(JSON.parse(twice)).toStrictEqual(JSON.parse(once))
    expect(encodePending(decodePending(twice))).toBe(twice)
  },
)

const bigints = (_: string, value: unknown) => (typeof value === 'bigint' ? `#${value}` : value)
const amounts = (_: string, value: unknown) =>
  typeof value === 'string' && value.startsWith('#') ? BigInt(value.slice(1)) : value

test.each(['', '{}', '{"kind":"settle"}', '{"kind":"drop","callId":"c","log":{}}', '[1', 'null'])(
  'the text %j is no operation',
  (text) => {
    expect(() => decodePending(text)).toThrow()
  },
)
