/** What an instance remembers about videos between calls: who waits, what is being created, who polls. */
import { createLinkSigner, type LinkSettings, type LinkSigner } from './answer/links.ts'
import { createPauses, type Pauses } from './task/pauses.ts'
import { createPoller, type Poller } from './task/poller.ts'
import { createWaitingCalls, type WaitingCalls } from './answer/waiting-calls.ts'

export interface VideoSettings extends LinkSettings {
  /** Nobody waits longer for a vendor, ms. */
  readonly deadlineMs: number
  /** A background response is cancelled then, ms. */
  readonly backgroundDeadlineMs: number
  /** What vendors advise is waited this many times as long; 1 outside of tests. */
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

export function createVideos(settings: VideoSettings, now: () => number): Videos {
  return {
    settings,
    waiting: createWaitingCalls(),
    poller: createPoller(),
    stopping: new AbortController(),
    links: createLinkSigner(settings),
    pauses: createPauses(now),
    creating: new Set(),
    clientsGone: new Set(),
    writing: new Map(),
  }
}
