/**
 * Streams a file from an address chosen by others, such as the link to a finished video, under the same guard as
 * `fetch-remote.ts`: names are resolved once, private networks are refused, every redirect is checked again.
 * Credentials are never sent.
 */
import type { Timeouts } from '../../core/catalogue.ts'
import {
  judgeAddress,
  pinnedLease,
  REDIRECTS_MAX,
  type RemoteRefusal,
  type RemoteWorld,
  refused,
  systemWorld,
} from './fetch-remote.ts'
import type { AllowList } from '../connect/guard.ts'
import { type StreamedAnswer, TransportError, openStream } from './read-answer.ts'
import { openOver } from '../send.ts'

export interface StreamOptions {
  readonly allow: AllowList
  /** Lower-case host that is allowed even if private: the one the operator configured for this vendor. */
  readonly trustedHost: string | undefined
  /** Lower-case names; `range` and similar. */
  readonly headers: Readonly<Record<string, string>>
  readonly timeouts: Timeouts
}

export type StreamedRemote =
  /** Any status but a redirect. */
  | { readonly kind: 'open'; readonly answer: StreamedAnswer }
  | { readonly kind: 'refused'; readonly reason: RemoteRefusal; readonly detail: string }

export async function streamRemote(
  url: string,
  options: StreamOptions,
  world: RemoteWorld = systemWorld,
): Promise<StreamedRemote> {
  let address = url
  for (let hop = 0; hop <= REDIRECTS_MAX; hop += 1) {
    const opened = await openOnce(address, options, world)
    if (opened.kind === 'refused') return opened
    const location = redirectOf(opened.answer, address)
    if (location === undefined) return opened
    opened.answer.abort()
    address = location
  }
  return refused('too-many-redirects', `more than ${REDIRECTS_MAX} redirects`)
}

async function openOnce(
  address: string,
  options: StreamOptions,
  world: RemoteWorld,
): Promise<StreamedRemote> {
  const { allow, trustedHost, timeouts } = options
  const judged = await judgeAddress(address, { allow, trustedHost, timeoutMs: timeouts.connectMs }, world)
  if (judged.kind === 'refused') return judged
  const { url, pinned } = judged
  const open = openOver({ take: () => pinnedLease(url.origin, pinned, options.allow) }, world.timers)
  try {
    const answer = await openStream(open, {
      request: {
        method: 'GET',
        url: url.href,
        headers: { accept: '*/*', 'user-agent': 'sluice', ...options.headers },
      },
      auth: { kind: 'none' },
      credential: { secret: undefined, fields: {} },
      body: undefined,
      bodyLength: 0,
      timeouts: options.timeouts,
    })
    return { kind: 'open', answer }
  } catch (error) {
    if (error instanceof TransportError) return refused('unreachable', error.message)
    throw error
  }
}

/** Absolute target of a redirect; undefined: it is not one. */
export function redirectOf(
  answer: Pick<StreamedAnswer, 'status' | 'headers'>,
  base: string,
): string | undefined {
  const { location } = answer.headers
  const isRedirect = answer.status >= 300 && answer.status < 400 && answer.status !== 304
  if (!isRedirect || typeof location !== 'string' || !URL.canParse(location, base)) return undefined
  return new URL(location, base).href
}
