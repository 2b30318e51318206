/** Tables of who is at the other end (migrations 3 and 22). */
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
  /** 1: the sign-in was behind one, or one was set up in the session. */
  second_factor: Integer
}

/** Addresses an account has signed in from: its owner is not locked out there by somebody who guesses elsewhere. */
interface SignInPlacesTable {
  account_id: string
  address: string
  seen_at: Integer
}

interface SentCodesTable {
  purpose: string
  target: string
  /** The network it was asked for from. */
  place: string
  code_hash: string
  /** Who asked, where somebody signed in did. */
  account_id: string | null
  tries_left: Integer
  /** How many of them may come from other networks. */
  elsewhere_left: Integer
  created_at: Integer
  ends_at: Integer
}

/** What was sent of a budget, such as the text messages of a day. */
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

/** Conversations of several requests: a second factor asked for, a passkey's challenge, a way to another service and back. */
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
  /** The newest time step a code was taken for: none is taken twice. */
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
