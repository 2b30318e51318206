/** The key of the playground: made by the gateway for this session, kept in the page's memory and nowhere else. */
import { actingFor, client, dataOf } from '../api/client.ts'

/** One that ends so soon is made anew before a call. */
const MARGIN_MS = 60_000
const REFUSED = 401

/** Asks the gateway with the key of the session. */
export interface KeyedFetch {
  (path: string, init?: RequestInit): Promise<Response>
}

/**
 * A key is made before the first call, and again when it has ended: another window of the same person may have taken its
 * place. The session's cookie does not go along, so that a call is what it would be from anywhere.
 */
export function openKeyedFetch(organisation: string | undefined): KeyedFetch {
  let held: Promise<{ readonly key: string; readonly expires_at: string }> | undefined
  const make = () => {
    const made = dataOf(
      client.POST('/api/v1/user/user/session-key', { params: { header: actingFor(organisation) } }),
    )
    held = made
    // Whoever waits for it is told; the next call tries again.
    made.catch(() => {
      if (held === made) held = undefined
    })
    return made
  }
  const current = async (): Promise<string> => {
    const found = await (held ?? make())
    const isFresh = Date.parse(found.expires_at) - Date.now() > MARGIN_MS
    return isFresh ? found.key : (await make()).key
  }
  return async (path, init = {}) => {
    const ask = (key: string): Promise<Response> =>
      window.fetch(path, {
        ...init,
        credentials: 'omit',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      })
    const response = await ask(await current())
    return response.status === REFUSED ? ask((await make()).key) : response
  }
}
