/**
 * Outgoing calls, with explicit back-pressure and no promise per chunk. One exchange is one state machine: connecting,
 * waiting for the first byte, flowing, over.
 */
import { type SecretMask, applyAuth, maskText, openSecretMask } from './credentials/auth.ts'
import { filterBody } from './body-filter.ts'
import { asError } from '../core/errors/as-error.ts'
import { Connections, type Lease, ordinaryWay, SplitUrls, type Way } from './connect/connections.ts'
import { type FindProxy, noProxies } from './connect/find-proxy.ts'
import type { AnswerHandler, Flow } from './connect/transport.ts'
import { ReadTurns, type TurnReader } from './read-turns.ts'
import { systemTimers, type TimerHandle, type Timers } from './timers.ts'
import { TokenCache } from './credentials/token-cache.ts'
import type {
  TransportFailure,
  Upstream,
  UpstreamCall,
  UpstreamExchange,
  UpstreamHead,
  UpstreamSink,
} from './upstream.ts'
import type { BodyFilter, FilterOutput } from './filter.ts'
import type { HeaderList } from './credentials/header-list.ts'
import { codeOf } from '../core/errors/error-code.ts'

const MS_PER_SECOND = 1_000

/** A timer this late shows that the event loop was blocked. */
const HELD_UP_MS = 50

export interface UpstreamOptions {
  readonly timers?: Timers
  /** Absent: every connection is direct. */
  readonly findProxy?: FindProxy
  /** How connections are made; absent: the default. */
  readonly way?: Way
  /** What bounds each turn of reading; absent: its own. */
  readonly turns?: ReadTurns
}

export function openUpstream(options: UpstreamOptions = {}): Upstream {
  const connections = new Connections(options.way ?? ordinaryWay(options.findProxy ?? noProxies))
  return {
    open: openOver(connections, options.timers ?? systemTimers, options.turns),
    close: () => connections.close(),
  }
}

/** The same exchange over connections provided by the caller. */
export function openOver(
  connections: ConnectionSource,
  timers: Timers,
  turns = new ReadTurns(),
): Upstream['open'] {
  const open: Upstream['open'] = (call, sink) => new Sending(call, sink, room)
  const room: Room = {
    connections,
    timers,
    addresses: new SplitUrls(),
    tokens: new TokenCache((call, sink) => open(call, sink)),
    turns,
  }
  return open
}

export interface ConnectionSource {
  /** undefined: none is available. */
  take(origin: string): Lease | undefined
}

interface Room {
  readonly connections: ConnectionSource
  readonly tokens: TokenCache
  readonly timers: Timers
  readonly addresses: SplitUrls
  readonly turns: ReadTurns
}

type Phase = 'connecting' | 'waiting' | 'flowing' | 'draining' | 'over'

class Sending implements UpstreamExchange, AnswerHandler, TurnReader {
  sent = false
  turn = 0
  turnBytes = 0
  line: TurnReader['line'] = undefined
  before: TurnReader | undefined = undefined
  after: TurnReader | undefined = undefined
  readonly #call: UpstreamCall
  readonly #sink: UpstreamSink
  readonly #room: Room
  #phase: Phase = 'connecting'
  #lease: Lease | undefined
  #connection: Flow | undefined
  #filter: BodyFilter | undefined
  /** Undefined where the upstream is called without a secret. */
  #mask: SecretMask | undefined
  /** Requested by the sink's owner. */
  #paused = false
  /** Requested by the filter, whose buffer is full. */
  #filterFull = false
  /** Others read first. */
  #waits = false
  /** When the present phase began or last had activity. */
  #since: number
  /** Bytes of the answer so far, decoded. */
  #bytes = 0
  /** Start of the rate measurement, and the bytes received until then. */
  #rateSince = 0
  #rateBytes = 0
  #timer: TimerHandle | undefined
  #timerDue = Number.POSITIVE_INFINITY

  constructor(call: UpstreamCall, sink: UpstreamSink, room: Room) {
    this.#call = call
    this.#sink = sink
    this.#room = room
    this.#since = room.timers.now()
    if (call.signal !== undefined) {
      call.signal.addEventListener('abort', this.#onSignal)
      if (call.signal.aborted) {
        queueMicrotask(this.#onSignal)
        return
      }
    }
    this.#arm()
    this.#start()
  }

  pause(): void {
    this.#paused = true
    this.#room.turns.leave(this)
    this.#stop()
  }

  resume(): void {
    if (!this.#paused) return
    this.#paused = false
    // Silence and slowness count from now: the time before was the gateway's own.
    this.#since = this.#room.timers.now()
    this.#measureFrom(this.#since)
    // Deferred, because undici's parser, if it is used, may be running for another connection and is not re-entrant.
    queueMicrotask(() => {
      if (this.#paused || this.#phase === 'over') return
      this.#waits = false
      this.#enter()
      this.#filter?.resume()
      this.#flow()
    })
  }

  // The two below are called by the turns.

  wait(): void {
    this.#waits = true
    this.#stop()
  }

  continue(): void {
    this.#waits = false
    this.#filter?.resume()
    this.#flow()
  }

  abort(): void {
    this.#fail('aborted', 'aborted by the gateway')
  }

  // The six below are called by the transport.

  onRequestStart(connection: Flow): void {
    if (this.#phase === 'over') {
      connection.abort(new Error('aborted'))
      return
    }
    this.#connection = connection
    this.#phase = 'waiting'
    this.sent = true
    if (!this.#paused) this.#enter()
    this.#touch()
    this.#arm()
  }

  onRequestProgress(): void {
    this.#touch()
  }

  onResponseStart(connection: Flow, status: number, headers: UpstreamHead['headers']): void {
    // Informational heads come before the real one.
    if (status < 200 || this.#phase === 'over') return
    const filtered = filterBody({ status, headers }, this.#call.framing, this.#filterOutput())
    if (filtered.kind === 'refused') {
      this.#fail('protocol', filtered.detail)
      return
    }
    this.#filter = filtered.filter
    this.#sink.head(this.#mask === undefined ? filtered.head : this.#mask.head(filtered.head))
    if (this.#paused || this.#waits) connection.pause()
  }

  onResponseData(connection: Flow, chunk: Buffer): void {
    // undici gives an empty chunk if it is paused where one ends.
    if (this.#phase === 'over' || chunk.byteLength === 0) return
    this.#touch()
    if (this.#phase !== 'flowing') this.#beginFlowing()
    if (this.#filter === undefined) {
      this.#give(chunk)
      return
    }
    if (this.#filter.push(chunk)) return
    this.#filterFull = true
    connection.pause()
  }

  onResponseEnd(): void {
    if (this.#phase === 'over') return
    this.#connection = undefined
    this.#lease?.release()
    if (this.#filter === undefined) {
      this.#end()
      return
    }
    this.#phase = 'draining'
    this.#filter.end()
  }

  onResponseError(_connection: Flow | undefined, error: Error): void {
    this.#connection = undefined
    this.#fail(kindOfError(error, this.#phase), describeError(error))
  }

  #start(): void {
    const signed = this.#sign()
    if (!(signed instanceof Promise)) {
      this.#dispatch(signed)
      return
    }
    // The exchange is notified in either case, so there is nothing to await.
    void signed.then(
      (headers) => this.#dispatch(headers),
      (error: unknown) => this.#fail('connect', `could not sign: ${describeError(error)}`),
    )
  }

  /** A missing field of a credential is detected at once, but reported later like any other failure. */
  #sign(): HeaderList | Promise<HeaderList> {
    try {
      return applyAuth(this.#call, this.#room.tokens, this.#room.timers.epoch())
    } catch (error) {
      return Promise.reject(asError(error))
    }
  }

  #dispatch(authHeaders: HeaderList): void {
    if (this.#phase === 'over') return
    const address = this.#room.addresses.split(this.#call.request.url)
    if (address === undefined) {
      queueMicrotask(() => this.#fail('connect', 'the upstream address is not an http address'))
      return
    }
    this.#lease = this.#room.connections.take(address.origin)
    if (this.#lease === undefined) {
      queueMicrotask(() => this.#fail('connect', 'no more connections to this upstream may be opened'))
      return
    }
    this.#mask = openSecretMask(this.#call.credential, authHeaders)
    const { body, bodyLength, onBodySent } = this.#call
    const headers = [...authHeaders]
    const given = this.#call.request.headers
    for (const name in given) headers.push(name, given[name] ?? '')
    headers.push('accept-encoding', 'identity')
    if (body !== undefined && given['content-type'] === undefined)
      headers.push('content-type', 'application/json')
    const { method } = this.#call.request
    const { path } = address
    this.#lease.transport.dispatch({ method, path, headers, body, bodyLength, onBodySent }, this)
  }

  #give(chunk: Uint8Array): void {
    this.#bytes += chunk.byteLength
    this.#room.turns.count(this, chunk.byteLength)
    const bytes = this.#mask === undefined ? chunk : this.#mask.push(chunk)
    if (bytes !== undefined) this.#sink.data(bytes)
  }

  #giveRest(): void {
    const rest = this.#mask?.end()
    if (rest !== undefined) this.#sink.data(rest)
  }

  #end(): void {
    this.#giveRest()
    // The sink may have stopped the exchange.
    if (this.#over()) return
    this.#leave()
    this.#sink.end()
  }

  #over(): boolean {
    return this.#phase === 'over'
  }

  #filterOutput(): FilterOutput {
    return {
      data: (chunk) => {
        if (this.#phase !== 'over') this.#give(chunk)
      },
      drain: () => {
        this.#filterFull = false
        this.#flow()
      },
      end: () => {
        if (this.#phase !== 'over') this.#end()
      },
      fail: (detail) => this.#fail('protocol', detail),
    }
  }

  #enter(): void {
    if (this.#connection !== undefined) this.#room.turns.enter(this)
  }

  #stop(): void {
    this.#filter?.pause()
    this.#connection?.pause()
  }

  #flow(): void {
    if (!this.#paused && !this.#filterFull && !this.#waits) this.#connection?.resume()
  }

  #fail(kind: TransportFailure['kind'], detail: string): void {
    if (this.#phase === 'over') return
    const { sent } = this
    const unanswered = this.#phase === 'waiting'
    this.#leave()
    this.#connection?.abort(new Error(kind))
    this.#connection = undefined
    if (kind === 'reset' && unanswered) this.#lease?.distrust()
    else this.#lease?.discard()
    this.#filter?.destroy()
    this.#sink.fail({ kind, sent, detail: maskText(detail, this.#call.credential) })
  }

  #leave(): void {
    this.#phase = 'over'
    this.#room.turns.leave(this)
    this.#timer?.cancel()
    this.#timer = undefined
    this.#call.signal?.removeEventListener('abort', this.#onSignal)
  }

  readonly #onSignal = (): void => this.abort()

  #beginFlowing(): void {
    this.#phase = 'flowing'
    this.#measureFrom(this.#since)
    this.#arm()
  }

  #measureFrom(now: number): void {
    this.#rateSince = now
    this.#rateBytes = this.#meaningfulBytes()
  }

  #meaningfulBytes(): number {
    return this.#bytes - (this.#sink.keepAliveBytes?.() ?? 0)
  }

  #touch(): void {
    this.#since = this.#room.timers.now()
  }

  /**
   * One timer per exchange, set again only if it fires early or the next limit is nearer: a chunk costs only a clock
   * reading.
   */
  #arm(): void {
    const now = this.#room.timers.now()
    const due = this.#due()
    if (this.#timer !== undefined && this.#timerDue <= due) return
    this.#timer?.cancel()
    this.#timerDue = due
    this.#timer = this.#room.timers.set(this.#onTimer, Math.max(1, Math.ceil(due - now)))
  }

  readonly #onTimer = (): void => {
    this.#timer = undefined
    const now = this.#room.timers.now()
    const late = now - this.#timerDue
    // A sink that does not read, a busy decoder, or others that read first do not count as silence of the upstream.
    if (this.#phase === 'draining' || this.#paused || this.#filterFull || this.#waits) {
      this.#since = now
      this.#measureFrom(now)
    }
    // Nor does a delay of this process: what arrived meanwhile is in the socket and is read first.
    else if (late > HELD_UP_MS) {
      this.#since += late
      this.#rateSince += late
    }
    if (this.#ratesFrom(now) && this.#isFastEnough(now)) this.#measureFrom(now)
    if (now < this.#due()) {
      this.#arm()
      return
    }
    switch (this.#phase) {
      case 'connecting':
        this.#fail('connect', 'no connection in time')
        return
      case 'waiting':
        this.#fail('first-byte-timeout', 'no first byte in time')
        return
      case 'flowing':
      case 'draining':
        this.#fail(
          'idle-timeout',
          now < this.#since + this.#limitMs() ? 'the answer arrived too slowly' : 'the answer stalled',
        )
        return
      case 'over':
        return
    }
  }

  /** The limit that comes first: for silence, or for slowness if there is one. */
  #due(): number {
    const silent = this.#since + this.#limitMs()
    return this.#phase === 'flowing' && this.#minBytesPerSecond > 0
      ? Math.min(silent, this.#rateSince + this.#call.timeouts.idleMs)
      : silent
  }

  /** Whether the rate has been measured long enough to decide. */
  #ratesFrom(now: number): boolean {
    return this.#phase === 'flowing' && now >= this.#rateSince + this.#call.timeouts.idleMs
  }

  #isFastEnough(now: number): boolean {
    const bytes = this.#meaningfulBytes() - this.#rateBytes
    return bytes * MS_PER_SECOND >= this.#minBytesPerSecond * (now - this.#rateSince)
  }

  get #minBytesPerSecond(): number {
    return this.#call.minBytesPerSecond ?? 0
  }

  #limitMs(): number {
    const { timeouts } = this.#call
    switch (this.#phase) {
      case 'connecting':
        return timeouts.connectMs
      case 'waiting':
        return timeouts.firstByteMs
      case 'flowing':
      case 'draining':
      case 'over':
        return timeouts.idleMs
    }
  }
}

/** Errors for an answer that is not readable HTTP, or a request that would not be. */
const PROTOCOL_CODES: ReadonlySet<string> = new Set([
  'UND_ERR_HEADERS_OVERFLOW',
  'UND_ERR_INVALID_ARG',
  'UND_ERR_NOT_SUPPORTED',
  'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH',
])

/** The gateway's own error, and that of undici's parser, which does not have a usable code in every version. */
const PROTOCOL_ERRORS: ReadonlySet<string> = new Set(['HttpSyntaxError', 'HTTPParserError'])

function kindOfError(error: Error, phase: Phase): TransportFailure['kind'] {
  const code = codeOf(error) ?? ''
  if (PROTOCOL_CODES.has(code) || PROTOCOL_ERRORS.has(error.name)) return 'protocol'
  return phase === 'connecting' ? 'connect' : 'reset'
}

function describeError(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown failure'
  const code = codeOf(error)
  return code === undefined ? error.message : `${code}: ${error.message}`
}
