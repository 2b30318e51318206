import type { VideoTask } from '../../core/video/task.ts'
import { findResponseVendor } from '../background/response-vendor.ts'
import type { Gateway } from '../gateway.ts'
import { type OpenTask, openTask } from './open-task.ts'
import type { FoundTaskVendor } from './task-dialect.ts'
import { findVideoVendor, type FoundVendor } from './video-vendor.ts'

/** Who has the task, with the credential it was created with: tasks belong to an account of the vendor's. */
export async function vendorOfTask(gateway: Gateway, { task, detail }: OpenTask): Promise<FoundTaskVendor> {
  const { vendorCode, byok, accountId } = task
  if (vendorCode === undefined) return NOBODY
  const question = { vendorCode, byok, accountId, credentialId: detail.credentialId }
  switch (task.kind) {
    case 'video':
      return findVideoVendor(gateway, question)
    case 'response':
      return findResponseVendor(gateway, { ...question, forwardModelId: detail.forwardModelId })
  }
}

/** Who made a video, with everything its vendor can be asked about it. */
export async function videoVendorOfTask(gateway: Gateway, task: VideoTask): Promise<FoundVendor> {
  const { vendorCode, byok, accountId } = task
  if (vendorCode === undefined) return NOBODY
  const { credentialId } = openTask(task).detail
  return findVideoVendor(gateway, { vendorCode, byok, accountId, credentialId })
}

const NOBODY = { kind: 'missing', reason: 'no vendor has it' } as const
