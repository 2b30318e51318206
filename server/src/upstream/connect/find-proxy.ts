/** Whether an outgoing connection uses a proxy: the usual three variables of the environment. */
import { BlockList, isIP } from 'node:net'
import type { Secret } from '../../core/secret.ts'

export interface ProxySettings {
  /** Proxies for https and for http addresses; `http://user:password@host:port`. undefined: none. */
  readonly httpsProxy: Secret | undefined
  readonly httpProxy: Secret | undefined
  /** Where no proxy is used: hosts, domains with their subdomains, addresses, CIDR networks, `host:port`, or `*`. */
  readonly noProxy: readonly string[]
}

export interface Proxy {
  readonly origin: string
  /** Value of `proxy-authorization`. */
  readonly authorization: string | undefined
}

/** @param address that the host was resolved to, if known */
export type FindProxy = (origin: string, address?: string) => Proxy | undefined

export const noProxies: FindProxy = () => undefined

export function createFindProxy({ httpsProxy, httpProxy, noProxy }: ProxySettings): FindProxy {
  const https = proxyOf(httpsProxy)
  const http = proxyOf(httpProxy)
  if (https === undefined && http === undefined) return noProxies
  const isExempt = createExemptions(noProxy)
  return (origin, address) => {
    const url = new URL(origin)
    const proxy = url.protocol === 'https:' ? https : http
    return proxy === undefined || isExempt(url, address) ? undefined : proxy
  }
}

function proxyOf(secret: Secret | undefined): Proxy | undefined {
  if (secret === undefined) return undefined
  const url = new URL(secret.unwrap())
  const user = decodeURIComponent(url.username)
  const password = decodeURIComponent(url.password)
  const known = user !== '' || password !== ''
  return {
    origin: url.origin,
    authorization: known ? `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` : undefined,
  }
}

/** Loopback is never reached through a proxy, which would reach its own loopback. */
function createExemptions(entries: readonly string[]): (url: URL, address?: string) => boolean {
  const networks = new BlockList()
  networks.addSubnet('127.0.0.0', 8, 'ipv4')
  networks.addAddress('::1', 'ipv6')
  const names: { readonly name: string; readonly port: string | undefined }[] = []
  for (const entry of entries) {
    if (!addNetwork(networks, entry)) names.push(nameOf(entry))
  }
  return (url, address) => {
    const host = url.hostname.replace(/^\[|\]$/g, '').toLowerCase()
    const port = url.port === '' ? (url.protocol === 'https:' ? '443' : '80') : url.port
    if (isBelow(host, 'localhost')) return true
    if ([host, address].some((each) => each !== undefined && isWithin(networks, each))) return true
    return names.some(
      ({ name, port: only }) =>
        (only === undefined || only === port) && (name === '*' || isBelow(host, name)),
    )
  }
}

function addNetwork(networks: BlockList, entry: string): boolean {
  const [network = '', prefix] = entry.replace(/^\[|\]$/g, '').split('/')
  const version = isIP(network)
  if (version === 0) return false
  const family = version === 4 ? 'ipv4' : 'ipv6'
  if (prefix === undefined) networks.addAddress(network, family)
  else networks.addSubnet(network, Number(prefix), family)
  return true
}

function isWithin(networks: BlockList, address: string): boolean {
  const version = isIP(address)
  return version !== 0 && networks.check(address, version === 4 ? 'ipv4' : 'ipv6')
}

/** `.example.com`, `*.example.com` and `example.com` mean the same: the domain and its subdomains. */
function nameOf(entry: string): { readonly name: string; readonly port: string | undefined } {
  const [, name = '', port] = /^(?:\*?\.)?(.*?)(?::(\d+))?$/.exec(entry.toLowerCase()) ?? []
  return { name, port }
}

function isBelow(host: string, name: string): boolean {
  return host === name || (name !== '' && host.endsWith(`.${name}`))
}
