/**
 * Where POSTs wait for their tasks: an entry in a map each, without a timer or a query. They are told by whoever moves the
 * task in this process, and by announcements of the store when another instance does.
 */
import type { VideoTask } from '../../../core/video/task.ts'

/** `gone`: the record is not there any more, and nothing more will be heard of it. */
export type Listener = (present: VideoTask | 'gone') => void

export interface WaitingCalls {
  /** Told of every change a client may see, until the returned function is called. */
  wait(taskId: string, listener: Listener): () => void
  tell(task: VideoTask): void
  tellGone(taskId: string): void
  has(taskId: string): boolean
  readonly ids: readonly string[]
  readonly size: number
}

export function createWaitingCalls(): WaitingCalls {
  const listeners = new Map<string, Set<Listener>>()
  // One that leaves meanwhile changes the set, which its iteration allows.
  const tellAll = (taskId: string, present: VideoTask | 'gone'): void => {
    for (const listener of listeners.get(taskId) ?? []) listener(present)
  }
  return {
    wait(taskId, listener) {
      const others = listeners.get(taskId) ?? new Set()
      listeners.set(taskId, others.add(listener))
      return () => {
        others.delete(listener)
        if (others.size === 0 && listeners.get(taskId) === others) listeners.delete(taskId)
      }
    },
    tell: (task) => tellAll(task.id, task),
    tellGone: (taskId) => tellAll(taskId, 'gone'),
    has: (taskId) => listeners.has(taskId),
    get ids() {
      return [...listeners.keys()]
    },
    get size() {
      return listeners.size
    },
  }
}
