/** The text form of announcements between instances, and their listeners. */
import { accountId, chainId } from '../../core/ids.ts'
import { isJsonObject, type JsonValue } from '../../core/json.ts'
import { parseStored } from './stored-json.ts'
import type { Announcement } from '../announcement.ts'
import type { StorageLog } from './engine.ts'

export function encodeAnnouncement(change: Announcement): string {
  return JSON.stringify(change)
}

/** An unknown announcement of a newer or older instance means "anything may have changed". */
export function decodeAnnouncement(body: string): Announcement {
  const value = parseStored<JsonValue>(body)
  if (!isJsonObject(value)) return { kind: 'everything' }
  if (value['kind'] === 'catalogue') return { kind: 'catalogue' }
  if (value['kind'] === 'key' && typeof value['hash'] === 'string') {
    return { kind: 'key', hash: value['hash'] }
  }
  if (value['kind'] === 'account' && typeof value['accountId'] === 'string') {
    return { kind: 'account', accountId: accountId(value['accountId']) }
  }
  if (value['kind'] === 'video' && typeof value['id'] === 'string') {
    return { kind: 'video', id: value['id'] }
  }
  if (value['kind'] === 'chain' && typeof value['chainId'] === 'number') {
    return { kind: 'chain', chainId: chainId(value['chainId']) }
  }
  return { kind: 'everything' }
}

type Listener = (change: Announcement) => void

export class Subscribers {
  readonly #log: StorageLog
  readonly #listeners = new Set<Listener>()

  constructor(log: StorageLog) {
    this.#log = log
  }

  add(listener: Listener): () => void {
    // Wrapped, so that a function added twice is called twice and removed one at a time.
    const own: Listener = (change) => listener(change)
    this.#listeners.add(own)
    return () => {
      this.#listeners.delete(own)
    }
  }

  /** A listener that throws must not hide the change from the others, or fail the write it announces. */
  tell(change: Announcement): void {
    for (const listener of this.#listeners) {
      try {
        listener(change)
      } catch (error) {
        this.#log.warn({ error, change }, 'a listener for storage changes failed')
      }
    }
  }
}
