import { expect, test } from 'vitest'
import { isJsonObject, type JsonObject } from '../../core/json.ts'
import type { TransportFailure, UpstreamCall, UpstreamSink } from '../../upstream/upstream.ts'
import { openAskedAgain } from './asked-again.ts'

const ORDER: UpstreamCall = {
  request: { method: 'POST', url: 'https://v/order', headers: { 'x-async': '1' } },
  auth: { kind: 'bearer' },
  credential: { secret: undefined, fields: {} },
  body: [Buffer.from('{}')],
  bodyLength: 2,
  timeouts: { connectMs: 1, firstByteMs: 1, idleMs: 1 },
}

/** A vendor that is answered for by hand, and time that is. */
function stand() {
  const asked: { readonly call: UpstreamCall; readonly sink: UpstreamSink }[] = []
  const waits: (() => void)[] = []
  const heard: unknown[] = []
  let aborted = 0
  let cancelled = 0
  const exchange = openAskedAgain(
    {
      upstream: {
        open: (call, sink) => {
          asked.push({ call, sink })
          const abort = () => {
            aborted += 1
            sink.fail(failure('aborted'))
          }
          return { sent: true, pause: () => undefined, resume: () => undefined, abort }
        },
      },
      timers: {
        set: (callback) => {
          waits.push(callback)
          return { cancel: () => (cancelled += 1) }
        },
      },
      askAgain: ({ task }: JsonObject) =>
        isJsonObject(task) && typeof task['id'] === 'string'
          ? { url: `https://v/tasks/${task['id']}`, headers: {} }
          : undefined,
    },
    ORDER,
    {
      head: ({ status }) => heard.push(status),
      data: (chunk) => heard.push(Buffer.from(chunk).toString()),
      end: () => heard.push('end'),
      fail: ({ kind }) => heard.push(kind),
    },
  )
  const answer = (status: number, body: unknown) => {
    const sink = asked.at(-1)?.sink
    sink?.head({ status, headers: {} })
    sink?.data(Buffer.from(JSON.stringify(body)))
    sink?.end()
  }
  return {
    exchange,
    heard,
    answer,
    fail: (kind: TransportFailure['kind']) => asked.at(-1)?.sink.fail(failure(kind)),
    wait: () => waits.shift()?.(),
    asked: () => asked.map(({ call }) => `${call.request.method} ${call.request.url}`),
    counts: () => ({ aborted, cancelled }),
  }
}

function failure(kind: TransportFailure['kind']): TransportFailure {
  return { kind, sent: true, detail: '' }
}

const TASK = { task: { id: '7' } }
const ASKED_ONCE = ['POST https://v/order', 'GET https://v/tasks/7']

test('a task is asked for until it has ended, and its end is the answer', () => {
  const { answer, wait, asked, heard } = stand()
  answer(200, TASK)
  wait()
  answer(200, TASK)
  wait()
  expect(heard).toEqual([])
  answer(200, { done: true })
  expect(heard).toEqual([200, '{"done":true}', 'end'])
  expect(asked()).toEqual([...ASKED_ONCE, 'GET https://v/tasks/7'])
})

test.each<[string, (to: ReturnType<typeof stand>) => void]>([
  ['a broken connection', ({ fail }) => fail('reset')],
  ['a vendor that is busy', ({ answer }) => answer(503, {})],
  ['one that is asked too often', ({ answer }) => answer(429, {})],
])('%s leads to another question, never to another task', (_what, happens) => {
  const standing = stand()
  standing.answer(200, TASK)
  standing.wait()
  happens(standing)
  expect(standing.heard).toEqual([])
  standing.wait()
  standing.answer(200, { done: true })
  expect(standing.heard).toEqual([200, '{"done":true}', 'end'])
  expect(standing.asked()).toEqual([...ASKED_ONCE, 'GET https://v/tasks/7'])
})

test.each<[string, (to: ReturnType<typeof stand>) => void, readonly unknown[]]>([
  ['is refused', ({ answer }) => answer(503, { code: 'busy' }), [503, '{"code":"busy"}', 'end']],
  ['does not arrive', ({ fail }) => fail('connect'), ['connect']],
  ['is answered at once', ({ answer }) => answer(200, { done: true }), [200, '{"done":true}', 'end']],
])('an order that %s is told as it is', (_what, happens, heard) => {
  const standing = stand()
  happens(standing)
  expect(standing.heard).toEqual(heard)
  expect(standing.asked()).toHaveLength(1)
})

test('a task that nobody knows any more is told', () => {
  const { answer, wait, heard } = stand()
  answer(200, TASK)
  wait()
  answer(404, {})
  expect(heard).toEqual([404, '{}', 'end'])
})

test('it is given up while it is asked, and between two questions', () => {
  const asking = stand()
  asking.answer(200, TASK)
  asking.wait()
  asking.exchange.abort()
  expect([asking.heard, asking.counts()]).toEqual([['aborted'], { aborted: 1, cancelled: 0 }])
  const waiting = stand()
  waiting.answer(200, TASK)
  waiting.exchange.abort()
  waiting.exchange.abort()
  expect([waiting.heard, waiting.counts()]).toEqual([['aborted'], { aborted: 0, cancelled: 1 }])
  expect(waiting.exchange.sent).toBe(true)
})
