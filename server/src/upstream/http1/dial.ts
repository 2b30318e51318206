import { connect as connectTcp, isIP, type Socket, type TcpNetConnectOpts } from 'node:net'
import { type ConnectionOptions, connect as connectTls } from 'node:tls'

/** TCP keep-alive: detects a peer that disappeared without closing. */
const PROBE_AFTER_MS = 60_000
/** Unsent bytes at which a socket asks the writer to wait. */
const UNSENT_BYTES = 65_536

/** Opens sockets to one origin that read into the caller's buffer. */
export interface Dial {
  /** The event that the socket emits when it can be written to. */
  readonly readyEvent: 'connect' | 'secureConnect'
  open(onread: OnRead): Socket
}

export type OnRead = NonNullable<TcpNetConnectOpts['onread']>

/**
 * @param origin of an http or https address
 * @param roots certificates that are trusted; absent: Node's own, and those the operator added
 */
export function createDial(origin: string, roots?: string): Dial {
  const { protocol, hostname, port } = new URL(origin)
  const host = hostname.replace(/^\[|\]$/g, '')
  return protocol === 'https:'
    ? new TlsDial(host, port === '' ? 443 : Number(port), roots)
    : new TcpDial(host, port === '' ? 80 : Number(port))
}

class TcpDial implements Dial {
  readonly readyEvent = 'connect'
  readonly #host: string
  readonly #port: number

  constructor(host: string, port: number) {
    this.#host = host
    this.#port = port
  }

  open(onread: OnRead): Socket {
    return connectTcp({ host: this.#host, port: this.#port, ...SOCKET_OPTIONS, onread })
  }
}

class TlsDial implements Dial {
  readonly readyEvent = 'secureConnect'
  readonly #host: string
  readonly #port: number
  readonly #roots: string | undefined
  /** The latest TLS session, which saves the next connection half of the handshake. */
  #session: Buffer | undefined

  constructor(host: string, port: number, roots: string | undefined) {
    this.#host = host
    this.#port = port
    this.#roots = roots
  }

  open(onread: OnRead): Socket {
    const options: ConnectionOptions & Pick<TcpNetConnectOpts, 'onread'> = {
      host: this.#host,
      port: this.#port,
      ...SOCKET_OPTIONS,
      // An IP address is not sent as a server name, but the certificate must contain it all the same.
      servername: isIP(this.#host) === 0 ? this.#host : '',
      session: this.#session,
      ca: this.#roots,
      ALPNProtocols: ['http/1.1'],
      onread,
    }
    const socket = connectTls(options)
    socket.on('session', (session) => {
      this.#session = session
    })
    return socket
  }
}

const SOCKET_OPTIONS = {
  noDelay: true,
  keepAlive: true,
  keepAliveInitialDelay: PROBE_AFTER_MS,
  highWaterMark: UNSENT_BYTES,
}
