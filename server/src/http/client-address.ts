import type { IncomingMessage } from 'node:http'
import ipaddr from 'ipaddr.js'

/** Finds the caller's address: the socket's, or what a trusted proxy in front of us says it was. */
export type ClientAddress = (request: IncomingMessage) => string

export function createClientAddress(trustedProxies: readonly string[]): ClientAddress {
  const ranges = trustedProxies.map((range) => ipaddr.parseCIDR(range))
  if (ranges.length === 0) return (request) => plain(request.socket.remoteAddress)
  const trusted = (address: string): boolean => {
    if (!ipaddr.isValid(address)) return false
    const parsed = ipaddr.process(address)
    return ranges.some(([network, bits]) => network.kind() === parsed.kind() && parsed.match(network, bits))
  }
  return (request) => {
    let address = plain(request.socket.remoteAddress)
    const hops = String(request.headers['x-forwarded-for'] ?? '')
      .split(',')
      .map((hop) => hop.trim())
    while (trusted(address)) {
      const hop = hops.pop()
      if (hop === undefined || !ipaddr.isValid(hop)) break
      address = plain(hop)
    }
    return address
  }
}

/** An IPv4 address that a dual-stack socket shows as IPv6 is shown as IPv4. */
function plain(address: string | undefined): string {
  if (address === undefined) return ''
  return address.startsWith('::ffff:') ? address.slice('::ffff:'.length) : address
}
