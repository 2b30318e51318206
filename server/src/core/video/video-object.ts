/** A task as clients see it (docs/reference/contract.md#2.5): the official SDK's own shape and `url` beside it. */
import type { JsonObject } from '../json.ts'
import type { VideoTask } from './task.ts'

const MS_PER_SECOND = 1_000

/** `url`: where the finished video is; undefined before it is finished. */
export function videoObject(task: VideoTask, url: string | undefined): JsonObject {
  return {
    id: task.id,
    object: 'video',
    model: task.modelId,
    status: task.status,
    progress: task.status === 'completed' ? 100 : Math.min(99, Math.max(0, Math.floor(task.progress))),
    created_at: unixSeconds(task.createdAt),
    completed_at: task.completedAt === undefined ? null : unixSeconds(task.completedAt),
    expires_at: unixSeconds(task.expiresAt),
    seconds: task.seconds,
    size: task.size,
    prompt: task.prompt,
    url: url ?? null,
    error:
      task.status !== 'failed' || task.error === undefined
        ? null
        : { code: task.error.code, message: task.error.message },
    remixed_from_video_id: null,
  }
}

export function unixSeconds(at: number): number {
  return Math.floor(at / MS_PER_SECOND)
}
