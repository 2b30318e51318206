/** What an instance remembers about videos between calls: who waits, what is being created, who polls. */
import { type LinkSettings, type LinkSigner } from './answer/links.ts'
import { type Pauses } from './task/pauses.ts'
import { type WaitingCalls } from './answer/waiting-calls.ts'

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

/** What looks after tasks that are due, as the others see it. */
export interface Poller {
  /** From here on due tasks are looked at. */
  start(): void
  /** A task will be due then: the clock need not be set later. */
  expect(dueAt: number): void
  /** Looks at what is due now; resolves when it is leased. */
  beat(): Promise<void>
  /** Takes no more tasks; resolves when those under way are done with their present step. */
  stop(): Promise<void>
  /** Whether this instance moves the task just now: then it finds out by itself when somebody else ends it. */
  holds(taskId: string): boolean
}
