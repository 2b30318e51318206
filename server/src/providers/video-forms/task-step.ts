import type { JsonValue } from '../../core/json.ts'
import type { TaskReply, TaskStep } from '../provider.ts'
import { taskWord } from './progress.ts'

/** What a status word says of a task; `next`: where it is asked about. In its first answer it was ordered, whatever is said of it. */
export function taskStep(
  word: JsonValue | undefined,
  asked: TaskReply['asked'],
  next: Exclude<TaskStep, string>,
): TaskStep {
  switch (taskWord(word)) {
    case 'done':
    case 'failed':
      return 'over'
    case 'queued':
    case 'in_progress':
      return next
    case 'cancelled':
    case 'expired':
    case undefined:
      return asked === undefined ? next : 'unclear'
  }
}
