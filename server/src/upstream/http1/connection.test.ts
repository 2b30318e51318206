import { setImmediate as turn } from 'node:timers/promises'
import { createServer as createTlsServer } from 'node:tls'
import { afterEach, expect, test } from 'vitest'
import { cutAnywhere, seededChance } from '../../../test/passthrough/test-kit.ts'
import { Connections, ordinaryWay } from '../connect/connections.ts'
import { noProxies } from '../connect/find-proxy.ts'
import { openOver } from '../send.ts'
import { CERTIFICATE, PRIVATE_KEY } from '../testing/certificate.ts'
import { CollectingSink } from '../testing/collecting-sink.ts'
import { ManualTimers } from '../testing/manual-timers.ts'
import {
  chunked,
  plainAnswer,
  type Script,
  type ScriptedServer,
  STREAM_HEAD,
  scriptedServer,
} from '../testing/scripted-server.ts'
import type { UpstreamCall } from '../upstream.ts'
import { Connection, Turns } from './connection.ts'
import { createDial } from './dial.ts'

const opened: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const thing of opened.splice(0).toReversed()) await thing.close()
})

async function serve(script: Script): Promise<ScriptedServer> {
  const server = await scriptedServer(script)
  opened.push(server)
  return server
}

/** Calls one after the other. */
function caller(
  url: string,
  way = ordinaryWay(noProxies),
  timers = new ManualTimers(),
): (changes?: Partial<UpstreamCall>) => Promise<CollectingSink> {
  const connections = new Connections(way, timers)
  opened.push(connections)
  const open = openOver(connections, timers)
  return async (changes) => {
    const sink = new CollectingSink()
    const call: UpstreamCall = {
      request: { method: 'GET', url, headers: {} },
      auth: { kind: 'none' },
      credential: { secret: undefined, fields: {} },
      body: undefined,
      bodyLength: 0,
      timeouts: { connectMs: 5_000, firstByteMs: 60_000, idleMs: 100_000 },
      ...changes,
    }
    open(call, sink)
    await sink.outcome
    return sink
  }
}

test.each<[string, string]>([
  ['bytes that follow its answer', `${plainAnswer('{}')}HTTP/1.1 200 OK\r\n`],
  ['an answer that says so', plainAnswer('{}', 'connection: close\r\n')],
  ['an answer that says it will soon be closed', plainAnswer('{}', 'keep-alive: timeout=2\r\n')],
  ['an answer of HTTP/1.0', plainAnswer('{}').replace('1.1', '1.0')],
])('a connection is not used again after %s', async (_what, answer) => {
  const server = await serve(({ socket, onRequest }) => onRequest(() => socket.write(answer)))
  const call = caller(server.url)
  for (const _time of [1, 2]) expect((await call()).text).toBe('{}')
  expect(server.connections()).toBe(2)
})

test('what is sent on an idle connection is never the answer to the next call', async () => {
  let attack: () => void = () => undefined
  const server = await serve(({ socket, onRequest }) => {
    const first = server.connections() === 1
    attack = () => socket.write(plainAnswer('"of somebody else"'))
    onRequest(() => socket.write(plainAnswer(first ? '"first"' : '"second"')))
  })
  const call = caller(server.url)
  expect((await call()).text).toBe('"first"')
  attack()
  // It lies in the socket when the next call begins.
  await new Promise(setImmediate)
  expect((await call()).text).toBe('"second"')
  expect(server.connections()).toBe(2)
})

test('a connection that idled for 30 s is not used again, and is closed', async () => {
  const server = await serve(({ socket, onRequest }) => onRequest(() => socket.write(plainAnswer('{}'))))
  const timers = new ManualTimers()
  const call = caller(server.url, undefined, timers)
  await call()
  timers.advance(29_999)
  await call()
  expect(server.connections()).toBe(1)
  timers.advance(35_000)
  expect(timers.pending).toBe(0)
  await call()
  expect(server.connections()).toBe(2)
})

test('an answer without a length ends with its connection', async () => {
  const server = await serve(({ socket, onRequest }) =>
    onRequest(() => socket.end('HTTP/1.1 200 OK\r\n\r\nall there is')),
  )
  const sink = await caller(server.url)()
  expect([sink.text, (await sink.outcome).kind]).toEqual(['all there is', 'end'])
})

test('a request shows nothing of its framing to be set from outside, and is as long as it says', async () => {
  const server = await serve(({ onRequest }) => onRequest(() => expect.unreachable()))
  const call = caller(server.url)
  const url = server.url
  for (const headers of [{ 'transfer-encoding': 'chunked' }, { Connection: 'close' }, { 'a b': 'c' }]) {
    const sink = await call({ request: { method: 'POST', url, headers } })
    expect(await sink.outcome).toMatchObject({ failure: { kind: 'protocol', sent: false } })
  }
  const short = await call({
    request: { method: 'POST', url, headers: {} },
    body: [Buffer.from('ab')],
    bodyLength: 3,
  })
  expect(await short.outcome).toMatchObject({ failure: { kind: 'protocol', sent: false } })
})

test.each<[string, Record<string, string>, string]>([
  ['behind one that lies in it', {}, 'begin'],
  ['behind headers that fill the socket', { trace: 'x'.repeat(100_000) }, ''],
])('a body that lies outside of memory goes out exact, %s', async (_what, headers, begin) => {
  const bytes = Buffer.alloc(200_000, 'stored body ')
  const stored = {
    length: bytes.byteLength,
    subarray: () => expect.unreachable(),
    read: async (start: number, most: number) => {
      // Longer than the socket needs to drain.
      for (let turns = 0; turns < 20; turns += 1) await turn()
      return bytes.subarray(start, start + Math.min(most, 50_000))
    },
  }
  const received: Buffer[] = []
  const server = await serve(({ socket, onRequest }) =>
    onRequest(({ body }) => {
      received.push(body)
      socket.write(plainAnswer('{}'))
    }),
  )
  await caller(server.url)({
    request: { method: 'POST', url: server.url, headers },
    body: [Buffer.from(begin), stored, Buffer.from('end')],
    bodyLength: begin.length + bytes.byteLength + 3,
  })
  expect(received[0]?.equals(Buffer.concat([Buffer.from(begin), bytes, Buffer.from('end')]))).toBe(true)
})

/** Answers at the first byte of a request and reads no more. */
const early: Script = ({ socket }) =>
  socket.once('data', () => {
    socket.pause()
    socket.write(plainAnswer('{}'))
  })
const atItsEnd: Script = ({ socket, onRequest }) => onRequest(() => socket.write(plainAnswer('{}')))
const breaksOff: Script = ({ socket }) => socket.once('data', () => socket.destroy())

test.each<[string, Script, number, number]>([
  ['is said once the answer is over', atItsEnd, 2_000_000, 1],
  ['is said of a small one, too', atItsEnd, 200, 1],
  ['is not said if the answer came before all of it was taken', early, 20_000_000, 0],
  ['is not said if the connection broke', breaksOff, 20_000_000, 0],
])('that nothing reads a body any more %s', async (_when, script, bytes, said) => {
  const server = await serve(script)
  let times = 0
  const sink = await caller(server.url)({
    request: { method: 'POST', url: server.url, headers: {} },
    body: Array.from({ length: 10 }, () => Buffer.alloc(bytes / 10, 'a body ')),
    bodyLength: bytes,
    onBodySent: () => {
      times += 1
    },
  })
  await sink.outcome
  expect(times).toBe(said)
})

test('answers that come at once over many connections keep their own bytes, small and large', async () => {
  const bodyOf = (index: number): Buffer => Buffer.alloc(index % 2 === 0 ? 700_000 : 90, `${index} `)
  const server = await serve(({ socket, onRequest }) =>
    onRequest(({ head }) => {
      const body = bodyOf(Number(/\/(\d+) /.exec(head)?.[1]))
      socket.write(STREAM_HEAD)
      for (let at = 0; at < body.byteLength; at += 40_000)
        socket.write(chunked(body.subarray(at, at + 40_000)))
      socket.write('0\r\n\r\n')
    }),
  )
  const call = caller(server.url)
  const sinks = await Promise.all(
    Array.from({ length: 12 }, (_, index) =>
      call({ request: { method: 'GET', url: `${server.url}/${index}`, headers: {} } }),
    ),
  )
  for (const [index, sink] of sinks.entries()) expect(sink.text === bodyOf(index).toString()).toBe(true)
})

test('the chunks of one read are given together, also those before one that is none', async () => {
  const server = await serve(({ socket, onRequest }) =>
    onRequest(() =>
      socket.write(
        Buffer.concat([Buffer.from(STREAM_HEAD), ...['a', 'b', 'c'].map(chunked), Buffer.from('?')]),
      ),
    ),
  )
  const sink = await caller(server.url)()
  expect(sink.chunks.map(String)).toEqual(['abc'])
  expect(await sink.outcome).toMatchObject({ failure: { kind: 'protocol', sent: true } })
})

test.each([1, 2, 3, 4])('chunks of any size are put together in their order (seed %i)', async (seed) => {
  const chance = seededChance(seed)
  const chunks = Array.from(
    { length: 400 },
    (_, index) => `${index}:${'x'.repeat(chance.below(1 + chance.below(4_000)))}`,
  )
  const answer = Buffer.concat([Buffer.from(STREAM_HEAD), ...chunks.map(chunked), Buffer.from('0\r\n\r\n')])
  const server = await serve(({ socket, onRequest }) =>
    onRequest(() => {
      for (const piece of cutAnywhere(answer, chance)) socket.write(piece)
    }),
  )
  const sink = await caller(server.url)()
  expect(sink.text).toBe(chunks.join(''))
  expect(sink.chunks.length).toBeLessThan(100)
})

async function serveTls(): Promise<number> {
  const server = createTlsServer(
    { key: PRIVATE_KEY, cert: CERTIFICATE, ALPNProtocols: ['http/1.1'] },
    (socket) => {
      socket.on('error', () => socket.destroy())
      const name = socket instanceof Object && 'servername' in socket ? String(socket.servername) : ''
      socket.on('data', () =>
        socket.write(
          plainAnswer(
            JSON.stringify({ name, protocol: socket.alpnProtocol, again: socket.isSessionReused() }),
          ),
        ),
      )
    },
  )
  server.on('tlsClientError', () => undefined)
  const port = await new Promise<number>((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      resolve(typeof address === 'object' && address !== null ? address.port : 0)
    })
  })
  opened.push({
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
      }),
  })
  return port
}

test('TLS asks for the name, takes a certificate that is trusted for it, and resumes its session', async () => {
  const port = await serveTls()
  const origin = `https://localhost:${port}`
  const place = { host: `localhost:${port}`, dial: createDial(origin, CERTIFICATE) }
  const room = { readBuffer: Buffer.alloc(65_536), turns: new Turns() }
  const call = caller(origin, () => (onClose) => new Connection(place, room, onClose))
  const answer = JSON.parse((await call()).text)
  expect(answer).toMatchObject({ name: 'localhost', protocol: 'http/1.1', again: false })
  expect(JSON.parse((await call()).text)).toEqual(answer)
  const next = caller(origin, () => (onClose) => new Connection(place, room, onClose))
  expect(JSON.parse((await next()).text)).toMatchObject({ again: true })
})

test.each<[string, string, string | undefined]>([
  ['that nobody trusts', 'localhost', undefined],
  ['that is for another name', '127.0.0.1', CERTIFICATE],
])('a certificate %s is no connection, and nothing was sent', async (_what, host, roots) => {
  const origin = `https://${host}:${await serveTls()}`
  const place = { host, dial: createDial(origin, roots) }
  const room = { readBuffer: Buffer.alloc(65_536), turns: new Turns() }
  const sink = await caller(origin, () => (onClose) => new Connection(place, room, onClose))()
  expect(await sink.outcome).toMatchObject({ failure: { kind: 'connect', sent: false } })
})
