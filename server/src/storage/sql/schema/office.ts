/** Tables of the back office (migration 4). */
import type { Integer } from './columns.ts'

export interface OfficeSchema {
  idempotent_acts: IdempotentActsTable
  subscriptions: SubscriptionsTable
  profiles: ProfilesTable
  verification_requests: VerificationRequestsTable
  former_secrets: FormerSecretsTable
}

/** Answers of acts that move money, kept as long as the ledger they moved it in. */
interface IdempotentActsTable {
  account_id: string
  operation: string
  key: string
  fingerprint: string
  at: Integer
  answer: string
}

export interface SubscriptionsTable {
  account_id: string
  plan: string
  expires_at: Integer
  periods: string
  /** JSON `{plan, pool}`; null: it ends with its period. */
  renewal: string | null
  due_at: Integer | null
}

interface ProfilesTable {
  account_id: string
  name: string | null
  language: string | null
  timezone: string | null
  alerts: string
}

export interface VerificationRequestsTable {
  id: string
  account_id: string
  kind: string
  status: string
  submitted_at: Integer
  decided_at: Integer | null
  decided_by: string | null
  reason: string | null
  /** Sealed JSON of what was stated. */
  sealed: string
  documents: string
}

/** Secrets that keys had before and that work until then. */
interface FormerSecretsTable {
  hash: string
  key_id: string
  valid_until: Integer
}
