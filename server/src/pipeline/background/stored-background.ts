/** How a background response is shown: its record, never the upstream's present state. */
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { JsonObject } from '../../core/json.ts'
import type { VideoTask } from '../../core/video/task.ts'
import type { StoredTurn } from '../../storage/stores/turns.ts'
import type { Pipeline } from '../context.ts'
import { sharedText } from '../lanes/threads/shared-text.ts'
import { ANSWER_NAME } from './answer-name.ts'
import { shownFailed, shownRunning } from './response-object.ts'

/** The task of a response that is made in the background; undefined: it is not one, or its record was removed. */
export async function taskOfTurn(
  pipeline: Pick<Pipeline, 'storage'>,
  { content }: StoredTurn,
): Promise<VideoTask | undefined> {
  const background = content.kind === 'upstream' ? content.background : undefined
  return background === undefined ? undefined : pipeline.storage.videos.read(background.taskId)
}

/** It has an answer that was charged. */
export function endedWell({ phase, status, lastAnswer, state }: VideoTask): boolean {
  const complete = lastAnswer === 'completed' || lastAnswer === 'incomplete'
  return phase === 'ended' && status === 'completed' && typeof state[ANSWER_NAME] === 'string' && complete
}

/** Characters; a longer text is written a piece at a time. */
const WRITTEN_AT_ONCE = 262_144

/**
 * The present response object; of an ended one, the bytes of its JSON. An answer is only shown once its charge is
 * stored: the answer's name is written to the record in the same transaction.
 */
export async function shownBackground(
  pipeline: Pick<Pipeline, 'storage' | 'now'>,
  task: VideoTask,
  shown: JsonObject,
): Promise<JsonObject | Uint8Array> {
  if (task.phase !== 'ended') {
    return shownRunning(shown, task.status === 'in_progress' ? 'in_progress' : 'queued')
  }
  const name = task.state[ANSWER_NAME]
  if (typeof name !== 'string') {
    const { message = 'the response was abandoned' } = task.error ?? {}
    return shownFailed(shown, { code: 'server_error', message })
  }
  const kept = await pipeline.storage.turns.find(task.keyId, name, pipeline.now())
  if (kept?.content.kind !== 'kept')
    throw new GatewayError(40400, { message: 'the response is not kept any more' })
  const { body } = kept.content
  return body.length <= WRITTEN_AT_ONCE ? Buffer.from(body) : sharedText(body)
}
