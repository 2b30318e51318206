import { describe, expect, test } from 'vitest'
import { isJsonObject } from '../../core/json.ts'
import type { TransportFailure, UpstreamCall, UpstreamSink } from '../../upstream/upstream.ts'
import { openPolledTask } from './polled-task.ts'

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
  const asked: { readonly call: UpstreamCall; readonly sink: UpstreamSink; over: boolean }[] = []
  const waits: { readonly go: () => void; readonly ms: number }[] = []
  const waited: number[] = []
  const heard: unknown[] = []
  let aborted = 0
  let cancelled = 0
  const remote: string[] = []
  let breaks = false
  const open = (call: UpstreamCall, sink: UpstreamSink) => {
    if (breaks) throw new Error('no connection')
    const one = { call, sink, over: false }
    asked.push(one)
    const abort = () => {
      if (one.over) return
      one.over = true
      aborted += 1
      sink.fail(failure('aborted'))
    }
    return { sent: true, pause: () => undefined, resume: () => undefined, abort }
  }
  const exchange = openPolledTask(
    {
      upstream: { open },
      openRemote: (call, sink) => {
        remote.push(call.request.url)
        return open(call, sink)
      },
      timers: {
        set: (go, ms) => {
          waits.push({ go, ms })
          return { cancel: () => (cancelled += 1) }
        },
      },
      pace: 2,
      read: ({ body, order }) => {
        if (body['done'] === true) return 'over'
        if (body['breaks'] === true) throw new Error('planted')
        if (typeof body['at'] === 'string') return { result: body['at'] }
        const { task } = { ...order, ...body }
        const id = isJsonObject(task) ? task['id'] : undefined
        return typeof id === 'string' && body['what'] === undefined
          ? { url: `https://v/tasks/${id}`, headers: {} }
          : 'unclear'
      },
      ends: ({ status }) => status === 422,
    },
    ORDER,
    {
      head: ({ status }) => heard.push(status),
      data: (chunk) => heard.push(Buffer.from(chunk).toString()),
      end: () => heard.push('end'),
      fail: ({ kind }) => heard.push(kind),
      broke: (error) => heard.push(['broke', String(error)]),
    },
  )
  const answer = (status: number, body: unknown) => {
    const one = asked.at(-1)
    one?.sink.head({ status, headers: {} })
    one?.sink.data(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)))
    // Nothing comes after an abort.
    if (one?.over === false) one.sink.end()
  }
  return {
    exchange,
    heard,
    answer,
    fail: (kind: TransportFailure['kind']) => asked.at(-1)?.sink.fail(failure(kind)),
    wait: () => {
      const next = waits.shift()
      if (next !== undefined) waited.push(next.ms)
      next?.go()
    },
    waited,
    asked: () => asked.map(({ call }) => `${call.request.method} ${call.request.url}`),
    counts: () => ({ aborted, cancelled }),
    breakOpening: () => {
      breaks = true
    },
    /** Addresses that the vendor named, and the last call. */
    remote,
    last: () => asked.at(-1)?.call,
  }
}

type Standing = ReturnType<typeof stand>

function failure(kind: TransportFailure['kind']): TransportFailure {
  return { kind, sent: true, detail: '' }
}

const TASK = { task: { id: '7' } }
const ASKED_ONCE = ['POST https://v/order', 'GET https://v/tasks/7']

/** Says nothing of the task. */
const HINDRANCES: readonly (readonly [string, (to: Standing) => void])[] = [
  ['a broken connection', ({ fail }) => fail('reset')],
  ['a vendor that is busy', ({ answer }) => answer(503, {})],
  ['one that is asked too often', ({ answer }) => answer(429, {})],
  ['one that no longer takes the key', ({ answer }) => answer(401, {})],
  ['one that does not know the task', ({ answer }) => answer(404, {})],
  ['a page of a proxy', ({ answer }) => answer(200, '<html>Welcome</html>')],
  ['half a document', ({ answer }) => answer(200, '{"done":tr')],
  ['nothing', ({ answer }) => answer(200, '')],
  ['a list', ({ answer }) => answer(200, [])],
  ['something else', ({ answer }) => answer(200, { what: 'else' })],
  ['more than can be read', ({ answer }) => answer(200, { done: true, filler: 'x'.repeat(4_194_304) })],
]

test('a task is asked for until it has ended, and its end is the answer', () => {
  const { answer, wait, asked, heard, waited, exchange } = stand()
  expect(exchange.isTask).toBe(false)
  answer(200, TASK)
  expect(exchange.isTask).toBe(true)
  for (let at = 0; at < 3; at += 1) {
    wait()
    answer(200, TASK)
  }
  wait()
  expect(heard).toEqual([])
  answer(200, { done: true })
  expect(heard).toEqual([200, '{"done":true}', 'end'])
  expect(asked()).toEqual([...ASKED_ONCE, ...Array.from({ length: 3 }, () => 'GET https://v/tasks/7')])
  expect(waited).toEqual([1_000, 2_000, 4_000, 4_000])
})

test.each(HINDRANCES)('%s leads to another question, never to another task', (_what, happens) => {
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

test.each(HINDRANCES)('%s for a minute ends the questions', (_what, happens) => {
  const standing = stand()
  standing.answer(200, TASK)
  for (let at = 0; at < 30; at += 1) {
    standing.wait()
    happens(standing)
  }
  expect(standing.heard).toEqual(['first-byte-timeout'])
  expect(standing.asked()).toHaveLength(31)
  expect(standing.exchange.isTask).toBe(true)
})

test('a word of the task in between begins the minute anew', () => {
  const standing = stand()
  standing.answer(200, TASK)
  for (let at = 0; at < 90; at += 1) {
    standing.wait()
    if (at % 29 === 0) standing.answer(200, TASK)
    else standing.answer(503, {})
  }
  expect(standing.heard).toEqual([])
})

test('a refusal that is a verdict on the task is told', () => {
  const { answer, wait, heard } = stand()
  answer(200, TASK)
  wait()
  answer(422, { detail: 'no such picture' })
  expect(heard).toEqual([422, '{"detail":"no such picture"}', 'end'])
})

test.each<[string, (to: Standing) => void, readonly unknown[]]>([
  ['is refused', ({ answer }) => answer(503, { code: 'busy' }), [503, '{"code":"busy"}', 'end']],
  ['does not arrive', ({ fail }) => fail('connect'), ['connect']],
  ['is answered at once', ({ answer }) => answer(200, { done: true }), [200, '{"done":true}', 'end']],
  ['is answered by a page', ({ answer }) => answer(200, '<html>'), [200, '<html>', 'end']],
])('an order that %s is told as it is', (_what, happens, heard) => {
  const standing = stand()
  happens(standing)
  expect(standing.heard).toEqual(heard)
  expect(standing.asked()).toHaveLength(1)
  expect(standing.exchange.isTask).toBe(false)
})

test.each<[string, (to: Standing) => void]>([
  ['the order is read', () => undefined],
  [
    'a poll is read',
    ({ answer, wait }) => {
      answer(200, TASK)
      wait()
    },
  ],
])('what breaks while %s ends the answer, and not the process', (_what, begin) => {
  const standing = stand()
  begin(standing)
  standing.answer(200, { breaks: true })
  expect(standing.heard).toEqual([['broke', 'Error: planted']])
})

test('what breaks when it is asked for again ends the answer, and not the process', () => {
  const standing = stand()
  standing.answer(200, TASK)
  standing.breakOpening()
  standing.wait()
  expect(standing.heard).toEqual([['broke', 'Error: no connection']])
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

describe('a task whose result lies elsewhere', () => {
  /** The task is over, and its result is being fetched. */
  const fetching = () => {
    const standing = stand()
    standing.answer(200, TASK)
    standing.wait()
    standing.answer(200, { at: 'https://store/1.json' })
    return standing
  }

  test('is answered by what lies there, which is fetched without the key', () => {
    const { answer, heard, remote, last } = fetching()
    expect(last()).toMatchObject({
      request: { method: 'GET', url: 'https://store/1.json' },
      auth: { kind: 'none' },
      credential: { secret: undefined },
    })
    answer(200, { text: 'x' })
    expect(heard).toEqual([200, '{"text":"x"}', 'end'])
    expect(remote).toEqual(['https://store/1.json'])
  })

  test.each<[string, (to: Standing) => void]>([
    ['cannot be reached', ({ fail }) => fail('connect')],
    ['is not there yet', ({ answer }) => answer(404, '<Error/>')],
    ['has expired', ({ answer }) => answer(403, { code: 'Expired' })],
    ['leads elsewhere', ({ answer }) => answer(302, '')],
    ['is a page', ({ answer }) => answer(200, '<html>')],
    ['is empty', ({ answer }) => answer(200, '')],
  ])('that %s is looked for again, at the address that the task then names', (_what, happens) => {
    const standing = fetching()
    happens(standing)
    standing.wait()
    standing.answer(200, { at: 'https://store/2.json' })
    standing.answer(200, { text: 'x' })
    expect(standing.heard).toEqual([200, '{"text":"x"}', 'end'])
    expect(standing.asked()).toEqual([
      ...ASKED_ONCE,
      'GET https://store/1.json',
      'GET https://v/tasks/7',
      'GET https://store/2.json',
    ])
  })

  test('that never can be had is lost, and not made anew', () => {
    const standing = fetching()
    for (let at = 0; at < 29; at += 1) {
      standing.answer(404, '')
      standing.wait()
      standing.answer(200, { at: 'https://store/1.json' })
    }
    standing.answer(404, '')
    expect(standing.heard).toEqual(['first-byte-timeout'])
    expect(standing.asked().filter((one) => one.startsWith('POST'))).toHaveLength(1)
    expect(standing.exchange.isTask).toBe(true)
  })

  test('is given up while it is fetched', () => {
    const { exchange, heard, counts } = fetching()
    exchange.abort()
    expect([heard, counts()]).toEqual([['aborted'], { aborted: 1, cancelled: 0 }])
  })
})
