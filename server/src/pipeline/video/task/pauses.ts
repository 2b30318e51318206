import { LRUCache } from 'lru-cache'
import type { CredentialSecret } from '../../../core/catalogue.ts'

/** Until when a vendor asked not to be asked over a credential: all its tasks wait, not only the one that was told. */
export interface Pauses {
  put(credential: CredentialSecret, until: number): void
  /** Epoch ms; 0: it may be asked. */
  until(credential: CredentialSecret): number
}

/** A word of the vendor's beyond this is a mistake, or a quota. */
const PAUSE_MAX_MS = 300_000
const CREDENTIALS_MAX = 10_000

export function createPauses(now: () => number): Pauses {
  const pauses = new LRUCache<CredentialSecret, number>({ max: CREDENTIALS_MAX })
  return {
    put: (credential, until) => {
      pauses.set(credential, Math.min(until, now() + PAUSE_MAX_MS))
    },
    until: (credential) => pauses.get(credential) ?? 0,
  }
}
