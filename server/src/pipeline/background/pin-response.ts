import type { JsonObject } from '../../core/json.ts'
import type { VideoTask } from '../../core/video/task.ts'
import type { ReservedCall } from '../call.ts'
import { upstreamAccountOf } from '../attempt/dialect.ts'
import type { Pipeline } from '../context.ts'
import type { Leg } from '../attempt/leg.ts'

/**
 * Lets the client find its response, and continue from it once it is finished. Written before the task knows the
 * upstream's id, so that no answer is charged that the client cannot read.
 */
export async function pinResponse(
  pipeline: Pick<Pipeline, 'storage'>,
  call: Pick<ReservedCall, 'scan' | 'past'>,
  {
    task,
    leg,
    response,
    id,
  }: {
    readonly task: VideoTask
    readonly leg: Leg
    readonly response: JsonObject
    readonly id: string
  },
): Promise<void> {
  const { turns } = pipeline.storage
  const { keyId, createdAt, expiresAt } = task
  const { modelId } = leg.model
  await turns.put([
    {
      keyId,
      responseId: id,
      previousId: call.scan.previousResponseId,
      modelId,
      createdAt,
      expiresAt,
      content: {
        kind: 'upstream',
        place: upstreamAccountOf(leg),
        chainId: leg.chain.id,
        background: { taskId: task.id, shown: { ...response, model: modelId, output: [], usage: null } },
      },
    },
  ])
  const history = call.past?.ids ?? []
  if (history.length > 0) await turns.extend(keyId, history, expiresAt)
}
