/** Tables of organisations (migration 11). Their Credits, keys and logs are those of their accounts. */
import type { Integer } from './columns.ts'

export interface OrganisationSchema {
  organisations: OrganisationsTable
  members: MembersTable
  invitations: InvitationsTable
}

export interface OrganisationsTable {
  /** The account's id. */
  id: string
  name: string
  created_at: Integer
  /** null: it is active. */
  closed_at: Integer | null
}

export interface MembersTable {
  id: string
  organisation_id: string
  account_id: string
  role: string
  /** `active`, `suspended` or `removed`: a removed member's calls may still run. */
  status: string
  monthly_cap: Integer
  month_start: Integer
  month_spent: Integer
  month_held: Integer
  policy: string
  joined_at: Integer
}

export interface InvitationsTable {
  id: string
  organisation_id: string
  email: string
  role: string
  monthly_cap: Integer
  policy: string
  invited_by: string
  created_at: Integer
  expires_at: Integer
  status: string
  token_hash: string
  /** The member they became. */
  member_id: string | null
}
