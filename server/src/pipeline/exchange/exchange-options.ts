/** What an exchange needs. */
import type { MeterReading } from '../../core/metering/meter.ts'
import type { ExtrasWatch } from '../../core/passthrough/extras-watch.ts'
import type { Timers } from '../../upstream/timers.ts'
import type { UpstreamExchange, UpstreamSink } from '../../upstream/upstream.ts'
import type { Pulse } from '../instance/pulse.ts'
import type { Lane } from '../lanes/lane.ts'
import type { ClientReply } from '../reply.ts'

export interface ExchangeOptions {
  /** Sends the lane's request; its result goes to the sink. */
  readonly send: (sink: UpstreamSink) => UpstreamExchange
  readonly requestId: string
  readonly lane: Lane
  /** Reads from the answer what costs extra; undefined: the model has no price for any of it. */
  readonly extras: ExtrasWatch | undefined
  /** Header in which the vendor tells the tier that an answer was made at. */
  readonly tierHeader: string | undefined
  readonly stream: boolean
  readonly reply: ClientReply
  /** Head of the answer, made when it begins. */
  readonly replyHeaders: () => Readonly<Record<string, string>>
  readonly pulse: Pulse
  readonly timers: Pick<Timers, 'set'>
  /** Runs something after everybody else has had a turn. */
  readonly nextTurn: (go: () => void) => void
  /** Epoch ms. */
  readonly now: () => number
  /** Asked once, when the client goes: ms the upstream is read on; 0: it is cut at once. */
  readonly graceMs: (answer: { readonly begun: boolean }) => number
  /** Once, when an answer that was read on has ended. */
  readonly onUnheardEnd: () => void
  /** Called at most once a second while the answer streams and has grown. */
  readonly onProgress: (reading: MeterReading, answerBytes: number) => void
  /** Once, when the answer begins to reach the client. */
  readonly onCommit: () => void
  /** Once, when the client has gone from a request that was sent. */
  readonly onLeft: (reading: MeterReading, answerBytes: number) => void
  /** Something inside the gateway failed; the exchange continues as well as it can. */
  readonly onError: (error: unknown) => void
}
