import type { IncomingMessage } from 'node:http'

/** base_url or gateway_base_url (contract, head). */
export type Address = 'base' | 'gateway'

/** If one port serves both addresses, the host name distinguishes them. */
export function addressOfHost(request: IncomingMessage, gatewayHost: string | undefined): Address {
  const [host = ''] = (request.headers.host ?? '').toLowerCase().split(':')
  return host === gatewayHost ? 'gateway' : 'base'
}
