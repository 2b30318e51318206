/** What an instance keeps for videos between calls: waiting clients, creations in progress, the poller, the link signer. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { VideoTask } from '../../core/video/task.ts'
import { LRUCache } from 'lru-cache'
import type { CredentialSecret } from '../../core/catalogue.ts'
import { FILE_PATH } from '../kinds/video.ts'

export interface VideoSettings extends LinkSettings {
  /** Longest wait for a vendor, ms. */
  readonly deadlineMs: number
  /** A background response is cancelled after this time, ms. */
  readonly backgroundDeadlineMs: number
  /** Factor for the waits that vendors advise; 1 outside of tests. */
  readonly pace: number
}

export interface Videos {
  readonly settings: VideoSettings
  readonly waiting: WaitingCalls
  readonly poller: Poller
  /** Aborted when this instance stops: long fetches are left to other instances. */
  readonly stopping: AbortController
  readonly links: LinkSigner
  readonly pauses: Pauses
  /** Tasks whose create call is in progress here; no other code changes them. */
  readonly creating: Set<string>
  /** Tasks of this process whose client has disconnected. */
  readonly clientsGone: Set<string>
  /** Orders with an `Idempotency-Key` that are being written just now, by key; the next with the same one waits. */
  readonly writing: Map<string, Promise<void>>
}

/** The poller's interface for other modules. */
export interface Poller {
  /** From here on due tasks are worked on. */
  start(): void
  /** A task will be due at that time, so the timer must not be set later. */
  expect(dueAt: number): void
  /** Leases the tasks due now and starts on them; resolves when they are leased. */
  beat(): Promise<void>
  /** Takes no more tasks; resolves when those in progress have finished their present step. */
  stop(): Promise<void>
  /** Whether this instance is working on the task now: it then notices by itself if another instance ends it. */
  holds(taskId: string): boolean
}

/** `gone`: the record was removed, and there will be no further notification. */
export type Listener = (present: VideoTask | 'gone') => void

/**
 * Where POSTs wait for their tasks: an entry in a map each, without a timer or a query. They are notified by the code
 * that changes the task in this process, and by announcements of the store if another instance does.
 */
export interface WaitingCalls {
  /** Called for every change a client may see, until the returned function is called. */
  wait(taskId: string, listener: Listener): () => void
  tell(task: VideoTask): void
  notifyGone(taskId: string): void
  has(taskId: string): boolean
  readonly ids: readonly string[]
  readonly size: number
}

export function createWaitingCalls(): WaitingCalls {
  const listeners = new Map<string, Set<Listener>>()
  // A listener may be removed meanwhile; iterating a set allows that.
  const notifyAll = (taskId: string, present: VideoTask | 'gone'): void => {
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
    tell: (task) => notifyAll(task.id, task),
    notifyGone: (taskId) => notifyAll(taskId, 'gone'),
    has: (taskId) => listeners.has(taskId),
    get ids() {
      return [...listeners.keys()]
    },
    get size() {
      return listeners.size
    },
  }
}

/**
 * The time until which a vendor wants no polls with a credential: all tasks of that credential wait, not only the one
 * that got the answer.
 */
export interface Pauses {
  put(credential: CredentialSecret, until: number): void
  /** Epoch ms; 0: it may be polled. */
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
 * The gateway's links to stored bytes: signed with a key derived from the instance's secret, valid until they expire,
 * and served without an API key, so that players, browsers and vendors can follow them
 * (docs/reference/contract.md#D-video-16, #D-video-17).
 */
export interface LinkSigner {
  /** An absolute address of the blob, valid until `expiresAt` (epoch ms). */
  sign(blob: string, expiresAt: number): string
  /** Whether the link was made here and is still valid. */
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
