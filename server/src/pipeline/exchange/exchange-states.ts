/** The states of an exchange, the events, and the reactions: the one table that `exchange.ts` follows. */
export type State =
  /** The request was sent; nothing of an answer has arrived. */
  | 'waiting'
  /** The upstream refuses; the error body is collected. */
  | 'refused'
  /** Held back: nothing meaningful has arrived yet. */
  | 'opening'
  /** Complete, and being converted for the client in a thread. */
  | 'converting'
  /** The answer reaches the client. */
  | 'answering'
  /** The upstream reported its own failure inside the answer; what it still sends is passed on, nothing is added. */
  | 'told'
  /**
   * The client has disconnected; the upstream is still read for its usage, and nothing is kept. The answer's head may
   * not have arrived.
   */
  | 'left'
  /** The same, complete; its usage is being determined in a thread. */
  | 'counting'
  /** Complete, for the client and for the charge; the connection gets a moment to end by itself. */
  | 'lingering'
  | 'over'

/** The reaction to each event in a state. `nothing`: the event has no effect in this state. */
interface Reactions {
  /** The head of the upstream's answer. */
  readonly head: 'open' | 'open-unheard' | 'nothing'
  /** A piece of its body. */
  readonly data: 'collect' | 'hold' | 'pass' | 'count' | 'nothing'
  /** The upstream has ended its answer cleanly. */
  readonly end: 'lacks-answer' | 'refuse' | 'finish' | 'finish-unheard' | 'let-go' | 'nothing'
  /** The connection to the upstream broke or was silent too long, or its answer contains an error or cannot be read. */
  readonly failure: Interrupted
  /** The answer has not begun in time. */
  readonly deadline: Interrupted
  /** The gateway is stopping. */
  readonly stop: Interrupted
  /** Something inside the gateway failed. */
  readonly fault: Interrupted
  /** The client has disconnected. */
  readonly gone: Interrupted
}

/** The unplanned events; each has its own version of the same few ends. */
export type Interruption = 'failure' | 'deadline' | 'stop' | 'fault' | 'gone'

/**
 * `end-unheard`: nothing has reached the client, and another chain may still answer if the verdict allows it.
 * `break-off`: the reading client is informed. `end-told`: the upstream has informed it. `read-on`: the upstream is
 * still read, since what it makes must be paid for. `end-left`: that reading ends. `leave-told`: the client received
 * the failure, and has disconnected. `let-go`: everything is done but closing the connection.
 */
export type Interrupted =
  | 'end-unheard'
  | 'break-off'
  | 'end-told'
  | 'read-on'
  | 'end-left'
  | 'leave-told'
  | 'let-go'
  | 'nothing'

const UNHEARD = {
  failure: 'end-unheard',
  deadline: 'end-unheard',
  stop: 'end-unheard',
  fault: 'end-unheard',
} as const
const HEARD = { failure: 'break-off', deadline: 'nothing', stop: 'break-off', fault: 'break-off' } as const
const TOLD = { failure: 'end-told', deadline: 'nothing', stop: 'end-told', fault: 'end-told' } as const
const SETTLED = { deadline: 'nothing', stop: 'nothing', fault: 'nothing', gone: 'nothing' } as const

export const REACTIONS: Readonly<Record<State, Reactions>> = {
  waiting: { head: 'open', data: 'nothing', end: 'lacks-answer', ...UNHEARD, gone: 'read-on' },
  refused: { head: 'nothing', data: 'collect', end: 'refuse', ...UNHEARD, gone: 'end-unheard' },
  opening: { head: 'nothing', data: 'hold', end: 'finish', ...UNHEARD, gone: 'read-on' },
  // The answer is complete: neither a deadline nor a stop discards it, and it is checked at its end whether the client
  // is still there.
  converting: {
    head: 'nothing',
    data: 'nothing',
    end: 'nothing',
    ...SETTLED,
    failure: 'nothing',
    fault: 'end-unheard',
  },
  answering: { head: 'nothing', data: 'pass', end: 'finish', ...HEARD, gone: 'read-on' },
  told: { head: 'nothing', data: 'pass', end: 'finish', ...TOLD, gone: 'leave-told' },
  left: {
    head: 'open-unheard',
    data: 'count',
    end: 'finish-unheard',
    failure: 'end-left',
    deadline: 'end-left',
    stop: 'end-left',
    fault: 'end-left',
    gone: 'nothing',
  },
  // A stop does not discard this either.
  counting: {
    head: 'nothing',
    data: 'nothing',
    end: 'nothing',
    ...SETTLED,
    failure: 'nothing',
    fault: 'end-left',
  },
  lingering: { head: 'nothing', data: 'nothing', end: 'let-go', ...SETTLED, failure: 'let-go' },
  over: { head: 'nothing', data: 'nothing', end: 'nothing', ...SETTLED, failure: 'nothing' },
}
