/**
 * An order that was sent and got no answer is searched for if the vendor supports look-ups by the gateway's id, and is
 * never sent again. If the vendor does not, or nothing is found in time, the task has failed
 * (docs/reference/contract.md#D-video-22, #D-video-23).
 */
import type { VideoTaskError } from '../../../core/video/task.ts'
import { encodeRequest } from '../../../core/video/task-detail.ts'
import { encodeBytes, waitMs, type ApplyStepParts } from './apply-step.ts'
import { endFailed } from './end-task.ts'
import { type OpenTask, changeTask } from '../order/open-task.ts'
import { vendorOfTask } from './vendor-of-task.ts'
import { contextOf } from './video-vendor.ts'

/** Vendors list a task within seconds of accepting it. */
const SEARCH_MS = 120_000
const EVERY_MS = 10_000

export async function beginSearch(
  pipeline: ApplyStepParts,
  open: OpenTask,
  error: VideoTaskError,
): Promise<void> {
  const { task, detail } = open
  const vendor = await vendorOfTask(pipeline, open)
  const { forwardModelId } = detail
  const question =
    vendor.kind === 'missing' || forwardModelId === undefined
      ? undefined
      : vendor.dialect.find?.(contextOf(vendor, { id: task.id, state: task.state, forwardModelId }))
  if (question === undefined) return endFailed(pipeline, open, error)
  const at = pipeline.now()
  await changeTask(pipeline, open, {
    phase: 'unknown',
    next: encodeRequest(question, encodeBytes),
    // Kept in case the search finds nothing.
    error,
    failuresInRow: 0,
    dueAt: at + waitMs(pipeline, open, EVERY_MS),
    lastAnswer: 'the order got no answer',
    detail: { afterMs: EVERY_MS, searchUntil: at + Math.ceil(SEARCH_MS * pipeline.videos.settings.pace) },
  })
}
