/** The states of an exchange, the events, and the reactions: the one table that `exchange.ts` follows. */
export type State =
  /** The request is on its way; nothing of an answer has come. */
  | 'waiting'
  /** The upstream refuses; its words are collected. */
  | 'refused'
  /** Held back: nothing meaningful has come yet. */
  | 'opening'
  /** Complete, and being converted for the client in a thread. */
  | 'converting'
  /** Reaches the client. */
  | 'answering'
  /** The upstream told its own failure inside the answer; what it still sends is passed on, nothing is added. */
  | 'told'
  /** The client has gone; the upstream is read on for its usage, and nothing is kept. Its head may not have come. */
  | 'left'
  /** Likewise complete, and what it used is looked for in a thread. */
  | 'counting'
  /** Complete, for the client and for the charge; the connection is given a moment to end by itself. */
  | 'lingering'
  | 'over'

/** What follows each event in a state. `nothing`: it comes too late, or too early, to change anything. */
interface Reactions {
  /** The head of the upstream's answer. */
  readonly head: 'open' | 'open-unheard' | 'nothing'
  /** A piece of its body. */
  readonly data: 'collect' | 'hold' | 'pass' | 'count' | 'nothing'
  /** The upstream has closed its answer in an orderly way. */
  readonly end: 'lacks-answer' | 'refuse' | 'finish' | 'finish-unheard' | 'let-go' | 'nothing'
  /** The connection to the upstream broke or fell silent, or its answer tells of an error or cannot be read. */
  readonly failure: Interrupted
  /** The answer has not begun in time. */
  readonly deadline: Interrupted
  /** The gateway stops. */
  readonly stop: Interrupted
  /** Something inside the gateway failed. */
  readonly fault: Interrupted
  /** The client has gone. */
  readonly gone: Interrupted
}

/** The unplanned events, each with its own wording for the same few ends. */
export type Interruption = 'failure' | 'deadline' | 'stop' | 'fault' | 'gone'

/**
 * `end-unheard`: nothing has reached the client, and another chain may still answer where the verdict lets it.
 * `break-off`: the client that reads is told. `end-told`: it has been told by the upstream. `read-on`: what the upstream makes
 * is still paid for. `end-left`: that ends. `leave-told`: the client heard of the failure, and has gone. `let-go`: all is
 * done but the connection.
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
  // The upstream has said all: neither a deadline nor a stop takes away what it made, and who has gone is seen at its end.
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
  // As little taken away by a stop as what is converted.
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
