/**
 * Where POSTs wait for their tasks: an entry in a map each, without a timer or a query. They are told by whoever moves the
 * task in this process, and by announcements of the store when another instance does.
 */
import type { VideoTask } from '../../core/video/task.ts'

export type Listener = (task: VideoTask) => void

export interface WaitingRoom {
  /** Told of every change a client may see, until the returned function is called. */
  wait(taskId: string, listener: Listener): () => void
  tell(task: VideoTask): void
  has(taskId: string): boolean
  readonly ids: readonly string[]
  readonly size: number
}

export function createWaitingRoom(): WaitingRoom {
  const listeners = new Map<string, Set<Listener>>()
  return {
    wait(taskId, listener) {
      const others = listeners.get(taskId) ?? new Set()
      listeners.set(taskId, others.add(listener))
      return () => {
        others.delete(listener)
        if (others.size === 0 && listeners.get(taskId) === others) listeners.delete(taskId)
      }
    },
    tell(task) {
      // One that leaves meanwhile changes the set, which its iteration allows.
      for (const listener of listeners.get(task.id) ?? []) listener(task)
    },
    has: (taskId) => listeners.has(taskId),
    get ids() {
      return [...listeners.keys()]
    },
    get size() {
      return listeners.size
    },
  }
}
