import type { Integer } from './columns.ts'

export interface VideoSchema {
  video_tasks: VideoTasksTable
}

export interface VideoTasksTable {
  id: string
  kind: string
  key_id: string
  account_id: string
  call_id: string
  status: string
  phase: string
  model_id: string
  chain_id: Integer | null
  vendor_code: string | null
  byok: Integer
  state: string
  next: string | null
  due_at: Integer
  polls: Integer
  failures_in_row: Integer
  /** A decimal number, as are the seconds: vendors send fractions. */
  progress: string
  created_at: Integer
  completed_at: Integer | null
  expires_at: Integer
  seconds: string
  seconds_billed: string
  seconds_produced: string | null
  size: string
  prompt: string
  url: string | null
  blob: string | null
  blob_bytes: Integer | null
  blob_sha256: string | null
  error: string | null
  last_answer: string | null
  detail: string
  /** The instance that polls it; null once it has ended. */
  lease_instance: string | null
  lease_until: Integer
  /** Hash of the client's key: any text of any length stays exact in an index. */
  idempotency_sha256: string | null
  body_sha256: string | null
}
