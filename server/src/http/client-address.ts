import type { IncomingMessage } from 'node:http'
import ipaddr from 'ipaddr.js'

/** Finds the caller's address: the socket's, or what a trusted proxy in front of us says it was. */
export type ClientAddress = (request: IncomingMessage) => string

export function createClientAddress(trustedProxies: readonly string[]): ClientAddress {
  if (trustedProxies.length === 0) return (request) => plain(request.socket.remoteAddress)
  const trusted = createIsProxy(trustedProxies)
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

/** Whether an address lies in one of the ranges. */
export function createIsProxy(trustedProxies: readonly string[]): (address: string) => boolean {
  const ranges = trustedProxies.map((range) => ipaddr.parseCIDR(range))
  if (ranges.length === 0) return () => false
  return (address) => {
    if (!ipaddr.isValid(address)) return false
    const parsed = ipaddr.process(address)
    return ranges.some(([network, bits]) => network.kind() === parsed.kind() && parsed.match(network, bits))
  }
}

/** The part of an address that one subscriber has: all of an IPv4 address, the first half of an IPv6 one. */
export function addressGroup(address: string): string {
  const known = plain(address)
  if (!known.includes(':') || !ipaddr.isValid(known)) return known
  const parsed = ipaddr.parse(known)
  return parsed instanceof ipaddr.IPv6
    ? `${parsed.parts
        .slice(0, 4)
        .map((part) => part.toString(16))
        .join(':')}::/64`
    : known
}

/** An IPv4 address that a dual-stack socket shows as IPv6 is shown as IPv4. */
function plain(address: string | undefined): string {
  if (address === undefined) return ''
  return address.startsWith('::ffff:') ? address.slice('::ffff:'.length) : address
}
