/** Tables of the management API (migration 4). */
import type { Integer } from './columns.ts'

export interface CustomerSchema {
  idempotent_acts: IdempotentActsTable
  subscriptions: SubscriptionsTable
  profiles: ProfilesTable
  verification_requests: VerificationRequestsTable
  former_secrets: FormerSecretsTable
  watched_accounts: WatchedAccountsTable
  alerts: AlertsTable
  alert_deliveries: AlertDeliveriesTable
}

/** Results of acts that move money, kept as long as the ledger. */
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
  /** Sealed JSON of the statement. */
  sealed: string
  documents: string
}

/** Earlier secrets of keys, which work until then. */
interface FormerSecretsTable {
  hash: string
  key_id: string
  valid_until: Integer
}

/** Accounts whose profile asks for notifications, so that a round reads no others. */
interface WatchedAccountsTable {
  account_id: string
}

interface AlertsTable {
  id: string
  account_id: string
  kind: string
  raised_at: Integer
  /** null: its condition still holds. */
  cleared_at: Integer | null
  body: string
}

interface AlertDeliveriesTable {
  id: string
  alert_id: string
  channel: string
  target: string
  attempts: Integer
  /** null: it has ended. */
  due_at: Integer | null
  /** `waiting`, `sent` or `failed`. */
  outcome: string
}
