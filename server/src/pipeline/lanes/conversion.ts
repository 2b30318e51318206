/** What the two kinds of converted answers (whole and streamed) share. */
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
  /** Runs in a thread what would take too long on this one. */
  readonly far: (task: AnswerTask) => Promise<TaskResult>
  /** Called before an answer of this many bytes is parsed on this thread. */
  readonly turn: (bytes: number) => Promise<void> | undefined
  /** Runs something after other pending work. */
  readonly nextTurn: (go: () => void) => void
  readonly context: ReplyContext
}
