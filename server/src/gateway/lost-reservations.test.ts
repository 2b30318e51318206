import { expect, test } from 'vitest'
import { exampleAbandon } from '../core/calls/examples.ts'
import { StorageUnavailable } from '../storage/unavailable.ts'
import { createTelemetry } from '../telemetry/telemetry.ts'
import { createLostReservations } from './lost-reservations.ts'

const telemetry = () => createTelemetry({ level: 'silent', now: () => 0, version: 'test' })

/** Time that passes when the test says so. */
function clock() {
  const waiting: (() => void)[] = []
  return {
    wait: () => new Promise<void>((resolve) => waiting.push(resolve)),
    async pass() {
      await settled()
      for (const resolve of waiting.splice(0)) resolve()
      await settled()
    },
  }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

test('each is logged as ended and then given back, as soon as the store answers', async () => {
  const done: string[] = []
  let away = true
  const answer = (verb: string, id: string) => {
    if (away) return Promise.reject(new StorageUnavailable('away'))
    done.push(`${verb} ${id}`)
    return Promise.resolve({ kind: 'done' as const })
  }
  const time = clock()
  const lost = createLostReservations(
    {
      calls: {
        log: ({ log }) => answer('log', log.callId),
        abandon: ({ callId }) => answer('abandon', callId),
      },
    },
    telemetry(),
    time.wait,
  )
  lost.add(exampleAbandon('call_1'))
  lost.add(exampleAbandon('call_2'))
  await time.pass()
  expect(done).toEqual([])
  away = false
  await time.pass()
  expect(done.toSorted()).toEqual(['abandon call_1', 'abandon call_2', 'log call_1', 'log call_2'])
  expect(done.indexOf('log call_1')).toBeLessThan(done.indexOf('abandon call_1'))
})

test('after a stop nothing more is tried', async () => {
  let tries = 0
  const away = () => {
    tries += 1
    return Promise.reject(new StorageUnavailable('away'))
  }
  const time = clock()
  const lost = createLostReservations({ calls: { log: away, abandon: away } }, telemetry(), time.wait)
  lost.add(exampleAbandon('call_1'))
  await settled()
  lost.stop()
  await time.pass()
  lost.add(exampleAbandon('call_2'))
  await time.pass()
  expect(tries).toBe(1)
})
