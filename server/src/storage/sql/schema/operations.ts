/** Tables of audit, announcements and future prices (migration 5). */
import type { Integer } from './columns.ts'

export interface OperationsSchema {
  audit_entries: AuditEntriesTable
  notices: NoticesTable
  price_changes: PriceChangesTable
  chain_costs: ChainCostsTable
}

export interface AuditEntriesTable {
  sequence: Integer
  at: Integer
  actor_id: string | null
  actor_name: string
  session_id: string | null
  address: string
  request_id: string | null
  action: string
  subject: string
  /** JSON `[{field, from, to}]`. */
  changes: string
  previous_hash: string
  hash: string
}

export interface NoticesTable {
  id: string
  title: string
  body: string
  level: string
  starts_at: Integer
  ends_at: Integer | null
  created_at: Integer
}

export interface PriceChangesTable {
  id: string
  model_id: string
  effective_at: Integer
  pricing: string
  status: string
  created_at: Integer
  created_by: string
}

interface ChainCostsTable {
  chain_id: Integer
  pricing: string
}
