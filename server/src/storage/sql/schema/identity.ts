/** Tables of identities (migrations 3 and 22). */
import type { Integer } from './columns.ts'

export interface IdentitySchema {
  sessions: SessionsTable
  sign_in_places: SignInPlacesTable
  sent_codes: SentCodesTable
  message_budgets: MessageBudgetsTable
  attempts: AttemptsTable
  identity_challenges: IdentityChallengesTable
  authenticators: AuthenticatorsTable
  recovery_codes: RecoveryCodesTable
  passkeys: PasskeysTable
  linked_identities: LinkedIdentitiesTable
}

export interface SessionsTable {
  id: string
  token_hash: string
  account_id: string
  method: string
  created_at: Integer
  seen_at: Integer
  idle_ends_at: Integer
  ends_at: Integer
  user_agent: string
  address: string
  impersonator: string | null
  /** Of an impersonator's session: the id of the admin's own. */
  opened_from: string | null
  /** 1: one was used at sign-in, or set up in the session. */
  second_factor: Integer
}

/** Networks from which an account has signed in: guessing from other networks does not lock its owner out there. */
interface SignInPlacesTable {
  account_id: string
  address: string
  seen_at: Integer
}

interface SentCodesTable {
  purpose: string
  target: string
  /** The network that requested it. */
  place: string
  code_hash: string
  /** The account that asked, if it was signed in. */
  account_id: string | null
  tries_left: Integer
  /** How many of them may come from other networks. */
  elsewhere_left: Integer
  created_at: Integer
  ends_at: Integer
}

/** How much of a budget is used, such as the text messages of a day. */
interface MessageBudgetsTable {
  subject: string
  used: Integer
  ends_at: Integer
}

/** A leaky bucket in one number: when it will be empty again. */
interface AttemptsTable {
  subject: string
  empty_at: Integer
}

/** Conversations of several requests: a pending second factor, a passkey's challenge, a sign-in through another service. */
export interface IdentityChallengesTable {
  id_hash: string
  kind: string
  account_id: string | null
  detail: string
  tries_left: Integer
  created_at: Integer
  ends_at: Integer
}

/** Seeds of one-time passwords. */
export interface AuthenticatorsTable {
  account_id: string
  sealed: string
  /** null: enrolled but not shown to work yet. */
  confirmed_at: Integer | null
  /** The newest time step of an accepted code: none is accepted twice. */
  last_step: Integer
}

interface RecoveryCodesTable {
  account_id: string
  code_hash: string
}

export interface PasskeysTable {
  id: string
  account_id: string
  name: string
  public_key: string
  counter: Integer
  transports: string
  backed_up: Integer
  created_at: Integer
  used_at: Integer | null
}

export interface LinkedIdentitiesTable {
  service: string
  subject: string
  account_id: string
  label: string
  created_at: Integer
}
