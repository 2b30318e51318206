/**
 * The tables of both engines as kysely sees them. Both drivers read every integer as a bigint, so that money is exact
 * and one row type serves both; the row codecs turn times and counts into numbers.
 */
import type { ColumnType } from 'kysely'
import type { OperationsSchema } from './schema/operations.ts'
import type { Integer } from './schema/columns.ts'
import type { CustomerSchema } from './schema/customers.ts'
import type { IdentitySchema } from './schema/identity.ts'
import type { OrganisationSchema } from './schema/organisations.ts'
import type { TopUpSchema } from './schema/top-ups.ts'
import type { TurnSchema } from './schema/turns.ts'
import type { UsageSchema } from './schema/usage.ts'
import type { VideoSchema } from './schema/videos.ts'

export type { AuditEntriesTable, NoticesTable, PriceChangesTable } from './schema/operations.ts'
export type { Integer } from './schema/columns.ts'

/** A row id assigned by the database. */
type Identity = ColumnType<bigint, bigint | number | undefined, never>

export interface Schema
  extends OperationsSchema,
    VideoSchema,
    TurnSchema,
    IdentitySchema,
    CustomerSchema,
    OrganisationSchema,
    TopUpSchema,
    UsageSchema {
  meta: MetaTable
  settings: SettingsTable
  vendors: VendorsTable
  credentials: CredentialsTable
  chain_observations: ChainObservationsTable
  models: ModelsTable
  chains: ChainsTable
  protocol_groups: ProtocolGroupsTable
  plans: PlansTable
  accounts: AccountsTable
  byok: ByokTable
  api_keys: ApiKeysTable
  limit_states: LimitStatesTable
  open_calls: OpenCallsTable
  transfers: TransfersTable
  call_logs: CallLogsTable
  instances: InstancesTable
  /** SQLite only: how one process notifies the others. PostgreSQL has NOTIFY. */
  changes: ChangesTable
  schema_migrations: SchemaMigrationsTable
}

interface MetaTable {
  name: string
  value: string
}

interface SettingsTable {
  id: Integer
  body: string
}

interface VendorsTable {
  code: string
  name: string
  kind: string
  base_url: string | null
  timeouts: string
  status: string
}

interface CredentialsTable {
  id: string
  vendor_code: string
  name: string
  /** Sealed JSON `{secret, fields}`; null: never set. */
  sealed: string | null
  limits: string
  status: string
}

interface ModelsTable {
  model_id: string
  /** Position in the catalogue, in order of creation. */
  position: Integer
  name: string
  created_at: Integer
  status: string
  client_visible: Integer
  support_features: string
  required_verification: Integer
  required_plan: Integer
  context_tokens: Integer | null
  max_output_tokens: Integer | null
  subscription_covered: Integer
  pricing: string
  surcharges: string
  refuse: string
}

interface ChainsTable {
  id: Identity
  model_id: string
  vendor_code: string
  credential_id: string
  protocol: string
  forward_model_id: string
  priority: Integer
  weight: Integer
  rate_multiplier: string
  stream_usage: string
  client_gone_grace_ms: Integer
  min_bytes_per_second: Integer
  capabilities: string
  status: string
}

interface ChainObservationsTable {
  chain_id: Integer
  tokens: Integer
  ms: Integer
  cap_broken_at: Integer | null
  updated_at: Integer
}

interface ProtocolGroupsTable {
  name: string
  protocol: string
  models: string
}

interface PlansTable {
  code: string
  level: Integer
  price: string
  currency: string
  period_days: Integer
  quota: string
}

export interface AccountsTable {
  id: string
  kind: string
  email: string | null
  phone: string | null
  password_hash: string | null
  role: string
  status: string
  verification: Integer
  user_rate: string
  credits: Integer
  held: Integer
  balance: Integer
  owed: Integer
  api_deduction: Integer
  monthly_cap: Integer
  month_start: Integer
  month_spent: Integer
  month_held: Integer
  auto_exchange: string
  subscription: string | null
  policy: string
  /** Vendors of the enabled rows of `byok`, kept here so that a hot batch reads one table less. */
  byok_vendors: string
  fallback_model: string | null
  created_at: Integer
}

interface ByokTable {
  account_id: string
  vendor_code: string
  sealed: string
  enabled: Integer
}

export interface ApiKeysTable {
  id: string
  account_id: string
  member_id: string | null
  session_id: string | null
  name: string
  hash: string
  hint: string
  status: string
  created_at: Integer
  expires_at: Integer | null
  group_name: string | null
  models: string
  ip_allow: string
  policy: string | null
}

export interface LimitStatesTable {
  subject: string
  slots: Integer
  windows: string
}

export interface OpenCallsTable {
  call_id: string
  instance_id: string
  key_id: string
  account_id: string
  started_at: Integer
  touched_at: Integer
  held: Integer
  quota_held: Integer
  month_held: Integer
  /** What never changes while the call is open. */
  body: string
  terms: string
  fallback_terms: string | null
  description: string
  /** Claims and progress. */
  state: string
  /** Set: the call has been ended by recovery (`OpenCall.recovered`); epoch ms. */
  recovered_at: Integer | null
}

export interface TransfersTable {
  transaction_id: string
  sequence: Integer
  at: Integer
  debit: string
  credit: string
  amount: Integer
  kind: string
  reference: string | null
  /** The account the movement concerns, for its statement; null when both sides are the platform's. */
  account_id: string | null
}

export interface CallLogsTable {
  call_id: string
  request_id: string
  created_at: Integer
  ended_at: Integer
  account_id: string | null
  key_id: string | null
  /** Model used; the requested one when none was. */
  model: string | null
  http_status: Integer
  app_id: string | null
  custom_id: string | null
  end_user: string | null
  amount: Integer
  deducted: Integer
  /** Everything rarely filtered by, as JSON. */
  detail: string
}

interface InstancesTable {
  id: string
  started_at: Integer
  heartbeat_at: Integer
  /** Its process, if all are on one machine (`SqlEngine.processes`). */
  place: string | null
  /** Raised by an instance that takes over from it. */
  epoch: Integer
  /** Changes with every beat. */
  beats: Integer
}

interface ChangesTable {
  id: Identity
  at: Integer
  origin: string
  body: string
}

interface SchemaMigrationsTable {
  version: Integer
  name: string
  applied_at: Integer
}
