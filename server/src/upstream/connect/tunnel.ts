import type { Socket } from 'node:net'
import type { Proxy } from './find-proxy.ts'
import { askToConnect, type buildConnector, Client } from './undici.ts'

/** A last resort, as for connections without a proxy: the exchange has its vendor's own connect timeout. */
const CONNECT_MS_MAX = 60_000

export interface TunnelOptions {
  /** Uses TLS inside the tunnel if the origin does. */
  readonly inside: buildConnector.connector
  /** What the proxy is to connect to in place of the host: an address that was checked. */
  readonly address?: string | undefined
}

/**
 * Connections through a proxy (RFC 9110 §9.3.6): it is asked to connect to the origin, and from then on only relays
 * bytes. Names and certificates are those of the origin.
 */
export function tunnelConnector(
  { origin, authorization }: Proxy,
  { inside, address }: TunnelOptions,
): buildConnector.connector {
  return (options, callback) => {
    const proxy = new Client(origin, {
      connect: { timeout: CONNECT_MS_MAX },
      headersTimeout: CONNECT_MS_MAX,
      bodyTimeout: 0,
    })
    const port = options.port === '' ? (options.protocol === 'https:' ? '443' : '80') : options.port
    const path = `${bracketed(address ?? options.hostname)}:${port}`
    const headers = {
      host: path,
      ...(authorization === undefined ? {} : { 'proxy-authorization': authorization }),
    }
    askToConnect.call(proxy, { path, headers }, (error, answer) => {
      if (error !== null) {
        fail(proxy)
        callback(error, null)
        return
      }
      const socket = answer.socket as Socket
      if (answer.statusCode !== 200) {
        socket.on('error', () => undefined).destroy()
        fail(proxy)
        callback(new Error(`the proxy refused to connect: status ${answer.statusCode}`), null)
        return
      }
      if (options.protocol === 'https:') inside({ ...options, httpSocket: socket }, callback)
      else callback(null, socket)
    })
  }
}

function fail(proxy: Client): void {
  queueMicrotask(() => proxy.destroy(null, () => undefined))
}

function bracketed(host: string): string {
  const bare = host.replace(/^\[|\]$/g, '')
  return bare.includes(':') ? `[${bare}]` : bare
}
