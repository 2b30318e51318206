/** The key of the playground: made by the gateway for this session, kept in the pages' memory and nowhere else. */
import { actingFor, client, dataOf } from '../api/client.ts'

/** One that ends so soon is made anew before a call. */
const MARGIN_MS = 60_000
const REFUSED = 401
/** More windows than this that make keys in one moment are somebody's program. */
const TRIES_MAX = 4

/** Asks the gateway with the key of the session. */
export interface KeyedFetch {
  (path: string, init?: RequestInit): Promise<Response>
  /** From now on it hears of other windows, until what is returned is called. */
  listen(): () => void
}

interface Held {
  readonly key: string
  readonly expires_at: string
}

/** Whose key it is: windows of one browser may act for different organisations. */
interface Owner {
  readonly account: string
  readonly organisation: string | undefined
}

/**
 * A key is made before the first call, and again when it has ended. A person has one: the key that one window makes takes the
 * place of the others', so it tells them, and they go on with it. Whoever is refused tries with what was heard meanwhile,
 * and makes one only when nothing was. The session's cookie does not go along, so that a call is what it would be from
 * anywhere.
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
      // Whoever waits for it is told; the next call tries again.
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
          // Of a form the browser writes it, with what stands between the parts.
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
