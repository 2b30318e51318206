/** What one attempt is made of, and how its request leaves. */
import type { CredentialSecret, Timeouts } from '../../core/catalogue.ts'
import type { Auth } from '../../core/http-request.ts'
import type { CallId, ForwardModelId } from '../../core/ids.ts'
import type { MeterReading } from '../../core/metering/meter.ts'
import type { ExtrasWatch } from '../../core/passthrough/extras-watch.ts'
import type { Dialect, FormedRequest } from '../../providers/provider.ts'
import { playOffline } from '../../upstream/connect/offline.ts'
import type { Timers } from '../../upstream/timers.ts'
import type { Upstream, UpstreamExchange, UpstreamSink } from '../../upstream/upstream.ts'
import type { Lane } from '../lanes/lane.ts'
import type { Pulse } from '../instance/pulse.ts'
import type { ClientReply } from '../reply.ts'

export interface ExchangeOptions {
  readonly upstream: Pick<Upstream, 'open'>
  /** Answers instead of a network, where the dialect has it. */
  readonly offline: Dialect['respond']
  readonly forwardModelId: ForwardModelId
  readonly callId: CallId
  readonly requestId: string
  readonly request: FormedRequest
  readonly auth: Auth
  readonly framing: Dialect['framing']
  readonly credential: CredentialSecret
  readonly timeouts: Timeouts
  readonly minBytesPerSecond: number
  readonly lane: Lane
  /** Reads off the answer what costs extra; undefined: the model has no price for any of it. */
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
  /** Something of our own broke; the exchange goes on as well as it can. */
  readonly onError: (error: unknown) => void
}

/** Over the network, or from a provider that answers without one. */
export function openUpstream(options: ExchangeOptions, sink: UpstreamSink): UpstreamExchange {
  const { lane } = options
  if (options.offline !== undefined) {
    const answer = options.offline({
      operation: options.stream ? 'stream' : 'generate',
      forwardModelId: options.forwardModelId,
      body: lane.body,
      id: options.callId,
      at: options.now(),
    })
    return playOffline(answer, sink)
  }
  const call = {
    request: options.request,
    auth: options.auth,
    credential: options.credential,
    body: lane.body,
    bodyLength: lane.bodyLength,
    timeouts: options.timeouts,
    minBytesPerSecond: options.minBytesPerSecond,
  }
  return options.upstream.open(
    options.framing === undefined ? call : { ...call, framing: options.framing },
    sink,
  )
}
