/** Listens to other instances' announcements, over its own connection, which reconnects by itself. */
import pg from 'pg'
import { isJsonObject, type JsonValue } from '../../core/json.ts'
import { decodeAnnouncement, encodeAnnouncement } from '../sql/announcement.ts'
import type { StorageLog } from '../sql/engine.ts'
import { parseStored } from '../sql/stored-json.ts'
import type { Announcement } from '../announcement.ts'

export const CHANNEL = 'sluice_changes'
/** A silently dead connection is noticed by polling. */
const CHECK_INTERVAL_MS = 5_000
const RECONNECT_MIN_MS = 100
const RECONNECT_MAX_MS = 2_000

export interface ListenerOptions {
  readonly config: pg.ClientConfig
  /** Announcements of this origin are the process's own. */
  readonly origin: string
  readonly hear: (change: Announcement) => void
  readonly log: StorageLog
}

export function encodeNotice(origin: string, change: Announcement): string {
  return JSON.stringify({ origin, body: encodeAnnouncement(change) })
}

export class Listener {
  readonly #options: ListenerOptions
  #client: pg.Client | undefined
  #timer: NodeJS.Timeout | undefined
  #delayMs = RECONNECT_MIN_MS
  #closed = false

  constructor(options: ListenerOptions) {
    this.#options = options
  }

  /** Rejects when the first connection fails; later ones are tried until they succeed. */
  async open(): Promise<void> {
    const client = new pg.Client(this.#options.config)
    client.on('error', (error) => this.#lose(client, error))
    client.on('end', () => this.#lose(client, new Error('the connection ended')))
    client.on('notification', ({ payload }) => this.#hear(payload))
    this.#client = client
    try {
      await client.connect()
      await client.query(`listen ${CHANNEL}`)
    } catch (error) {
      // Not `#lose`: the opener decides about retries.
      this.#client = undefined
      await endQuietly(client)
      throw error
    }
    this.#delayMs = RECONNECT_MIN_MS
    this.#later(CHECK_INTERVAL_MS, () => this.#check(client))
  }

  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    const client = this.#client
    this.#client = undefined
    if (client !== undefined) await endQuietly(client)
  }

  #hear(payload: string | undefined): void {
    const notice: JsonValue = payload === undefined ? null : parseStored<JsonValue>(payload)
    if (!isJsonObject(notice) || typeof notice['body'] !== 'string') {
      this.#options.hear({ kind: 'everything' })
    } else if (notice['origin'] !== this.#options.origin) {
      this.#options.hear(decodeAnnouncement(notice['body']))
    }
  }

  async #check(client: pg.Client): Promise<void> {
    try {
      await client.query('select 1')
      if (this.#client === client) this.#later(CHECK_INTERVAL_MS, () => this.#check(client))
    } catch (error) {
      this.#lose(client, error)
    }
  }

  #lose(client: pg.Client, error: unknown): void {
    if (this.#client !== client) return
    this.#client = undefined
    this.#options.log.warn({ error }, 'the connection for announcements was lost')
    this.#later(this.#delayMs, async () => {
      await endQuietly(client)
      await this.#reopen()
    })
  }

  async #reopen(): Promise<void> {
    try {
      await this.open()
      // Announcements made meanwhile were missed.
      this.#options.hear({ kind: 'everything' })
    } catch {
      // The loss was reported already; retried until it succeeds.
      this.#delayMs = Math.min(this.#delayMs * 2, RECONNECT_MAX_MS)
      this.#later(this.#delayMs, () => this.#reopen())
    }
  }

  #later(delayMs: number, work: () => Promise<void>): void {
    if (this.#closed) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      work().catch((error: unknown) =>
        this.#options.log.warn({ error }, 'listening for announcements failed'),
      )
    }, delayMs)
    this.#timer.unref()
  }
}

/** Ending a broken connection may fail; it is closed either way. */
async function endQuietly(client: pg.Client): Promise<void> {
  await client.end().catch(() => undefined)
}
