import type { IncomingMessage } from 'node:http'

/** base_url or gateway_base_url (contract, head). */
export type Address = 'base' | 'gateway'

const addresses = new WeakMap<IncomingMessage, Address>()

/** Remembers at which address a request arrived, for routes the framework calls. */
export function noteAddress(request: IncomingMessage, address: Address): void {
  addresses.set(request, address)
}

export function addressOf(request: IncomingMessage): Address {
  return addresses.get(request) ?? 'base'
}

/** Where one port serves both addresses, the host name tells them apart. */
export function addressOfHost(request: IncomingMessage, gatewayHost: string | undefined): Address {
  const [host = ''] = (request.headers.host ?? '').toLowerCase().split(':')
  return host === gatewayHost ? 'gateway' : 'base'
}
