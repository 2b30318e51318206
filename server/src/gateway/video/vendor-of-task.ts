import type { Gateway } from '../gateway.ts'
import type { OpenTask } from './open-task.ts'
import { findVideoVendor, type FoundVendor } from './video-vendor.ts'

/** Who has the task, with the credential it was created with: tasks belong to an account of the vendor's. */
export async function vendorOfTask(gateway: Gateway, { task, detail }: OpenTask): Promise<FoundVendor> {
  const { vendorCode, byok, accountId } = task
  if (vendorCode === undefined) return { kind: 'missing', reason: 'no vendor has it' }
  return findVideoVendor(gateway, { vendorCode, byok, accountId, credentialId: detail.credentialId })
}
