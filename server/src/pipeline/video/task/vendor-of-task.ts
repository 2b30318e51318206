import type { VideoTask } from '../../../core/video/task.ts'
import { findResponseVendor } from '../../background/response-vendor.ts'
import type { Pipeline } from '../../context.ts'
import { type OpenTask, openTask } from '../order/open-task.ts'
import type { FoundTaskVendor } from './task-dialect.ts'
import { findVideoVendor, type FoundVendor } from './video-vendor.ts'

/** The vendor of the task, with the credential it was created with: tasks belong to an account at the vendor. */
export async function vendorOfTask(
  pipeline: Pick<Pipeline, 'catalogue' | 'directory'>,
  { task, detail }: OpenTask,
): Promise<FoundTaskVendor> {
  const { vendorCode, byok, accountId } = task
  if (vendorCode === undefined) return NOBODY
  const question = { vendorCode, byok, accountId, credentialId: detail.credentialId }
  switch (task.kind) {
    case 'video':
      return findVideoVendor(pipeline, question)
    case 'response':
      return findResponseVendor(pipeline, { ...question, forwardModelId: detail.forwardModelId })
  }
}

/** The vendor of a video task, with all requests about it. */
export async function videoVendorOfTask(
  pipeline: Pick<Pipeline, 'catalogue' | 'directory'>,
  task: VideoTask,
): Promise<FoundVendor> {
  const { vendorCode, byok, accountId } = task
  if (vendorCode === undefined) return NOBODY
  const { credentialId } = openTask(task).detail
  return findVideoVendor(pipeline, { vendorCode, byok, accountId, credentialId })
}

const NOBODY = { kind: 'missing', reason: 'no vendor has it' } as const
