/** What an instance keeps for videos between calls: waiting clients, creations in progress, the poller, the link signer. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { VideoTask } from '../../core/video/task.ts'
import { LRUCache } from 'lru-cache'
import type { CredentialSecret } from '../../core/catalogue.ts'
import { FILE_PATH } from '../kinds/video.ts'

export interface VideoSettings extends LinkSettings {
  /** Nobody waits longer for a vendor, ms. */
  readonly deadlineMs: number
  /** A background response is cancelled then, ms. */
  readonly backgroundDeadlineMs: number
  /** Factor for the waits that vendors advise; 1 outside of tests. */
  readonly pace: number
}

export interface Videos {
  readonly settings: VideoSettings
  readonly waiting: WaitingCalls
  readonly poller: Poller
  /** Aborted when this instance stops: long fetches are left to the others. */
  readonly stopping: AbortController
  readonly links: LinkSigner
  readonly pauses: Pauses
  /** Tasks whose create call is under way here; nobody else touches them. */
  readonly creating: Set<string>
  /** Tasks of this process whose client did not wait for them. */
  readonly clientsGone: Set<string>
  /** Orders with an `Idempotency-Key` that are being written just now, by key; the next with the same one waits. */
  readonly writing: Map<string, Promise<void>>
}

/** The poller of due tasks, as other modules see it. */
export interface Poller {
  /** From here on due tasks are looked at. */
  start(): void
  /** A task will be due then, so the timer must not be set later. */
  expect(dueAt: number): void
  /** Works on what is due now; resolves when it is leased. */
  beat(): Promise<void>
  /** Takes no more tasks; resolves when those under way are done with their present step. */
  stop(): Promise<void>
  /** Whether this instance moves the task just now: then it finds out by itself when somebody else ends it. */
  holds(taskId: string): boolean
}

/** `gone`: the record is not there any more, and nothing more will be heard of it. */
export type Listener = (present: VideoTask | 'gone') => void

/**
 * Where POSTs wait for their tasks: an entry in a map each, without a timer or a query. They are told by whoever moves the
 * task in this process, and by announcements of the store when another instance does.
 */
export interface WaitingCalls {
  /** Told of every change a client may see, until the returned function is called. */
  wait(taskId: string, listener: Listener): () => void
  tell(task: VideoTask): void
  tellGone(taskId: string): void
  has(taskId: string): boolean
  readonly ids: readonly string[]
  readonly size: number
}

export function createWaitingCalls(): WaitingCalls {
  const listeners = new Map<string, Set<Listener>>()
  // One that leaves meanwhile changes the set, which its iteration allows.
  const tellAll = (taskId: string, present: VideoTask | 'gone'): void => {
    for (const listener of listeners.get(taskId) ?? []) listener(present)
  }
  return {
    wait(taskId, listener) {
      const others = listeners.get(taskId) ?? new Set()
      listeners.set(taskId, others.add(listener))
      return () => {
        others.delete(listener)
        if (others.size === 0 && listeners.get(taskId) === others) listeners.delete(taskId)
      }
    },
    tell: (task) => tellAll(task.id, task),
    tellGone: (taskId) => tellAll(taskId, 'gone'),
    has: (taskId) => listeners.has(taskId),
    get ids() {
      return [...listeners.keys()]
    },
    get size() {
      return listeners.size
    },
  }
}

/** Until when a vendor asked for no polls with a credential: all its tasks wait, not only the one that was answered so. */
export interface Pauses {
  put(credential: CredentialSecret, until: number): void
  /** Epoch ms; 0: it may be asked. */
  until(credential: CredentialSecret): number
}

/** A longer wait is a mistake of the vendor, or a quota. */
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

/**
 * Links of ours to stored bytes: signed with a key derived from the instance's secret, good until they expire, and served
 * without an API key, so that players, browsers and vendors can follow them
 * (docs/reference/contract.md#D-video-16, #D-video-17).
 */
export interface LinkSigner {
  /** An absolute address of the blob, good until `expiresAt` (epoch ms). */
  sign(blob: string, expiresAt: number): string
  /** Whether such a link was made here and still holds. */
  holds(blob: string, query: URLSearchParams, at: number): boolean
}

export interface LinkSettings {
  /** The instance's secret key: the same on every instance. */
  readonly secretKey: Uint8Array
  /** The public main address, without a trailing slash. */
  readonly publicUrl: () => string
}

const MS_PER_SECOND = 1_000

export function createLinkSigner({ secretKey, publicUrl }: LinkSettings): LinkSigner {
  const key = createHmac('sha256', secretKey).update('links to stored bytes, 1').digest()
  const signatureOf = (blob: string, expires: string): Buffer =>
    createHmac('sha256', key).update(`${blob}\n${expires}`).digest()
  return {
    sign(blob, expiresAt) {
      const expires = String(Math.floor(expiresAt / MS_PER_SECOND))
      const signature = signatureOf(blob, expires).toString('base64url')
      return `${publicUrl()}${FILE_PATH}${blob}?expires=${expires}&signature=${signature}`
    },
    holds(blob, query, at) {
      const expires = query.get('expires') ?? ''
      const given = Buffer.from(query.get('signature') ?? '', 'base64url')
      const right = signatureOf(blob, expires)
      const genuine = given.byteLength === right.byteLength && timingSafeEqual(given, right)
      return genuine && Number(expires) * MS_PER_SECOND > at
    },
  }
}
