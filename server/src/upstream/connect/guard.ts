/** Which addresses a client may make the gateway connect to: public ones, and those the operator lists. */
import { BlockList, isIP, isIPv4 } from 'node:net'
import { type FindProxy, noProxies } from './find-proxy.ts'

/**
 * Everything that is not the public internet (IANA's special-purpose registries): private, loopback, link-local with
 * the clouds' metadata services, carrier NAT, documentation, multicast, reserved.
 */
const SPECIAL_IPV4: readonly [network: string, prefix: number][] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.31.196.0', 24],
  ['192.52.193.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['192.175.48.0', 24],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
]

/**
 * Exceptions within the public block of IPv6: protocol assignments with Teredo, documentation, and 6to4, which hides an
 * IPv4 address.
 */
const SPECIAL_IPV6: readonly [network: string, prefix: number][] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['2620:4f:8000::', 48],
  ['3fff::', 20],
]

const specialIpv4 = networks(SPECIAL_IPV4, 'ipv4')
const specialIpv6 = networks(SPECIAL_IPV6, 'ipv6')
const publicIpv6 = networks([['2000::', 3]], 'ipv6')

function networks(list: readonly [network: string, prefix: number][], family: 'ipv4' | 'ipv6'): BlockList {
  const blocks = new BlockList()
  for (const [network, prefix] of list) blocks.addSubnet(network, prefix, family)
  return blocks
}

/**
 * Addresses that the operator allows for client-chosen URLs (`SLUICE_FETCH_ALLOW`), and the proxy for reaching them.
 */
export class AllowList {
  readonly findProxy: FindProxy
  readonly #blocks = new BlockList()

  /** Each entry is an address or a CIDR network; throws for anything else, naming it. */
  constructor(entries: readonly string[], findProxy: FindProxy = noProxies) {
    this.findProxy = findProxy
    for (const entry of entries) this.#add(entry)
  }

  has(address: string): boolean {
    return this.#blocks.check(address, isIPv4(address) ? 'ipv4' : 'ipv6')
  }

  #add(entry: string): void {
    const [network = '', prefix] = entry.trim().split('/')
    const version = isIP(network)
    const bits = prefix === undefined ? (version === 4 ? 32 : 128) : Number(prefix)
    if (version === 0 || !/^\d{1,3}$/.test(prefix ?? '0') || bits > (version === 4 ? 32 : 128)) {
      throw new Error(`not an address or CIDR network: ${entry}`)
    }
    this.#blocks.addSubnet(network, bits, version === 4 ? 'ipv4' : 'ipv6')
  }
}

/** True if a client-chosen URL may lead there. An IPv4 address mapped into IPv6 is checked as IPv4. */
export function mayReach(address: string, allow: AllowList): boolean {
  const plain = mappedIpv4(address) ?? address
  if (allow.has(plain)) return true
  if (isIPv4(plain)) return !specialIpv4.check(plain, 'ipv4')
  return isIP(plain) === 6 && publicIpv6.check(plain, 'ipv6') && !specialIpv6.check(plain, 'ipv6')
}

/** `::ffff:10.0.0.1`, also written in hexadecimal. */
function mappedIpv4(address: string): string | undefined {
  if (isIP(address) !== 6) return undefined
  const written = new URL(`http://[${address.replace(/%.*$/, '')}]/`).hostname.slice(1, -1)
  const groups = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(written)
  if (groups === null) return undefined
  const high = Number.parseInt(groups[1] ?? '', 16)
  const low = Number.parseInt(groups[2] ?? '', 16)
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.')
}
