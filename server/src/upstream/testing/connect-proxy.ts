import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'

/** A proxy on loopback for tests: whatever it is asked to connect to, it connects to one port. */
export interface ConnectProxy {
  /** Without user and password. */
  readonly host: string
  /** The requested authorities, with the credentials sent. */
  readonly asked: { readonly authority: string; readonly authorization: string | undefined }[]
  /** The first bytes of each tunnel, from the client's side. */
  readonly first: Buffer[]
  close(): Promise<void>
}

/** @param behave a status other than 200 refuses; `silent` answers nothing */
export async function openConnectProxy(
  target: number,
  behave: { readonly status?: number; readonly silent?: boolean } = {},
): Promise<ConnectProxy> {
  const asked: ConnectProxy['asked'] = []
  const first: Buffer[] = []
  const sockets = new Set<Socket>()
  const server = createServer((_request, response) => response.writeHead(405).end())
  server.on('connection', (socket) => sockets.add(socket))
  server.on('connect', (request, near: Socket, head: Buffer) => {
    asked.push({ authority: request.url ?? '', authorization: request.headers['proxy-authorization'] })
    near.on('error', () => undefined)
    if (behave.silent === true) return
    const status = behave.status ?? 200
    near.write(`HTTP/1.1 ${status} ${status === 200 ? 'Connection established' : 'No'}\r\n\r\n`)
    if (status !== 200) {
      near.end()
      return
    }
    const far = connect(target, '127.0.0.1')
    sockets.add(far)
    far.on('error', () => near.destroy())
    near.once('data', (chunk: Buffer) => first.push(chunk))
    if (head.length > 0) far.write(head)
    near.pipe(far).pipe(near)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    host: `127.0.0.1:${port}`,
    asked,
    first,
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy()
        server.close(() => resolve())
      }),
  }
}
