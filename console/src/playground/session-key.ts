/** The playground's API key: created by the gateway for this session, and kept only in memory. */
import { actingFor, client, dataOf } from '../api/client.ts'

/** A key with less time left is replaced before a call. */
const MARGIN_MS = 60_000
const REFUSED = 401
/** The most retries: more windows that create keys at the same time are not people. */
const TRIES_MAX = 4

/** Sends a request with the session's key. */
export interface KeyedFetch {
  (path: string, init?: RequestInit): Promise<Response>
  /** Listens to other windows; returns a function that stops it. */
  listen(): () => void
}

interface Held {
  readonly key: string
  readonly expires_at: string
}

/** The owner of the key: windows of one browser may act for different organisations. */
interface Owner {
  readonly account: string
  readonly organisation: string | undefined
}

/**
 * A key is created before the first call, and again after it has expired. A person has only one: a key created in one window
 * replaces the former one, so the window announces it and the others use it. A window whose key is rejected uses the last
 * announced key, and creates one only if there is none. The session's cookie is not sent, so that calls behave as from any
 * other client.
 */
export function openKeyedFetch(owner: Owner): KeyedFetch {
  let windows: BroadcastChannel | undefined
  let held: Promise<Held> | undefined
  const make = (): Promise<Held> => {
    const made = dataOf(
      client.POST('/api/v1/user/user/session-key', { params: { header: actingFor(owner.organisation) } }),
    )
    held = made
    made.then(
      ({ key, expires_at }) => windows?.postMessage({ key, expires_at }),
      // The failure is reported to the waiting calls; the next call tries again.
      () => {
        if (held === made) held = undefined
      },
    )
    return made
  }
  const current = async (refused: string | undefined): Promise<string> => {
    const found = await (held ?? make())
    const isUsable = found.key !== refused && Date.parse(found.expires_at) - Date.now() > MARGIN_MS
    return isUsable ? found.key : (await make()).key
  }
  const ask = async (path: string, init: RequestInit): Promise<Response> => {
    let refused: string | undefined
    for (let tries = 1; ; tries++) {
      const key = await current(refused)
      const response = await window.fetch(path, {
        ...init,
        credentials: 'omit',
        headers: {
          authorization: `Bearer ${key}`,
          // For a form the browser sets it, with the boundary.
          ...(typeof init.body === 'string' ? { 'content-type': 'application/json' } : {}),
        },
      })
      if (response.status !== REFUSED || tries === TRIES_MAX) return response
      refused = key
    }
  }
  return Object.assign((path: string, init: RequestInit = {}) => ask(path, init), {
    listen() {
      const channel = new BroadcastChannel(`session-key ${owner.account} ${owner.organisation ?? ''}`)
      channel.addEventListener('message', ({ data }: MessageEvent<Held>) => {
        held = Promise.resolve(data)
      })
      windows = channel
      return () => channel.close()
    },
  })
}
