/** How long connections of the fast lane are kept, and what a client that does not read holds; time is moved by hand. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { asError } from '../../core/errors/as-error.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { type FakeListener, openFakeListener } from '../../../test/fast-lane/fake-listener.ts'
import type { FakeSocket, Take } from '../../../test/fast-lane/fake-socket.ts'
import { turns } from '../../../test/fast-lane/played-call.ts'
import { type BodyWatch, createBodyWatch, readIncomingBody } from '../calls/incoming.ts'
import { SocketReply } from '../calls/socket-reply.ts'
import type { FastExchange } from './fast-exchange.ts'

const KEEP_ALIVE_MS = 20_000
const HEADER_MS = 8_000
const BODY_IDLE_MS = 4_000
const STALL_MS = 60_000
/** Turns in which everything has happened that waits for no clock. */
const SOON = 6

let listener: FakeListener
let watch: BodyWatch
let serve: (exchange: FastExchange) => void
let lateAt: number | undefined
let leftToNode: FakeSocket[]

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout', 'Date'] })
  watch = createBodyWatch(BODY_IDLE_MS)
  lateAt = undefined
  leftToNode = []
  serve = (exchange) => answer(replyTo(exchange))
  listener = openFakeListener({
    now: Date.now,
    headerTimeoutMs: HEADER_MS,
    keepAliveTimeoutMs: KEEP_ALIVE_MS,
    refuseLate: (socket) => {
      lateAt = Date.now()
      socket.destroy()
    },
    serve: (exchange) => {
      serve(exchange)
      return true
    },
    readByNode: (socket) => {
      leftToNode.push(socket)
      socket.on('data', () => undefined)
    },
  })
})

afterEach(() => {
  listener.lane.closeAll()
  watch.stop()
  vi.useRealTimers()
})

const replyTo = (exchange: FastExchange): SocketReply =>
  new SocketReply(exchange, { requestId: 'request', path: '/', clientStallTimeoutMs: STALL_MS })

function answer(reply: SocketReply): void {
  reply.start({ status: 200, headers: {}, contentLength: 2 })
  reply.write('ok')
  reply.end()
}

const get = 'GET /call HTTP/1.1\r\nHost: a\r\n\r\n'
const post = (length: number): string => `POST /call HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n`

/** A client that connects and sends this. */
async function sending(text: string, take?: Take): Promise<FakeSocket> {
  const socket = listener.open(take)
  if (text !== '') socket.send(text)
  await turns(SOON)
  return socket
}

/** Lets time pass, and everything happen that it brings about. */
async function pass(ms: number): Promise<void> {
  vi.advanceTimersByTime(ms)
  await turns(SOON)
}

/** How many ms pass, at most `mostMs`, until the socket is closed. */
async function timeOf(socket: FakeSocket, mostMs: number): Promise<number> {
  const startedAt = Date.now()
  while (!socket.destroyed && Date.now() - startedAt < mostMs) await pass(100)
  return socket.destroyed ? Date.now() - startedAt : Number.POSITIVE_INFINITY
}

const PHASES = [0, 1, 1_999, 2_000, 3_999, 4_001] as const

describe('a connection that is idle', () => {
  test.each(PHASES)(
    'after an answer, %i ms into the lane’s life: is kept for its time-out, and at most half as long again',
    async (afterMs) => {
      await pass(afterMs)
      const socket = await sending(get)
      expect(socket.text).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*\r\nKeep-Alive: timeout=20\r\n\r\nok$/)
      const tookMs = await timeOf(socket, 10 * KEEP_ALIVE_MS)
      expect(tookMs).toBeGreaterThanOrEqual(KEEP_ALIVE_MS)
      expect(tookMs).toBeLessThanOrEqual(1.5 * KEEP_ALIVE_MS)
      expect(lateAt).toBeUndefined()
    },
  )

  test('is kept as long as requests come in time', async () => {
    const socket = await sending('')
    for (let count = 1; count <= 10; count += 1) {
      socket.send(get)
      await turns(SOON)
      await pass(KEEP_ALIVE_MS - 100)
      expect(socket.text.split('200 OK')).toHaveLength(count + 1)
    }
    expect(socket.destroyed).toBe(false)
  })

  test.each(PHASES)(
    'and was never used, %i ms into the lane’s life: is told so after the time for a head',
    async (afterMs) => {
      await pass(afterMs)
      const socket = await sending('')
      const startedAt = Date.now()
      const tookMs = await timeOf(socket, 10 * HEADER_MS)
      expect(tookMs).toBeGreaterThanOrEqual(HEADER_MS)
      expect(tookMs).toBeLessThanOrEqual(1.5 * HEADER_MS)
      expect(lateAt).toBeGreaterThanOrEqual(startedAt + HEADER_MS)
    },
  )

  test('and was left to Node is closed by Node alone', async () => {
    const socket = await sending('GET / HTTP/1.0\r\n\r\n')
    await pass(100 * KEEP_ALIVE_MS)
    expect([leftToNode.includes(socket), socket.destroyed, lateAt]).toEqual([true, false, undefined])
  })
})

test('a connection that was refused before is not read', async () => {
  const refused = listener.open(undefined, (socket) => socket.end('no'))
  refused.send(get)
  await turns(SOON)
  expect([refused.text, refused.bytesRead]).toEqual(['no', 0])
})

test.each([204, 304])('an answer of status %i has no body, and the next one follows it', async (status) => {
  serve = (exchange) => {
    exchange.start(status, {})
    exchange.write('a body')
    exchange.end()
  }
  const socket = await sending(get + get)
  expect(socket.text).toMatch(/^(?:HTTP\/1\.1 [^]*?\r\n\r\n){2}$/)
  expect(socket.text).not.toMatch(/a body|transfer-encoding/i)
})

test('nothing waits any more for a refused client that vanishes', async () => {
  const before = vi.getTimerCount()
  serve = (exchange) => replyTo(exchange).fail(new GatewayError(41301))
  const socket = await sending(post(100_000_000))
  expect(socket.text).toMatch(/^HTTP\/1\.1 413 /)
  expect(vi.getTimerCount()).toBeGreaterThan(before)
  socket.vanish()
  await turns(SOON)
  expect(vi.getTimerCount()).toBe(before)
})

test('every answer says the time of its second', async () => {
  const socket = await sending(get)
  for (const ms of [999, 1, 500, 3_000]) {
    await pass(ms)
    socket.send(get)
    await turns(SOON)
    const dates = [...socket.text.matchAll(/^Date: (.*)\r$/gm)].map(([, date]) => date)
    expect(dates.at(-1)).toBe(new Date().toUTCString())
  }
})

test('whoever sends many requests at once shares the thread with the others', async () => {
  const served: FastExchange[] = []
  serve = (exchange) => {
    served.push(exchange)
    answer(replyTo(exchange))
  }
  const eager = listener.open()
  const other = listener.open()
  eager.send(get.repeat(100))
  other.send(get.replace('/call', '/other'))
  await turns(120)
  expect(served).toHaveLength(101)
  expect(served.findIndex(({ request }) => request.path === '/other')).toBeLessThan(5)
})

describe('a call', () => {
  test('that takes long is not an idle connection', async () => {
    let reply: SocketReply | undefined
    serve = (exchange) => {
      reply = replyTo(exchange)
    }
    const socket = await sending(get)
    await pass(100 * KEEP_ALIVE_MS)
    expect([socket.destroyed, reply?.gone]).toEqual([false, false])
    if (reply !== undefined) answer(reply)
    expect(socket.text).toMatch(/ok$/)
    // From here on it is idle, not from its last request on.
    expect(await timeOf(socket, 10 * KEEP_ALIVE_MS)).toBeGreaterThanOrEqual(KEEP_ALIVE_MS)
  })

  test.each([
    ['nothing of it comes', ''],
    ['a part of it comes', 'part'],
  ])(
    'whose body does not come is 408 after one to one and a half time-outs, and closed: %s',
    async (_what, part) => {
      serve = readAll
      const socket = await sending(post(1_000) + part)
      const tookMs = await timeOf(socket, 10 * BODY_IDLE_MS)
      expect(socket.text).toMatch(/^HTTP\/1\.1 408 [^]*\r\nconnection: close\r\n/)
      expect(tookMs).toBeGreaterThanOrEqual(BODY_IDLE_MS)
      // And what is left to the client to read the answer.
      expect(tookMs).toBeLessThanOrEqual(1.5 * BODY_IDLE_MS + 2_100)
    },
  )

  test('whose body only drips is 408 when the time for all of it is over', async () => {
    serve = readAll
    const socket = await sending(post(1_000))
    const startedAt = Date.now()
    while (!socket.text.includes('408') && Date.now() - startedAt < 10 * BODY_MS) {
      socket.send('x')
      await pass(1_000)
    }
    const tookMs = Date.now() - startedAt
    expect(tookMs).toBeGreaterThanOrEqual(BODY_MS)
    expect(tookMs).toBeLessThanOrEqual(BODY_MS + BODY_IDLE_MS)
  })

  test('that is refused unread reads on for a moment: the time or the bytes are bounded', async () => {
    serve = (exchange) => replyTo(exchange).fail(new GatewayError(41301))
    const silent = await sending(post(100_000_000))
    expect(await timeOf(silent, STALL_MS)).toBeLessThanOrEqual(2_100)
    const eager = await sending(post(100_000_000))
    expect(eager.text).toMatch(/^HTTP\/1\.1 413 [^]*\r\nconnection: close\r\n/)
    for (let sent = 0; sent < 64 && !eager.destroyed; sent += 1) {
      eager.send(Buffer.alloc(65_536 * 2))
      await turns(SOON)
    }
    expect(eager.destroyed).toBe(true)
    expect(eager.bytesRead).toBeLessThanOrEqual(4_500_000)
  })
})

const BODY_MS = 30_000

/** Reads the body and answers, or refuses. */
function readAll(exchange: FastExchange): void {
  const reply = replyTo(exchange)
  wholeBody(exchange).then(
    () => answer(reply),
    (error: unknown) => {
      const reason = asError(error)
      if (!(reason instanceof GatewayError)) throw reason
      reply.fail(reason)
    },
  )
}

async function wholeBody(exchange: FastExchange): Promise<void> {
  await readIncomingBody(exchange, {
    encoding: undefined,
    onChunk: () => undefined,
    watch,
    totalTimeoutMs: BODY_MS,
  })
}

/** Takes nothing until it is told to. */
function stubborn(): { readonly take: Take; giveIn(): void } {
  const waiting: (() => void)[] = []
  let isStubborn = true
  return {
    take: (taken) => {
      if (isStubborn) waiting.push(taken)
      else taken()
    },
    giveIn: () => {
      isStubborn = false
      for (const taken of waiting.splice(0)) taken()
    },
  }
}

/** A call whose client takes what is written as told. */
async function begin(take: Take): Promise<{ readonly socket: FakeSocket; readonly reply: SocketReply }> {
  const replies: SocketReply[] = []
  serve = (exchange) => replies.push(replyTo(exchange))
  const socket = await sending(get, take)
  const [reply] = replies
  if (reply === undefined) throw new Error('the call was not served')
  return { socket, reply }
}

const LENGTH = 10_000_000
/** As much may wait in the process for a client that reads nothing. */
const WAITING_BYTES_MAX = 65_536

/** Writes, each piece in a turn of its own, until it is told to wait; returns how many bytes that took. */
async function writeUntilFull(reply: SocketReply, size: number): Promise<number> {
  for (let bytes = size; bytes < LENGTH; bytes += size) {
    if (!reply.write(Buffer.alloc(size))) return bytes
    await turns(1)
  }
  return Number.POSITIVE_INFINITY
}

describe('a client that reads nothing', () => {
  const cells = ([LENGTH, undefined] as const).flatMap((contentLength) =>
    [100, 5_000, 20_000, 40_000].map((size) => ({ contentLength, size })),
  )

  test.each(cells)(
    'holds little of an answer, and its writer goes on when it reads: %o',
    async ({ contentLength, size }) => {
      const client = stubborn()
      const { reply } = await begin(client.take)
      const drained = vi.fn()
      reply.start({ status: 200, headers: {}, contentLength })
      reply.onDrain(drained)
      expect(await writeUntilFull(reply, size)).toBeLessThan(WAITING_BYTES_MAX)
      await turns(SOON)
      expect(drained).not.toHaveBeenCalled()
      client.giveIn()
      await turns(SOON)
      expect(drained).toHaveBeenCalledTimes(1)
      expect(reply.write('more')).toBe(true)
    },
  )

  test.each(['keeps its side open', 'ends its side'])(
    'and %s: as little waits for it, and it is disconnected when its time is over',
    async (how) => {
      const { socket, reply } = await begin(stubborn().take)
      reply.start({ status: 200, headers: {}, contentLength: undefined })
      reply.write('begun')
      if (how === 'ends its side') socket.sendEnd()
      await turns(SOON)
      expect(await writeUntilFull(reply, 5_000)).toBeLessThan(WAITING_BYTES_MAX)
      await pass(STALL_MS - 100)
      expect([socket.destroyed, reply.gone]).toEqual([false, false])
      await pass(200)
      expect([socket.destroyed, reply.gone]).toEqual([true, true])
    },
  )
})
