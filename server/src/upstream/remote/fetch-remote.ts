/**
 * Fetches an address a client chose (an image, a file): bounded in size and time, and never inside the operator's
 * network. The name is resolved once and the connection uses exactly that address, so a DNS answer that changes between
 * check and use has no effect; every redirect is checked again.
 */
import { lookup } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import type { Lease } from '../connect/connections.ts'
import { type AllowList, mayReach } from '../connect/guard.ts'
import { openOver } from '../send.ts'
import { systemTimers, type Timers } from '../timers.ts'
import { tunnelConnector } from '../connect/tunnel.ts'
import { Client, createConnector } from '../connect/undici.ts'
import { UndiciTransport } from '../connect/undici-transport.ts'
import type { UpstreamHead } from '../upstream.ts'

export interface RemoteOptions {
  readonly maxBytes: number
  /** Limit for everything: names, redirects, the last byte. */
  readonly timeoutMs: number
  readonly allow: AllowList
  /** Checks the media type before the body is read; absent: any. */
  readonly accept?: (mediaType: string) => boolean
  /** Called with each piece's size before it is kept; false ends the fetch with `no-room`. Absent: no limit. */
  readonly mayKeep?: (bytes: number) => boolean
}

export type RemoteAnswer =
  | { readonly kind: 'fetched'; readonly mediaType: string; readonly body: Buffer }
  | { readonly kind: 'refused'; readonly reason: RemoteRefusal; readonly detail: string }

export type RemoteRefusal =
  /** Not an http or https address, or one that contains a password. */
  | 'not-an-address'
  /** It leads into a network that clients may not reach. */
  | 'forbidden'
  | 'unreachable'
  | 'too-many-redirects'
  /** An answer other than 200. */
  | 'status'
  | 'media-type'
  | 'too-large'
  /** The caller cannot keep more bytes now. */
  | 'no-room'
  | 'timeout'

/** External dependencies, replaced in tests. */
export interface RemoteWorld {
  readonly resolve: (name: string) => Promise<readonly string[]>
  readonly timers: Timers
}

export const REDIRECTS_MAX = 5
const HEAD_BYTES_MAX = 32_768

export const systemWorld: RemoteWorld = {
  resolve: async (name) => (await lookup(name, { all: true })).map(({ address }) => address),
  timers: systemTimers,
}

export async function fetchRemote(
  url: string,
  options: RemoteOptions,
  world: RemoteWorld = systemWorld,
): Promise<RemoteAnswer> {
  const { timers } = world
  const until = timers.now() + options.timeoutMs
  let address = url
  for (let hop = 0; hop <= REDIRECTS_MAX; hop += 1) {
    const leftMs = until - timers.now()
    if (leftMs <= 0) return refused('timeout', 'redirects took all of the time allowed')
    const step = await fetchOnce(address, { ...options, timeoutMs: leftMs }, world)
    if (step.kind !== 'redirect') return step
    address = step.location
  }
  return refused('too-many-redirects', `more than ${REDIRECTS_MAX} redirects`)
}

type Step = RemoteAnswer | { readonly kind: 'redirect'; readonly location: string }

async function fetchOnce(address: string, options: RemoteOptions, world: RemoteWorld): Promise<Step> {
  const judged = await judgeAddress(address, options, world)
  return judged.kind === 'refused' ? judged : request(judged.url, judged.pinned, options, world.timers)
}

export interface AddressRules {
  /** For the name. */
  readonly timeoutMs: number
  readonly allow: AllowList
  /** Lower-case host that may be private all the same: the one the operator named for this vendor. Absent: none. */
  readonly trustedHost?: string | undefined
}

export type JudgedAddress =
  /** `pinned`: of the addresses behind its name the one to connect to. */
  | { readonly kind: 'open'; readonly url: URL; readonly pinned: string }
  | Extract<RemoteAnswer, { kind: 'refused' }>

/** Whether an address chosen by a third party may be connected to. */
export async function judgeAddress(
  address: string,
  { timeoutMs, allow, trustedHost }: AddressRules,
  world: RemoteWorld,
): Promise<JudgedAddress> {
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') {
    return refused('not-an-address', 'only http and https addresses without a password are open')
  }
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const found = await resolveHost(host, world, timeoutMs)
  const pinned = found[0]
  if (pinned === undefined) return refused('unreachable', 'the name cannot be resolved')
  // One forbidden address among several is enough: it is not known which one a connection would use.
  if (host.toLowerCase() !== trustedHost && !found.every((each) => mayReach(each, allow))) {
    return refused('forbidden', 'the address leads into a network that is not open to client-chosen URLs')
  }
  return { kind: 'open', url, pinned }
}

/** Empty if there is no answer in time. */
export async function resolveHost(
  host: string,
  world: RemoteWorld,
  timeoutMs: number,
): Promise<readonly string[]> {
  if (isIP(host) !== 0) return [host]
  return new Promise((resolve) => {
    const timer = world.timers.set(() => resolve([]), timeoutMs)
    const settle = (addresses: readonly string[]): void => {
      timer.cancel()
      resolve(addresses)
    }
    // Whatever the resolver's error, the name has no address.
    world.resolve(host).then(settle, () => settle([]))
  })
}

function request(url: URL, pinned: string, options: RemoteOptions, timers: Timers): Promise<Step> {
  return new Promise((resolve) => {
    const open = openOver({ take: () => pinnedLease(url.origin, pinned, options.allow) }, timers)
    const chunks: Uint8Array[] = []
    let length = 0
    let mediaType = ''
    let early: Step | undefined
    const leave = (step: Step): void => {
      early ??= step
      exchange.abort()
    }
    const deadline = timers.set(
      () => leave(refused('timeout', 'the answer took too long')),
      options.timeoutMs,
    )
    const finish = (step: Step): void => {
      deadline.cancel()
      resolve(early ?? step)
    }
    const exchange = open(
      {
        request: { method: 'GET', url: url.href, headers: { accept: '*/*', 'user-agent': 'sluice' } },
        auth: { kind: 'none' },
        credential: { secret: undefined, fields: {} },
        body: undefined,
        bodyLength: 0,
        timeouts: { connectMs: options.timeoutMs, firstByteMs: options.timeoutMs, idleMs: options.timeoutMs },
      },
      {
        head: (head) => {
          const step = judgeHead(head, url, options)
          if (typeof step === 'string') mediaType = step
          else leave(step)
        },
        data: (chunk) => {
          length += chunk.byteLength
          if (early !== undefined) return
          if (length > options.maxBytes) leave(tooLarge(options))
          else if (options.mayKeep?.(chunk.byteLength) === false)
            leave(refused('no-room', 'there is no room for its bytes right now'))
          else chunks.push(chunk)
        },
        end: () => finish({ kind: 'fetched', mediaType, body: Buffer.concat(chunks, length) }),
        // The transport's own message contains addresses that the client did not name.
        fail: () => finish(refused('unreachable', 'the address cannot be reached, or broke off its answer')),
      },
    )
  })
}

/** The media type of an answer worth reading. */
function judgeHead(head: UpstreamHead, url: URL, options: RemoteOptions): string | Step {
  const location = head.headers['location']
  if (
    head.status >= 300 &&
    head.status < 400 &&
    typeof location === 'string' &&
    URL.canParse(location, url.href)
  ) {
    return { kind: 'redirect', location: new URL(location, url).href }
  }
  if (head.status !== 200) return refused('status', `the address answered with status ${head.status}`)
  const type = String(head.headers['content-type'] ?? 'application/octet-stream')
  const mediaType = (type.split(';')[0] ?? '').trim().toLowerCase()
  if (options.accept?.(mediaType) === false)
    return refused('media-type', `the address returned ${mediaType.slice(0, 100)}`)
  if (Number(head.headers['content-length'] ?? 0) > options.maxBytes) return tooLarge(options)
  return mediaType
}

function tooLarge(options: RemoteOptions): Step {
  return refused('too-large', `the address holds more than ${options.maxBytes} bytes`)
}

export function refused(reason: RemoteRefusal, detail: string): Extract<RemoteAnswer, { kind: 'refused' }> {
  return { kind: 'refused', reason, detail }
}

/**
 * A connection of its own: name and certificate are the URL's, the address is the one that was checked. A proxy is
 * asked for the address as well, so that another DNS answer cannot lead it elsewhere.
 */
export function pinnedLease(
  origin: string,
  address: string,
  { findProxy }: Pick<AllowList, 'findProxy'>,
): Lease {
  const proxy = findProxy(origin, address)
  const client = new Client(origin, {
    connect:
      proxy === undefined
        ? { lookup: pinnedLookup(address) }
        : tunnelConnector(proxy, { inside: createConnector({}), address }),
    maxHeaderSize: HEAD_BYTES_MAX,
    headersTimeout: 0,
    bodyTimeout: 0,
  })
  const transport = new UndiciTransport(client)
  const discard = (): void => transport.destroy()
  return { transport, release: discard, discard, distrust: discard }
}

function pinnedLookup(address: string): LookupFunction {
  const family = isIP(address)
  return (_name, options, callback) => {
    if (options.all === true) callback(null, [{ address, family }])
    else callback(null, address, family)
  }
}
