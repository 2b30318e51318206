/** A task somebody works on: what it carries along, and how its progress is written and told. */
import type { VideoTask, VideoTaskPatch } from '../../../core/video/task.ts'
import { type TaskDetail, decodeDetail, encodeDetail } from '../../../core/video/task-detail.ts'
import type { Pipeline } from '../../context.ts'
import { lookAgain } from '../answer/await-end.ts'
import { setTimeout as wait } from 'node:timers/promises'
import { StorageUnavailable } from '../../../storage/failures/unavailable.ts'

export type OpenTaskParts = Pick<Pipeline, 'instanceId' | 'storage' | 'videos'>

export interface OpenTask {
  readonly task: VideoTask
  readonly detail: TaskDetail
  /** The record does not hold all of `detail` yet; it goes with the next change. */
  readonly unwritten?: true
}

export function openTask(task: VideoTask): OpenTask {
  return { task, detail: decodeDetail(task.detail) }
}

export interface TaskChange extends Omit<VideoTaskPatch, 'detail'> {
  readonly detail?: Partial<TaskDetail>
}

/**
 * Writes what changed and tells who waits. undefined: the lease is another's by now, or the task has ended; then this
 * instance has no more to do with it.
 */
export async function changeTask(
  pipeline: OpenTaskParts,
  { task, detail, unwritten }: OpenTask,
  { detail: detailChange, ...change }: TaskChange,
): Promise<OpenTask | undefined> {
  const nextDetail = detailChange === undefined ? detail : { ...detail, ...detailChange }
  const patch: VideoTaskPatch = {
    ...withoutEqual(task, change),
    ...(detailChange === undefined && unwritten === undefined ? {} : { detail: encodeDetail(nextDetail) }),
  }
  const held = await pipeline.storage.videos.patch(task.id, patch, pipeline.instanceId)
  if (!held) {
    await lookAgain(pipeline, task.id)
    return undefined
  }
  const next: OpenTask = {
    task: { ...task, ...patch, detail: patch.detail ?? task.detail },
    detail: nextDetail,
  }
  if (patch.dueAt !== undefined) pipeline.videos.poller.expect(patch.dueAt)
  pipeline.videos.waiting.tell(next.task)
  return next
}

/** What a client may see is announced to every instance when it is written: what is as it was is left out. */
function withoutEqual(task: VideoTask, change: Omit<VideoTaskPatch, 'detail'>): VideoTaskPatch {
  const entries = Object.entries(change).filter(
    ([name, value]) => name === 'polls' || !(name in task) || task[name as keyof VideoTask] !== value,
  )
  return Object.fromEntries(entries)
}

const TRIES_MAX = 6
const FIRST_WAIT_MS = 50

/**
 * Repeats what must not be lost to a store that is away for a moment: an order that a vendor has taken is only found again
 * by what is written then. 50 ms, then twice as long each time, about 1.5 s in all; then it rejects as the store did.
 */
export async function whileAway<Done>(work: () => Promise<Done>): Promise<Done> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof StorageUnavailable) || tries === TRIES_MAX) throw error
      await wait(FIRST_WAIT_MS * 2 ** (tries - 1))
    }
  }
}
