/** Replies over real sockets: what is written arrives as it was written, and a client that does not read holds little. */
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { NodeWire } from './node-wire.ts'
import { SocketReply } from './socket-reply.ts'

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

async function listen(serve: (request: IncomingMessage, response: ServerResponse) => void): Promise<number> {
  const server = createServer(serve)
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

function replyOver(incoming: IncomingMessage, response: ServerResponse): SocketReply {
  const reply = new SocketReply(new NodeWire(incoming, response), {
    requestId: 'request',
    path: '/',
    clientStallTimeoutMs: 60_000,
  })
  reply.start({ status: 200, headers: { 'content-type': 'text/event-stream' }, contentLength: undefined })
  return reply
}

/** Of every kind: bytes and text, short and long, more bytes than characters, nothing at all. */
const CHUNKS = [
  'first',
  Buffer.from('data: 1\n\n'),
  'data: 汉字\n\n',
  '',
  Buffer.alloc(40_000, 'a'),
  'é'.repeat(10_000),
  'long '.repeat(10_000),
  Buffer.from('last'),
]
const WRITTEN = Buffer.concat(CHUNKS.map((chunk) => Buffer.from(chunk)))

test.each([
  { name: 'in one turn', pause: () => undefined },
  { name: 'each in a turn of its own', pause: () => new Promise((resolve) => setImmediate(resolve)) },
])('what is written arrives as it was written, $name', async ({ pause }) => {
  const port = await listen((incoming, response) => {
    const reply = replyOver(incoming, response)
    const writing = async () => {
      for (const chunk of CHUNKS) {
        reply.write(chunk)
        await pause()
      }
      reply.end()
    }
    writing().catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined))
  })
  const body = await new Promise<Buffer>((resolve, reject) => {
    request({ port, method: 'POST' }, (answer) => {
      const pieces: Buffer[] = []
      answer.on('data', (piece: Buffer) => pieces.push(piece))
      answer.on('end', () => resolve(Buffer.concat(pieces)))
      answer.on('error', reject)
    })
      .on('error', reject)
      .end()
  })
  expect(body.equals(WRITTEN)).toBe(true)
})

/** Bytes no system takes for a client that does not read. */
const WRITTEN_MOST = 64 * 1024 * 1024

test('a client that reads nothing holds less than 256 KiB; the writer is notified when it reads again', async () => {
  const chunk = Buffer.alloc(1_000, 'x')
  const held = new Promise<{ readonly bytes: number; readonly drained: Promise<void> }>((resolve, reject) => {
    listen((incoming, response) => {
      const reply = replyOver(incoming, response)
      const drained = new Promise<void>((tell) => reply.onDrain(tell))
      // The system's own buffers take some megabytes before anything waits here.
      for (let written = 0; written < WRITTEN_MOST; written += chunk.byteLength)
        if (!reply.write(chunk)) break
      resolve({ bytes: response.writableLength, drained })
    }).then((port) => {
      const client = connect(port, '127.0.0.1', () =>
        client.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n'),
      )
      client.pause()
      client.on('error', reject)
      held.then(() => client.resume(), reject)
    }, reject)
  })
  const { bytes, drained } = await held
  expect(bytes).toBeGreaterThan(0)
  expect(bytes).toBeLessThan(256 * 1024)
  await drained
})
