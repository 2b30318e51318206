/**
 * Posts to an address a customer chose, under the guard of `fetch-remote.ts`: the name is resolved once, private
 * networks are refused, and no redirect is followed, since a signed body is meant for one receiver.
 */
import {
  judgeAddress,
  pinnedLease,
  type RemoteRefusal,
  type RemoteWorld,
  refused,
  resolveHost,
  systemWorld,
} from './fetch-remote.ts'
import { type AllowList, mayReach } from '../connect/guard.ts'
import { openOver } from '../send.ts'

export interface PostOptions {
  /** Limit for everything: the name, the connection, the head of the answer. */
  readonly timeoutMs: number
  readonly allow: AllowList
}

export interface PostRequest {
  readonly url: string
  readonly body: string
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
}

export type PostAnswer =
  | { readonly kind: 'answered'; readonly status: number }
  | { readonly kind: 'refused'; readonly reason: RemoteRefusal; readonly detail: string }

export async function postRemote(
  request: PostRequest,
  options: PostOptions,
  world: RemoteWorld = systemWorld,
): Promise<PostAnswer> {
  const judged = await judgeAddress(request.url, options, world)
  if (judged.kind === 'refused') return judged
  const { url, pinned } = judged
  return send(url, request, { pinned, timeoutMs: options.timeoutMs, allow: options.allow, world })
}

/**
 * An address of this URL to which posting is refused, as far as its name can be resolved now; undefined: none is known.
 */
export async function closedAddress(
  text: string,
  { timeoutMs, allow }: PostOptions,
  world: RemoteWorld = systemWorld,
): Promise<string | undefined> {
  if (!URL.canParse(text)) return undefined
  const found = await resolveHost(hostOf(new URL(text)), world, timeoutMs)
  return found.find((each) => !mayReach(each, allow))
}

const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '')

function send(
  url: URL,
  request: PostRequest,
  way: {
    readonly pinned: string
    readonly timeoutMs: number
    readonly allow: AllowList
    readonly world: RemoteWorld
  },
): Promise<PostAnswer> {
  const { timers } = way.world
  const body = Buffer.from(request.body, 'utf8')
  return new Promise((resolve) => {
    const open = openOver({ take: () => pinnedLease(url.origin, way.pinned, way.allow) }, timers)
    let answer: PostAnswer | undefined
    const finish = (fallback: PostAnswer): void => {
      deadline.cancel()
      resolve(answer ?? fallback)
    }
    const deadline = timers.set(() => {
      answer ??= refused('timeout', 'the answer took too long')
      exchange.abort()
    }, way.timeoutMs)
    const { timeoutMs } = way
    const exchange = open(
      {
        request: {
          method: 'POST',
          url: url.href,
          headers: { 'user-agent': 'sluice', ...request.headers },
        },
        auth: { kind: 'none' },
        credential: { secret: undefined, fields: {} },
        body: [body],
        bodyLength: body.byteLength,
        timeouts: { connectMs: timeoutMs, firstByteMs: timeoutMs, idleMs: timeoutMs },
      },
      {
        // Only the status is needed; the body is not read.
        head: ({ status }) => {
          answer ??= { kind: 'answered', status }
          exchange.abort()
        },
        data: () => undefined,
        end: () => finish(refused('unreachable', 'the connection ended before the answer')),
        fail: ({ detail }) => finish(refused('unreachable', detail)),
      },
    )
  })
}
