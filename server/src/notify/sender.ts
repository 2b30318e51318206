/** Senders of messages, and their dependencies. */
import type { Secret } from '../core/secret.ts'
import type { Upstream } from '../upstream/upstream.ts'
import type { Log } from '../telemetry/log.ts'

export interface MessengerOptions {
  readonly smtpUrl: Secret | undefined
  readonly mailFrom: string | undefined
  readonly smsUrl: Secret | undefined
  readonly upstream: Pick<Upstream, 'open'>
  readonly log: Log
  /** Epoch ms. */
  readonly now: () => number
}

/** The sender of one channel. */
export interface Sender<Sent> {
  send(message: Sent): Promise<void>
  /** Absent: nothing can be checked without sending. */
  verify?(): Promise<void>
  close(): Promise<void>
}
