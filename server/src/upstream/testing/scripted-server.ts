import { createServer, type Server, type Socket } from 'node:net'

/** A TCP server on loopback that sends what the test scripts, well-formed or not. */
export interface ScriptedServer {
  readonly url: string
  readonly port: number
  /** Connections accepted so far. */
  connections(): number
  close(): Promise<void>
}

export type Script = (conversation: Conversation) => void

export interface Conversation {
  readonly socket: Socket
  /** Calls back with each complete request: head and body, the body by its content-length. */
  onRequest(callback: (request: ReceivedRequest, index: number) => void): void
}

export interface ReceivedRequest {
  /** As received. */
  readonly head: string
  readonly body: Buffer
}

export async function scriptedServer(script: Script): Promise<ScriptedServer> {
  const sockets = new Set<Socket>()
  let accepted = 0
  const server = createServer((socket) => {
    accepted += 1
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    // The tests' clients break connections on purpose.
    socket.on('error', () => sockets.delete(socket))
    script({ socket, onRequest: (callback) => readRequests(socket, callback) })
  })
  const port = await listen(server)
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    connections: () => accepted,
    close: () => {
      for (const socket of sockets) socket.destroy()
      return new Promise((resolve) => {
        server.close(() => resolve())
      })
    },
  }
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      resolve(typeof address === 'object' && address !== null ? address.port : 0)
    })
  })
}

function readRequests(socket: Socket, callback: (request: ReceivedRequest, index: number) => void): void {
  let pending = Buffer.alloc(0)
  let count = 0
  socket.on('data', (chunk: Buffer) => {
    pending = Buffer.concat([pending, chunk])
    for (;;) {
      const end = pending.indexOf('\r\n\r\n')
      if (end === -1) return
      const head = pending.toString('latin1', 0, end)
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)
      if (pending.byteLength < end + 4 + length) return
      const body = pending.subarray(end + 4, end + 4 + length)
      pending = pending.subarray(end + 4 + length)
      callback({ head, body }, count)
      count += 1
    }
  })
}

/** A plain answer with a length. */
export function plainAnswer(body: string, headers = ''): string {
  return `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n${headers}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
}

export function chunked(text: string | Buffer): Buffer {
  const bytes = Buffer.from(text)
  return Buffer.concat([Buffer.from(`${bytes.byteLength.toString(16)}\r\n`), bytes, Buffer.from('\r\n')])
}

export const STREAM_HEAD =
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n'
