import { connect as connectTcp, isIP, type Socket, type TcpNetConnectOpts } from 'node:net'
import { type ConnectionOptions, connect as connectTls } from 'node:tls'

/** Of TCP: a peer that vanished without a word is noticed. */
const PROBE_AFTER_MS = 60_000
/** Until a socket with so much unsent asks to wait. */
const UNSENT_BYTES = 65_536

/** Opens sockets to one origin that read into a buffer of the caller's. */
export interface Dial {
  /** What the socket emits once it can be written to. */
  readonly readyEvent: 'connect' | 'secureConnect'
  open(onread: OnRead): Socket
}

export type OnRead = NonNullable<TcpNetConnectOpts['onread']>

/**
 * @param origin of an http or https address
 * @param roots certificates that are trusted; absent: Node's own, with those the operator added
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
  /** The latest, so that the next connection is spared half of the handshake. */
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
      // An address is no name to ask for, but the certificate has to hold it all the same.
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
