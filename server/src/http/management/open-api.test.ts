import type { IncomingMessage, ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import type { Background } from '../../telemetry/background.ts'
import type { AnswerRequest } from './api-context.ts'
import { openLater } from './open-api.ts'

const request = {} as IncomingMessage

/** An API whose reading ends when the test says so, and what was answered, cut off and reported. */
function prepare() {
  const seen: string[] = []
  const reading: { done: () => void; failed: (error: Error) => void }[] = []
  const tracked: Promise<unknown>[] = []
  const background: Background = {
    track: (work) => tracked.push(work.catch((error: Error) => seen.push(`reported: ${error.message}`))),
    drain: () => Promise.resolve(0),
  }
  const answerAll: AnswerRequest = () => seen.push('answered')
  const read = (): Promise<AnswerRequest> =>
    new Promise((resolve, reject) => reading.push({ done: () => resolve(answerAll), failed: reject }))
  const response = { destroy: () => seen.push('cut off') } as unknown as ServerResponse
  const api = openLater(read, background)
  return {
    api,
    seen,
    reading,
    ask: () => api.answer(request, response),
    settled: () => Promise.all(tracked),
  }
}

test('it is read once, when it is first wanted; requests that come meanwhile are answered then', async () => {
  const { api, seen, reading, ask, settled } = prepare()
  expect(reading).toHaveLength(0)
  api.load()
  ask()
  ask()
  expect(reading).toHaveLength(1)
  expect(seen).toEqual([])
  reading[0]?.done()
  await settled()
  expect(seen).toEqual(['answered', 'answered'])
  ask()
  expect(seen).toHaveLength(3)
  expect(reading).toHaveLength(1)
})

test('if it cannot be read, waiting requests are cut off, the cause is reported, and the next request tries again', async () => {
  const { seen, reading, ask, settled } = prepare()
  ask()
  reading[0]?.failed(new Error('too many open files'))
  await settled()
  expect(seen).toEqual(['cut off', 'reported: too many open files'])
  ask()
  reading[1]?.done()
  await settled()
  expect(seen.slice(2)).toEqual(['answered'])
})
