import type { VideoTask } from '../../../core/video/task.ts'
import type { Pipeline } from '../../context.ts'
import { pollTimeouts, sendToVendor } from '../order/send-to-vendor.ts'
import { openTask } from '../order/open-task.ts'
import { contextOf, type FoundVendor } from '../task/video-vendor.ts'

/** A new link for a finished task whose link has expired, if the vendor gives one. */
export async function renewLink(
  pipeline: Pick<Pipeline, 'now' | 'upstream'>,
  task: VideoTask,
  vendor: FoundVendor,
): Promise<string | undefined> {
  const { forwardModelId } = openTask(task).detail
  if (vendor.kind === 'missing' || forwardModelId === undefined) return undefined
  const context = contextOf(vendor, { id: task.id, state: task.state, forwardModelId })
  const question = vendor.dialect.renew?.(context)
  if (question === undefined) return undefined
  const answer = await sendToVendor(pipeline, vendor, {
    taskId: task.id,
    request: question,
    timeouts: pollTimeouts(vendor.vendor.timeouts),
  })
  if (answer.kind === 'broken' || answer.reply.status < 200 || answer.reply.status > 299) return undefined
  const step = vendor.dialect.step(answer.reply, context)
  return step.kind === 'done' && step.result.kind === 'link' ? step.result.url : undefined
}
