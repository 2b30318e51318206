/**
 * A finished task as a chat completion (docs/reference/contract.md#4.4): `status: 'done'` and `video.url` beside the
 * usual shape.
 */
import type { JsonObject } from '../json.ts'
import type { VideoTask } from './task.ts'
import { unixSeconds, videoObject } from './video-object.ts'

const NO_TOKENS = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }

export function videoCompletion(task: VideoTask, url: string): JsonObject {
  return {
    ...head(task, 'chat.completion'),
    status: 'done',
    video: videoOf(task, url),
    choices: [{ index: 0, message: { role: 'assistant', content: url }, finish_reason: 'stop' }],
    usage: NO_TOKENS,
  }
}

/** A progress chunk of a running task; the first one opens the message. */
export function progressChunk(task: VideoTask, place: 'first' | 'later'): JsonObject {
  return {
    ...head(task, 'chat.completion.chunk'),
    status: task.status,
    progress: Math.floor(task.progress),
    choices: [
      {
        index: 0,
        delta: place === 'first' ? { role: 'assistant', content: '' } : {},
        finish_reason: null,
      },
    ],
  }
}

/** The same body as the whole answer, as one chunk. */
export function finalChunk(task: VideoTask, url: string): JsonObject {
  return {
    ...head(task, 'chat.completion.chunk'),
    status: 'done',
    progress: 100,
    video: videoOf(task, url),
    choices: [{ index: 0, delta: { content: url }, finish_reason: 'stop' }],
    usage: NO_TOKENS,
  }
}

function head(task: VideoTask, object: string): JsonObject {
  return { id: task.id, object, created: unixSeconds(task.createdAt), model: task.modelId }
}

function videoOf(task: VideoTask, url: string): JsonObject {
  const { id, seconds, size, expires_at: expiresAt } = videoObject(task, url)
  return { id, url, seconds, size, expires_at: expiresAt }
}
