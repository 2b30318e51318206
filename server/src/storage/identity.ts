/**
 * What is asked about who is at the other end: sessions, codes, attempts, second factors, sign-in elsewhere. Nothing
 * that opens a door is stored in a form that opens it: tokens and codes as SHA-256, seeds sealed.
 */
import type { AccountId } from '../core/ids.ts'

export interface IdentityStore {
  readonly sessions: SessionStore
}

/** How the person proved who they are. */
export type SignInMethod = 'password' | 'code' | 'passkey' | 'provider' | 'impersonation'

export interface Session {
  readonly id: string
  readonly accountId: AccountId
  readonly method: SignInMethod
  /** Epoch ms, as all times here. */
  readonly createdAt: number
  readonly seenAt: number
  /** The session ends when it is not used until then; every use moves it. */
  readonly idleEndsAt: number
  /** The session ends then, however much it is used. */
  readonly endsAt: number
  readonly userAgent: string
  readonly address: string
  /** The admin who looks through this account's eyes; undefined: the account's owner. */
  readonly impersonator: AccountId | undefined
}

export interface SessionStore {
  /** `tokenHash`: lower-case hex SHA-256 of the token. */
  create(session: Session, tokenHash: string): Promise<void>
  /** Only one that lives at `at`. */
  findByHash(tokenHash: string, at: number): Promise<Session | undefined>
  /** Says that the session was used; nothing when it is gone. */
  touch(id: string, seen: { readonly at: number; readonly idleEndsAt: number }): Promise<void>
  /** Those that live at `at`, newest first. */
  list(account: AccountId, at: number): Promise<readonly Session[]>
  /** False: the account has no such session. */
  revoke(account: AccountId, id: string): Promise<boolean>
  /** A changed password ends every session by itself, in the store (`accounts.patch`). Returns how many ended. */
  revokeAll(account: AccountId, options?: { readonly except?: string }): Promise<number>
}
