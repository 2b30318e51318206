import type { RouteReply } from '../route-types.ts'

/** Aborted once nobody waits for the answer any more: what it takes long to read need not be read. */
export function clientGone({ raw }: Pick<RouteReply, 'raw'>): AbortSignal {
  const gone = new AbortController()
  raw.once('close', () => gone.abort())
  return gone.signal
}
