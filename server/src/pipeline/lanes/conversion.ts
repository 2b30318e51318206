/** What both forms of a converted answer share. */
import type { Meter } from '../../core/metering/meter.ts'
import type { Protocol, ReplyContext } from '../../core/protocols/protocol.ts'
import type { AnswerTask, TaskResult } from './threads/work.ts'

export interface Conversion {
  readonly client: Protocol
  readonly upstream: Protocol
  readonly meter: Meter
  /** Stop sequences the upstream cannot take: the answer is cut at them here. */
  readonly cutAt: readonly string[]
  /** The client may continue from the answer. */
  readonly keeps: boolean
  /** Runs in a thread what would take too long here. */
  readonly far: (task: AnswerTask) => Promise<TaskResult>
  /** Asked before an answer of so many bytes is parsed on this thread. */
  readonly turn: (bytes: number) => Promise<void> | undefined
  /** Runs something after everybody else has had a turn. */
  readonly nextTurn: (go: () => void) => void
  readonly context: ReplyContext
}
