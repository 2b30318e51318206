/**
 * One small request to an address that another service named (a token or key endpoint of its discovery document): bounded
 * in size and time, no redirects, and never inside the operator's network, except where the operator has named the origin.
 */
import { type AllowList, mayReach } from '../connect/guard.ts'
import { pinnedLease, type RemoteWorld, resolveHost, systemWorld } from './fetch-remote.ts'
import { readWhole, type WholeAnswer } from './read-answer.ts'
import { openOver } from '../send.ts'

export interface SmallRequest {
  readonly method: 'GET' | 'POST'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

/** Rejects if the answer is incomplete, or the address may not be reached. */
export type SmallFetch = (request: SmallRequest) => Promise<WholeAnswer>

/** The address may not be reached (SSRF). */
export class ClosedNetwork extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ClosedNetwork'
  }
}

export interface SmallFetchOptions {
  /** Origins the operator configured: they may be private. */
  readonly trusted: readonly string[]
  readonly allow: AllowList
}

const TIMEOUT_MS = 10_000
const TIMEOUTS = { connectMs: TIMEOUT_MS, firstByteMs: TIMEOUT_MS, idleMs: TIMEOUT_MS }
const ANSWER_BYTES_MAX = 1_048_576

export function createSmallFetch(
  { trusted, allow }: SmallFetchOptions,
  world: RemoteWorld = systemWorld,
): SmallFetch {
  return async ({ method, url: address, headers, body }) => {
    const url = new URL(address)
    if (!/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '')
      throw new Error('only http and https addresses without a password can be fetched')
    const found = await resolveHost(url.hostname.replace(/^\[|\]$/g, ''), world, TIMEOUT_MS)
    const [pinned] = found
    if (pinned === undefined) throw new Error(`the name ${url.hostname} cannot be resolved`)
    if (!trusted.includes(url.origin) && !found.every((each) => mayReach(each, allow)))
      throw new ClosedNetwork(`${url.hostname} leads into a network that another service may not send us to`)
    const bytes = body === undefined ? undefined : Buffer.from(body)
    return readWhole(
      openOver({ take: () => pinnedLease(url.origin, pinned, allow) }, world.timers),
      {
        request: { method, url: url.href, headers },
        auth: { kind: 'none' },
        credential: { secret: undefined, fields: {} },
        body: bytes === undefined ? undefined : [bytes],
        bodyLength: bytes?.byteLength ?? 0,
        timeouts: TIMEOUTS,
      },
      ANSWER_BYTES_MAX,
    )
  }
}
