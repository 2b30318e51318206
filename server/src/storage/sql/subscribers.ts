/** Who wants to hear of changes. */
import type { StorageLog } from './engine.ts'
import type { Announcement } from '../announcement.ts'

type Listener = (change: Announcement) => void

export class Subscribers {
  readonly #log: StorageLog
  readonly #listeners = new Set<Listener>()

  constructor(log: StorageLog) {
    this.#log = log
  }

  add(listener: Listener): () => void {
    // A wrapper of its own: the same function added twice is told twice and removed one at a time.
    const own: Listener = (change) => listener(change)
    this.#listeners.add(own)
    return () => {
      this.#listeners.delete(own)
    }
  }

  /** A listener that throws must not keep the change from the others, nor fail the write it tells of. */
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
