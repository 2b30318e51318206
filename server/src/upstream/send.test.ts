import { afterEach, describe, expect, test } from 'vitest'
import { Secret } from '../core/secret.ts'
import { ordinaryWay, undiciWay, type Way } from './connect/connections.ts'
import { noProxies } from './connect/find-proxy.ts'
import { ReadTurns } from './read-turns.ts'
import { openUpstream } from './send.ts'
import { CollectingSink, type Outcome } from './testing/collecting-sink.ts'
import { ManualTimers } from './testing/manual-timers.ts'
import {
  chunked,
  plainAnswer,
  type ReceivedRequest,
  type Script,
  type ScriptedServer,
  STREAM_HEAD,
  scriptedServer,
} from './testing/scripted-server.ts'
import type { Upstream, UpstreamCall, UpstreamExchange } from './upstream.ts'

/** Every promise is kept over either transport: undici carries what goes by a proxy. */
const WAYS: readonly [string, () => Way][] = [
  ['over connections of our own', () => ordinaryWay(noProxies)],
  ['over undici', () => undiciWay(undefined)],
]

describe.each(WAYS)('%s', (_name, makeWay) => {
  const open: (Upstream | ScriptedServer)[] = []

  afterEach(async () => {
    for (const thing of open.splice(0).toReversed()) await thing.close()
  })

  async function serve(script: Script): Promise<ScriptedServer> {
    const server = await scriptedServer(script)
    open.unshift(server)
    return server
  }

  function upstream(timers = new ManualTimers(), turns?: ReadTurns): Upstream {
    const made = openUpstream({ timers, way: makeWay(), ...(turns && { turns }) })
    open.push(made)
    return made
  }

  function call(server: ScriptedServer, changes: Partial<UpstreamCall> = {}): UpstreamCall {
    const body = [Buffer.from('{"model":"m"}')]
    return {
      request: {
        method: 'POST',
        url: `${server.url}/v1/chat/completions?a=1`,
        headers: { 'x-fixed': 'yes' },
      },
      auth: { kind: 'bearer' },
      credential: { secret: new Secret('sk-upstream'), fields: {} },
      body,
      bodyLength: (changes.body ?? body).reduce((sum, chunk) => sum + chunk.length, 0),
      timeouts: { connectMs: 5_000, firstByteMs: 60_000, idleMs: 100_000 },
      ...changes,
    }
  }

  async function answerOf(
    script: Script,
    changes: Partial<UpstreamCall> = {},
  ): Promise<[CollectingSink, Outcome]> {
    const server = await serve(script)
    const sink = new CollectingSink()
    upstream().open(call(server, changes), sink)
    return [sink, await sink.outcome]
  }

  function failed(outcome: Outcome): Extract<Outcome, { kind: 'fail' }>['failure'] {
    if (outcome.kind !== 'fail') throw new Error('the exchange ended well')
    return outcome.failure
  }

  describe('a call', () => {
    test('carries path, query, fixed headers, credential, length and the body, and asks for no compression', async () => {
      const received: ReceivedRequest[] = []
      const [sink, outcome] = await answerOf(({ socket, onRequest }) =>
        onRequest((request) => {
          received.push(request)
          socket.write(plainAnswer('{"ok":true}', 'x-request-id: r1\r\nset-cookie: a\r\nset-cookie: b\r\n'))
        }),
      )
      expect(outcome).toEqual({ kind: 'end' })
      expect(sink.text).toBe('{"ok":true}')
      expect(sink.heads[0]).toMatchObject({
        status: 200,
        headers: { 'x-request-id': 'r1', 'set-cookie': ['a', 'b'] },
      })
      const head = received[0]?.head ?? ''
      expect(head.split('\r\n')[0]).toBe('POST /v1/chat/completions?a=1 HTTP/1.1')
      for (const line of [
        'authorization: Bearer sk-upstream',
        'x-fixed: yes',
        'accept-encoding: identity',
        'content-length: 13',
        'content-type: application/json',
      ]) {
        expect(head.split('\r\n')).toContain(line)
      }
      expect(received[0]?.body.toString()).toBe('{"model":"m"}')
    })

    test('gives nothing to the sink before open has returned', async () => {
      const server = await serve(() => undefined)
      const sink = new CollectingSink()
      upstream().open(
        { ...call(server), request: { method: 'POST', url: 'ftp://nowhere/', headers: {} } },
        sink,
      )
      expect(sink.over).toBe(false)
      expect(failed(await sink.outcome)).toMatchObject({ kind: 'connect', sent: false })
    })

    test('reuses one connection for calls that follow each other', async () => {
      const server = await serve(({ socket, onRequest }) => onRequest(() => socket.write(plainAnswer('{}'))))
      const room = upstream()
      for (let index = 0; index < 5; index += 1) {
        const sink = new CollectingSink()
        room.open(call(server), sink)
        await sink.outcome
      }
      expect(server.connections()).toBe(1)
    })

    test('does not reuse a connection whose answer was aborted', async () => {
      const server = await serve(({ socket, onRequest }) =>
        onRequest(() => socket.write(Buffer.concat([Buffer.from(STREAM_HEAD), chunked('data: 1\n\n')]))),
      )
      const room = upstream()
      for (let index = 0; index < 2; index += 1) {
        const sink = new CollectingSink()
        const exchange = room.open(call(server), sink)
        sink.onData = () => exchange.abort()
        expect(failed(await sink.outcome).kind).toBe('aborted')
      }
      expect(server.connections()).toBe(2)
    })

    test('writes a body given in many chunks in order, byte for byte', async () => {
      const chunks = Array.from({ length: 300 }, (_, index) => Buffer.alloc(1000 + index, index % 251))
      const received: ReceivedRequest[] = []
      const [, outcome] = await answerOf(
        ({ socket, onRequest }) =>
          onRequest((request) => {
            received.push(request)
            socket.write(plainAnswer('{}'))
          }),
        {
          body: [Buffer.alloc(0), ...chunks],
          bodyLength: chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0),
        },
      )
      expect(outcome).toEqual({ kind: 'end' })
      expect(received[0]?.body.equals(Buffer.concat(chunks))).toBe(true)
    })
  })

  describe('what can go wrong', () => {
    const nothing = (): void => undefined

    test('a port without a listener is a connect failure, nothing was sent', async () => {
      const server = await scriptedServer(nothing)
      await server.close()
      const sink = new CollectingSink()
      upstream().open(call(server), sink)
      expect(failed(await sink.outcome)).toMatchObject({ kind: 'connect', sent: false })
    })

    const broken: readonly { what: string; script: Script; kind: string; heads: number }[] = [
      {
        what: 'a connection closed without an answer',
        script: ({ socket, onRequest }) => onRequest(() => socket.end()),
        kind: 'reset',
        heads: 0,
      },
      {
        what: 'a connection reset after the request',
        script: ({ socket, onRequest }) => onRequest(() => socket.resetAndDestroy()),
        kind: 'reset',
        heads: 0,
      },
      {
        what: 'a chunked answer cut in the middle',
        script: ({ socket, onRequest }) =>
          onRequest(() => socket.end(Buffer.concat([Buffer.from(STREAM_HEAD), chunked('data: 1\n\n')]))),
        kind: 'reset',
        heads: 1,
      },
      {
        what: 'an answer shorter than its content-length',
        script: ({ socket, onRequest }) =>
          onRequest(() => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"half":')),
        kind: 'reset',
        heads: 1,
      },
      {
        what: 'bytes that are no HTTP',
        script: ({ socket, onRequest }) => onRequest(() => socket.write('220 smtp.example.com ESMTP\r\n')),
        kind: 'protocol',
        heads: 0,
      },
      {
        what: 'a chunk size that is no number',
        script: ({ socket, onRequest }) => onRequest(() => socket.write(`${STREAM_HEAD}zz\r\n`)),
        kind: 'protocol',
        heads: 1,
      },
      {
        what: 'a head larger than 64 KiB',
        script: ({ socket, onRequest }) =>
          onRequest(() => socket.write(plainAnswer('{}', `x-large: ${'a'.repeat(70_000)}\r\n`))),
        kind: 'protocol',
        heads: 0,
      },
      {
        what: 'an upgrade nobody asked for',
        script: ({ socket, onRequest }) =>
          onRequest(() =>
            socket.write(
              'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n',
            ),
          ),
        kind: 'reset',
        heads: 0,
      },
    ]

    test.each(broken)('$what is told as $kind, once', async ({ script, kind, heads }) => {
      const [sink, outcome] = await answerOf(script)
      expect(failed(outcome)).toMatchObject({ kind, sent: true })
      expect(sink.heads).toHaveLength(heads)
    })

    test('a head of 60 KiB is taken', async () => {
      const [sink, outcome] = await answerOf(({ socket, onRequest }) =>
        onRequest(() => socket.write(plainAnswer('{}', `x-large: ${'a'.repeat(60_000)}\r\n`))),
      )
      expect(outcome.kind).toBe('end')
      expect(sink.heads[0]?.headers['x-large']).toHaveLength(60_000)
    })

    test('an informational head before the real one is passed over', async () => {
      const [sink] = await answerOf(({ socket, onRequest }) =>
        onRequest(() =>
          socket.write(`HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n${plainAnswer('{"a":1}')}`),
        ),
      )
      expect(sink.heads.map((head) => head.status)).toEqual([200])
      expect(sink.text).toBe('{"a":1}')
    })

    test('an answer that comes before the body was sent is taken, and its connection not used again', async () => {
      const server = await serve(({ socket }) => {
        socket.once('data', () =>
          socket.write(plainAnswer('{"error":"too large"}').replace('200 OK', '413 Too Large')),
        )
      })
      const room = upstream()
      const body = Array.from({ length: 400 }, () => Buffer.alloc(65_536))
      const sink = new CollectingSink()
      room.open(call(server, { body, bodyLength: 400 * 65_536 }), sink)
      expect(await sink.outcome).toEqual({ kind: 'end' })
      expect(sink.heads[0]?.status).toBe(413)
      const second = new CollectingSink()
      room.open(call(server), second)
      await second.outcome
      expect(second.heads[0]?.status).toBe(413)
      expect(server.connections()).toBe(2)
    })

    test('a header value no HTTP head may hold is refused before anything is sent, without showing it', async () => {
      const secret = new Secret('sk-line\nbreak')
      const [, outcome] = await answerOf(nothing, { credential: { secret, fields: {} } })
      expect(failed(outcome)).toMatchObject({ kind: 'protocol', sent: false })
      expect(failed(outcome).detail).not.toContain('sk-line')
    })

    test('an idle connection the upstream closed is replaced, not used', async () => {
      let closed: () => void = nothing
      const gone = new Promise<void>((resolve) => {
        closed = resolve
      })
      const server = await serve(({ socket, onRequest }) => {
        onRequest(() => socket.write(plainAnswer('{}'), () => socket.end()))
        socket.on('close', closed)
      })
      const room = upstream()
      for (let index = 0; index < 2; index += 1) {
        const sink = new CollectingSink()
        room.open(call(server), sink)
        expect(await sink.outcome).toEqual({ kind: 'end' })
        await gone
      }
      expect(server.connections()).toBe(2)
    })
  })

  describe('connections that fell idle together', () => {
    /** Answers the first request of a connection; `later` meets the ones after it. */
    async function fourIdle(later: 'reset' | 'answer'): Promise<[ScriptedServer, Upstream]> {
      const first: (() => void)[] = []
      const server = await serve(({ socket, onRequest }) => {
        const answer = (): void => void socket.write(plainAnswer('{}'))
        let fresh = true
        onRequest(() => {
          if (!fresh || server.connections() > 4)
            return later === 'reset' && !fresh ? socket.resetAndDestroy() : answer()
          fresh = false
          first.push(answer)
          if (first.length === 4) for (const one of first) one()
        })
      })
      const room = upstream()
      const sinks = [1, 2, 3, 4].map(() => new CollectingSink())
      for (const sink of sinks) room.open(call(server), sink)
      for (const sink of sinks) expect(await sink.outcome).toEqual({ kind: 'end' })
      expect(server.connections()).toBe(4)
      return [server, room]
    }

    test('when one turns out closed by the upstream, the next try goes over a new one', async () => {
      const [server, room] = await fourIdle('reset')
      const [stale, again] = [new CollectingSink(), new CollectingSink()]
      room.open(call(server), stale)
      expect(failed(await stale.outcome)).toMatchObject({ kind: 'reset', sent: true })
      room.open(call(server), again)
      expect(await again.outcome).toEqual({ kind: 'end' })
      expect(server.connections()).toBe(5)
    })

    test('one that answers, and one that is given up, leave the others as they are', async () => {
      const [server, room] = await fourIdle('answer')
      const [given, after] = [new CollectingSink(), new CollectingSink()]
      room.open(call(server), given).abort()
      expect(failed(await given.outcome).kind).toBe('aborted')
      room.open(call(server), after)
      expect(await after.outcome).toEqual({ kind: 'end' })
      expect(server.connections()).toBe(4)
    })
  })

  describe('abort', () => {
    test('calls fail before it returns, and nothing after', async () => {
      const server = await serve(({ socket, onRequest }) =>
        onRequest(() => socket.write(Buffer.concat([Buffer.from(STREAM_HEAD), chunked('data: 1\n\n')]))),
      )
      const sink = new CollectingSink()
      const exchange = upstream().open(call(server), sink)
      await new Promise<void>((resolve) => {
        sink.onData = () => resolve()
      })
      exchange.abort()
      expect(sink.over).toBe(true)
      expect(failed(await sink.outcome)).toEqual({ kind: 'aborted', sent: true, detail: expect.any(String) })
      exchange.abort()
      exchange.pause()
      exchange.resume()
    })

    test('before the connection is established, nothing is sent', async () => {
      const server = await serve(() => undefined)
      const sink = new CollectingSink()
      upstream().open(call(server), sink).abort()
      expect(failed(await sink.outcome)).toMatchObject({ kind: 'aborted', sent: false })
    })

    test('after the end changes nothing', async () => {
      const server = await serve(({ socket, onRequest }) => onRequest(() => socket.write(plainAnswer('{}'))))
      const sink = new CollectingSink()
      const exchange = upstream().open(call(server), sink)
      await sink.outcome
      exchange.abort()
      expect(await sink.outcome).toEqual({ kind: 'end' })
    })

    test('the upstream sees the connection close', async () => {
      let closed: () => void = () => undefined
      const gone = new Promise<void>((resolve) => {
        closed = resolve
      })
      const server = await serve(({ socket, onRequest }) => {
        socket.on('close', closed)
        onRequest(() => socket.write(Buffer.concat([Buffer.from(STREAM_HEAD), chunked('data: 1\n\n')])))
      })
      const sink = new CollectingSink()
      const exchange = upstream().open(call(server), sink)
      sink.onData = () => exchange.abort()
      await gone
      expect(sink.over).toBe(true)
    })

    test('by signal, also one that was given already aborted', async () => {
      const server = await serve(() => undefined)
      const controller = new AbortController()
      const [running, late] = [new CollectingSink(), new CollectingSink()]
      const room = upstream()
      room.open(call(server, { signal: controller.signal }), running)
      controller.abort()
      expect(failed(await running.outcome).kind).toBe('aborted')
      room.open(call(server, { signal: controller.signal }), late)
      expect(late.over).toBe(false)
      expect(failed(await late.outcome)).toMatchObject({ kind: 'aborted', sent: false })
    })
  })

  describe('time', () => {
    async function arrived(
      server: (resolve: () => void) => Script,
      timers: ManualTimers,
    ): Promise<CollectingSink> {
      let resolve: () => void = () => undefined
      const reached = new Promise<void>((given) => {
        resolve = given
      })
      const scripted = await serve(server(resolve))
      const sink = new CollectingSink()
      upstream(timers).open(call(scripted), sink)
      await reached
      return sink
    }

    test('no byte of an answer within first_byte_ms', async () => {
      const timers = new ManualTimers()
      const sink = await arrived(
        (resolve) =>
          ({ onRequest }) =>
            onRequest(resolve),
        timers,
      )
      timers.advance(59_999)
      expect(sink.over).toBe(false)
      timers.advance(1)
      expect(failed(await sink.outcome)).toMatchObject({ kind: 'first-byte-timeout', sent: true })
      expect(timers.pending).toBe(0)
    })

    test('a head alone does not stop the wait for the first byte', async () => {
      const timers = new ManualTimers()
      const server = await serve(({ socket, onRequest }) => onRequest(() => socket.write(STREAM_HEAD)))
      const sink = new CollectingSink()
      upstream(timers).open(call(server), sink)
      await new Promise<void>((resolve) => {
        sink.onHead = () => resolve()
      })
      timers.advance(60_000)
      expect(failed(await sink.outcome).kind).toBe('first-byte-timeout')
    })

    test('silence of idle_ms inside an answer, counted from the last byte', async () => {
      const timers = new ManualTimers()
      const server = await serve(({ socket, onRequest }) => {
        onRequest(() => socket.write(Buffer.concat([Buffer.from(STREAM_HEAD), chunked('data: 1\n\n')])))
      })
      const sink = new CollectingSink()
      upstream(timers).open(call(server), sink)
      await new Promise<void>((resolve) => {
        sink.onData = () => resolve()
      })
      timers.advance(99_999)
      expect(sink.over).toBe(false)
      timers.advance(1)
      expect(failed(await sink.outcome)).toMatchObject({ kind: 'idle-timeout', sent: true })
    })

    test('a stream we paused never times out, and is given its full time again when resumed', async () => {
      const timers = new ManualTimers()
      const server = await serve(({ socket, onRequest }) => {
        onRequest(() => socket.write(Buffer.concat([Buffer.from(STREAM_HEAD), chunked('data: 1\n\n')])))
      })
      const sink = new CollectingSink()
      const exchange = upstream(timers).open(call(server), sink)
      await new Promise<void>((resolve) => {
        sink.onData = () => resolve()
      })
      exchange.pause()
      timers.advance(1_000_000)
      expect(sink.over).toBe(false)
      exchange.resume()
      timers.advance(99_999)
      expect(sink.over).toBe(false)
      timers.advance(100_000)
      expect(failed(await sink.outcome).kind).toBe('idle-timeout')
    })

    describe('one that has read its share', () => {
      const MIB = 1_048_576

      /** Until a turn has passed in which nothing came. */
      async function quiet(sink: CollectingSink): Promise<number> {
        for (let before = -1; before !== sink.length; ) {
          before = sink.length
          for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate)
        }
        return sink.length
      }

      /** An upstream that sends 8 MiB, of which a share has been read; the turn ends when the test says so. */
      async function shared(): Promise<{
        readonly timers: ManualTimers
        readonly sink: CollectingSink
        readonly exchange: UpstreamExchange
        readonly turns: ReadTurns
        readonly endTurn: () => void
      }> {
        const timers = new ManualTimers()
        const ends: (() => void)[] = []
        const server = await serve(({ socket, onRequest }) =>
          onRequest(() => socket.write(plainAnswer('x'.repeat(8 * MIB)))),
        )
        const sink = new CollectingSink()
        const turns = new ReadTurns((go) => ends.push(go))
        const exchange = upstream(timers, turns).open(call(server), sink)
        await expect.poll(() => ends.length).toBe(1)
        return { timers, sink, exchange, turns, endTurn: () => ends.splice(0).forEach((go) => go()) }
      }

      test('waits for the next turn, however long, and its wait is not the silence of the upstream', async () => {
        const { timers, sink, turns, endTurn } = await shared()
        expect(turns.size).toBe(1)
        const first = await quiet(sink)
        expect(first).toBeLessThan(MIB / 2)
        timers.advance(1_000_000)
        expect([sink.over, await quiet(sink)]).toEqual([false, first])
        endTurn()
        await expect.poll(() => sink.length).toBeGreaterThan(first)
        expect(await quiet(sink)).toBeLessThan(MIB)
        const goOn = setInterval(endTurn)
        expect(await sink.outcome).toEqual({ kind: 'end' })
        clearInterval(goOn)
        expect(turns.size).toBe(0)
        expect(sink.length).toBe(8 * MIB)
      })

      test('and was paused meanwhile is not read in the next turn, but when it is resumed', async () => {
        const { sink, exchange, turns, endTurn } = await shared()
        const first = await quiet(sink)
        exchange.pause()
        expect(turns.size).toBe(0)
        endTurn()
        expect(await quiet(sink)).toBe(first)
        exchange.resume()
        await expect.poll(() => sink.length).toBeGreaterThan(first)
        const second = await quiet(sink)
        expect(second).toBeLessThan(MIB)
        endTurn()
        await expect.poll(() => sink.length).toBeGreaterThan(second)
        exchange.abort()
      })

      test('and was aborted meanwhile is not read again', async () => {
        const { sink, exchange, turns, endTurn } = await shared()
        exchange.abort()
        expect(turns.size).toBe(0)
        endTurn()
        expect(failed(await sink.outcome)).toMatchObject({ kind: 'aborted' })
      })
    })

    /** An answer of one piece every ten seconds; resolves to how many seconds it was let go on, 200 at most. */
    async function lasts(
      bytes: number,
      { minBytesPerSecond = 10, keepAlive = false, pausedAt }: Trickle,
    ): Promise<readonly [number, string]> {
      const timers = new ManualTimers()
      let write: (text: string) => void = () => undefined
      const server = await serve(({ socket, onRequest }) => {
        onRequest(() => socket.write(Buffer.concat([Buffer.from(STREAM_HEAD), chunked('data: 1\n\n')])))
        write = (text) => socket.write(chunked(text))
      })
      const sink = new WatchedSink()
      const came = (): Promise<void> =>
        new Promise((resolve) => {
          sink.onData = () => resolve()
        })
      const first = came()
      const exchange = upstream(timers).open(call(server, { minBytesPerSecond }), sink)
      await first
      for (let seconds = 10; seconds <= 200; seconds += 10) {
        if (seconds === pausedAt) {
          exchange.pause()
          timers.advance(500_000)
          exchange.resume()
        }
        timers.advance(10_000)
        if (sink.over) return [seconds, failed(await sink.outcome).detail]
        const next = came()
        write('x'.repeat(bytes))
        if (keepAlive) sink.idle += bytes
        await next
      }
      exchange.abort()
      return [200, 'goes on']
    }

    class WatchedSink extends CollectingSink {
      idle = 0

      keepAliveBytes(): number {
        return this.idle
      }
    }

    interface Trickle {
      readonly minBytesPerSecond?: number
      readonly keepAlive?: boolean
      readonly pausedAt?: number
    }

    const TRICKLES: readonly [string, number, Trickle, readonly [number, string]][] = [
      ['twenty bytes a second are enough', 200, {}, [200, 'goes on']],
      [
        'one byte a second is a stall, once it has been so for idle_ms',
        10,
        {},
        [100, 'the answer arrived too slowly'],
      ],
      [
        'two bytes a second are enough where the chain says so',
        20,
        { minBytesPerSecond: 1 },
        [200, 'goes on'],
      ],
      ['any byte is enough where the chain asks for no rate', 1, { minBytesPerSecond: 0 }, [200, 'goes on']],
      [
        'keep-alives, however many, are a stall after idle_ms',
        5_000,
        { keepAlive: true },
        [100, 'the answer arrived too slowly'],
      ],
      [
        'a client that stops reading does not make its upstream slow: the rate is measured anew',
        10,
        { pausedAt: 90 },
        [180, 'the answer arrived too slowly'],
      ],
    ]
    test.each(TRICKLES)('%s', async (_what, bytes, trickle, expected) => {
      expect(await lasts(bytes, trickle)).toEqual(expected)
    })

    test('a timer that comes late, because this process stood still, lets what arrived be read first', async () => {
      const timers = new ManualTimers()
      const sink = await arrived(
        (resolve) =>
          ({ onRequest }) =>
            onRequest(resolve),
        timers,
      )
      // The timer of the connect phase, due after 5 s, comes 295 s late: those do not count.
      timers.standStill(300_000)
      timers.advance(54_999)
      expect(sink.over).toBe(false)
      timers.advance(1)
      expect(failed(await sink.outcome).kind).toBe('first-byte-timeout')
    })

    test('an exchange that ended leaves no timer behind', async () => {
      const timers = new ManualTimers()
      const server = await serve(({ socket, onRequest }) => onRequest(() => socket.write(plainAnswer('{}'))))
      const sink = new CollectingSink()
      upstream(timers).open(call(server), sink)
      await sink.outcome
      expect(timers.pending).toBe(0)
    })
  })

  describe('back-pressure', () => {
    test('a paused exchange stops reading: the upstream cannot write on', async () => {
      const piece = chunked(Buffer.alloc(65_536, 'x'))
      const total = 200
      let written = 0
      let stalled: () => void = () => undefined
      const full = new Promise<void>((resolve) => {
        stalled = resolve
      })
      const server = await serve(({ socket, onRequest }) => {
        const pump = (): void => {
          while (written < total) {
            written += 1
            if (!socket.write(piece)) {
              socket.once('drain', pump)
              return
            }
          }
          socket.end('0\r\n\r\n')
        }
        onRequest(() => {
          socket.write(STREAM_HEAD)
          pump()
          // Nothing drains while the other side does not read: once the buffers are full the count stands still.
          let before = -1
          let still = 0
          const watch = (): void => {
            still = before === written ? still + 1 : 0
            before = written
            if (still < 200) setImmediate(watch)
            else stalled()
          }
          watch()
        })
      })
      const sink = new CollectingSink()
      const exchange = upstream().open(call(server), sink)
      sink.onHead = () => exchange.pause()
      await full
      expect(sink.length).toBeLessThan(2 * 65_536)
      expect(written).toBeLessThan(total)
      exchange.resume()
      expect(await sink.outcome).toEqual({ kind: 'end' })
      expect(sink.length).toBe(total * 65_536)
    })

    test('an upstream that reads slowly holds the upload back: 100 MiB are never copied', async () => {
      const chunk = Buffer.alloc(1024 * 1024, 'b')
      const body = Array.from({ length: 100 }, () => chunk)
      let received = 0
      const before = process.memoryUsage().arrayBuffers
      let peak = 0
      const server = await serve(({ socket }) => {
        socket.on('data', (bytes: Buffer) => {
          received += bytes.byteLength
          peak = Math.max(peak, process.memoryUsage().arrayBuffers - before)
          if (received >= body.length * chunk.byteLength) socket.write(plainAnswer('{}'))
        })
      })
      const sink = new CollectingSink()
      upstream().open(call(server, { body, bodyLength: body.length * chunk.byteLength }), sink)
      expect(await sink.outcome).toEqual({ kind: 'end' })
      expect(received).toBeGreaterThan(100 * 1024 * 1024)
      expect(peak).toBeLessThan(80 * 1024 * 1024)
    })

    test('pausing and resuming at every chunk loses nothing', async () => {
      const pieces = Array.from({ length: 500 }, (_, index) => `data: ${index}\n\n`)
      const server = await serve(({ socket, onRequest }) =>
        onRequest(() => {
          socket.write(STREAM_HEAD)
          for (const piece of pieces) socket.write(chunked(piece))
          socket.write('0\r\n\r\n')
        }),
      )
      const sink = new CollectingSink()
      const exchange = upstream().open(call(server), sink)
      sink.onData = () => {
        exchange.pause()
        setImmediate(() => exchange.resume())
      }
      expect(await sink.outcome).toEqual({ kind: 'end' })
      expect(sink.text).toBe(pieces.join(''))
    })
  })

  describe('close', () => {
    test('waits for the exchange under way and takes no new one', async () => {
      let answer: () => void = () => undefined
      const server = await serve(({ socket, onRequest }) =>
        onRequest(() => {
          answer = () => socket.write(plainAnswer('{"late":true}'))
          reached()
        }),
      )
      let reached: () => void = () => undefined
      const request = new Promise<void>((resolve) => {
        reached = resolve
      })
      const room = openUpstream({ timers: new ManualTimers(), way: makeWay() })
      const [running, late] = [new CollectingSink(), new CollectingSink()]
      room.open(call(server), running)
      await request
      const closing = room.close()
      room.open(call(server), late)
      expect(failed(await late.outcome)).toMatchObject({ kind: 'connect', sent: false })
      answer()
      expect(await running.outcome).toEqual({ kind: 'end' })
      await closing
    })
  })
})
