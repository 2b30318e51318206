/** What an exchange needs. */
import type { MeterReading } from '../../core/metering/meter.ts'
import type { ExtrasWatch } from '../../core/passthrough/extras-watch.ts'
import type { Timers } from '../../upstream/timers.ts'
import type { GuardedSink, UpstreamExchange } from '../../upstream/upstream.ts'
import type { Pulse } from '../instance/pulse.ts'
import type { Lane } from '../lanes/lane.ts'
import type { ClientReply } from '../reply.ts'

export interface ExchangeOptions {
  /** Sends the lane's request; its result goes to the sink. */
  send(sink: GuardedSink): UpstreamExchange
  readonly requestId: string
  readonly lane: Lane
  /** Reads the extras that cost money from the answer; undefined: the model has no price for any of it. */
  readonly extras: ExtrasWatch | undefined
  /** Header in which the vendor reports the tier of an answer. */
  readonly tierHeader: string | undefined
  readonly stream: boolean
  readonly reply: ClientReply
  /** Called when the answer begins: what the call adds to its headers. */
  addHeaders(headers: Record<string, string>): void
  readonly pulse: Pulse
  readonly timers: Pick<Timers, 'set'>
  /** Epoch ms. */
  now(): number
  /**
   * Called once, when the client disconnects: how long the upstream is still read, ms; 0: it is cut at once.
   * @param begun its answer has begun
   */
  graceMs(begun: boolean): number
  /** Once, when an answer that was read without its client has ended. */
  onDrainEnd(): void
  /** Called at most once a second while the answer streams and has grown. */
  onProgress(reading: MeterReading, answerBytes: number): void
  /** Once, when the answer begins to reach the client. */
  onCommit(): void
  /** Once, when the client has disconnected from a request that was sent. */
  onClientGone(reading: MeterReading, answerBytes: number): void
  /** Something inside the gateway failed; the exchange continues as well as it can. */
  onError(error: unknown): void
}
