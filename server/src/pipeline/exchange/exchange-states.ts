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
  | 'error-sent'
  /**
   * The client has disconnected; the upstream is still read for its usage, and nothing is kept. The answer's head may
   * not have arrived.
   */
  | 'draining'
  /** The same, complete; its usage is being determined in a thread. */
  | 'counting'
  /** Complete, for the client and for the charge; the connection gets a moment to end by itself. */
  | 'closing'
  | 'over'

/** The reaction to each event in a state. `nothing`: the event has no effect in this state. */
interface Reactions {
  /** The head of the upstream's answer. */
  readonly head: 'open' | 'open-draining' | 'nothing'
  /** A piece of its body. */
  readonly data: 'collect' | 'hold' | 'pass' | 'count' | 'nothing'
  /** The upstream has ended its answer cleanly. */
  readonly end: 'lacks-answer' | 'refuse' | 'finish' | 'finish-drained' | 'close' | 'nothing'
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
 * `end-unanswered`: nothing has reached the client, and another chain may still answer if the verdict allows it.
 * `break-off`: the reading client is informed. `end-sent`: the upstream has informed it. `drain`: the upstream is
 * still read, since what it makes must be paid for. `end-drain`: that reading ends. `leave-sent`: the client received
 * the failure, and has disconnected. `close`: everything is done but closing the connection.
 */
export type Interrupted =
  | 'end-unanswered'
  | 'break-off'
  | 'end-sent'
  | 'drain'
  | 'end-drain'
  | 'leave-sent'
  | 'close'
  | 'nothing'

const UNANSWERED = {
  failure: 'end-unanswered',
  deadline: 'end-unanswered',
  stop: 'end-unanswered',
  fault: 'end-unanswered',
} as const
const ANSWERED = { failure: 'break-off', deadline: 'nothing', stop: 'break-off', fault: 'break-off' } as const
const ERROR_SENT = { failure: 'end-sent', deadline: 'nothing', stop: 'end-sent', fault: 'end-sent' } as const
const SETTLED = { deadline: 'nothing', stop: 'nothing', fault: 'nothing', gone: 'nothing' } as const

export const REACTIONS: Readonly<Record<State, Reactions>> = {
  waiting: { head: 'open', data: 'nothing', end: 'lacks-answer', ...UNANSWERED, gone: 'drain' },
  refused: { head: 'nothing', data: 'collect', end: 'refuse', ...UNANSWERED, gone: 'end-unanswered' },
  opening: { head: 'nothing', data: 'hold', end: 'finish', ...UNANSWERED, gone: 'drain' },
  // The answer is complete: neither a deadline nor a stop discards it, and it is checked at its end whether the client
  // is still there.
  converting: {
    head: 'nothing',
    data: 'nothing',
    end: 'nothing',
    ...SETTLED,
    failure: 'nothing',
    fault: 'end-unanswered',
  },
  answering: { head: 'nothing', data: 'pass', end: 'finish', ...ANSWERED, gone: 'drain' },
  'error-sent': { head: 'nothing', data: 'pass', end: 'finish', ...ERROR_SENT, gone: 'leave-sent' },
  draining: {
    head: 'open-draining',
    data: 'count',
    end: 'finish-drained',
    failure: 'end-drain',
    deadline: 'end-drain',
    stop: 'end-drain',
    fault: 'end-drain',
    gone: 'nothing',
  },
  // A stop does not discard this either.
  counting: {
    head: 'nothing',
    data: 'nothing',
    end: 'nothing',
    ...SETTLED,
    failure: 'nothing',
    fault: 'end-drain',
  },
  closing: { head: 'nothing', data: 'nothing', end: 'close', ...SETTLED, failure: 'close' },
  over: { head: 'nothing', data: 'nothing', end: 'nothing', ...SETTLED, failure: 'nothing' },
}
