/**
 * Identity: sessions, codes, attempts, second factors, sign-in through other services. No credential is stored in a
 * usable form: tokens as SHA-256, codes as keyed hashes, seeds sealed.
 */
import type { AttemptBucket } from '../../core/identity/attempt-bucket.ts'
import type { AccountId } from '../../core/ids.ts'
import type { Secret } from '../../core/secret.ts'

export interface IdentityStore {
  readonly sessions: SessionStore
  readonly codes: CodeStore
  readonly attempts: AttemptStore
  readonly budgets: BudgetStore
  readonly challenges: ChallengeStore
  readonly factors: FactorStore
  readonly links: LinkStore
  /** Removes what ended before `at`. Returns how many rows were removed. */
  expire(at: number): Promise<number>
}

/** How the person proved who they are. */
export type SignInMethod = 'password' | 'code' | 'passkey' | 'service' | 'link' | 'impersonation'

export interface Session {
  readonly id: string
  readonly accountId: AccountId
  readonly method: SignInMethod
  /** Epoch ms, as all times here. */
  readonly createdAt: number
  readonly seenAt: number
  /** The session ends at this time unless it is used before; every use moves it. */
  readonly idleEndsAt: number
  /** The session ends at this time at the latest. */
  readonly endsAt: number
  readonly userAgent: string
  readonly address: string
  /** The admin who impersonates this account; undefined: the account's owner. */
  readonly impersonator: AccountId | undefined
  /** The admin's own session that began the impersonation, which ends with it; undefined: the account's owner. */
  readonly openedFrom: string | undefined
  /** Whether a second factor was used: at sign-in, or by setting one up in this session. A passkey counts as one. */
  readonly secondFactor: boolean
}

export interface NewSession extends Session {
  /** The network of the sign-in. */
  readonly place: string
}

export interface SessionStore {
  /** `tokenHash`: lower-case hex SHA-256 of the token. Also records its network for the account. */
  create(session: NewSession, tokenHash: string): Promise<void>
  /** Only a session alive at `at`: an impersonation also needs the admin's session from which it was opened. */
  findByHash(tokenHash: string, at: number): Promise<Session | undefined>
  /** Records that the session was used; does nothing if it has ended. */
  touch(id: string, seen: { readonly at: number; readonly idleEndsAt: number }): Promise<void>
  /** Records that a second factor was used in it; does nothing if it has ended. */
  showSecondFactor(id: string): Promise<void>
  /** Call when the account has no second factor any more: none of its sessions counts as having used one then. */
  forgetSecondFactor(account: AccountId): Promise<void>
  /** Sessions alive at `at`, newest first. */
  list(account: AccountId, at: number): Promise<readonly Session[]>
  /** False: the account has no such session. */
  revoke(account: AccountId, id: string): Promise<boolean>
  /** A changed password ends every session by itself, in the store (`accounts.patch`). Returns how many ended. */
  revokeAll(account: AccountId, options?: { readonly except?: string }): Promise<number>
  /** Whether the account's owner has signed in from there since then. Networks are remembered longer than sessions. */
  knowsPlace(account: AccountId, place: string, since: number): Promise<boolean>
}

export type CodePurpose = 'register' | 'sign_in' | 'reset_password' | 'change_email' | 'change_phone'

/** What a code proves: that its owner can read messages to `target`. */
export interface CodeUse {
  readonly purpose: CodePurpose
  /** An e-mail address or a phone number in canonical form. */
  readonly target: string
  /** The account that requested it, if only signed-in users can. */
  readonly accountId: AccountId | undefined
}

export interface CodeTerms {
  /** The network that requested it. */
  readonly place: string
  readonly tries: number
  /** How many of the attempts may come from other networks, so that others cannot use them up. */
  readonly triesElsewhere: number
  readonly createdAt: number
  readonly endsAt: number
}

export interface CodeStore {
  /** Earlier ones for this purpose and target stay valid. */
  put(use: CodeUse, code: Secret, terms: CodeTerms): Promise<void>
  /**
   * Counts an attempt for every code that may be tried from there. True: one was right, and all of this purpose and
   * target are removed; of parallel right attempts one gets true.
   */
  redeem(use: CodeUse, code: Secret, from: { readonly place: string; readonly at: number }): Promise<boolean>
}

/** How much of a quota is left until a moment. */
export interface Budget {
  /** `sms/day/2026-11-22`. */
  readonly subject: string
  readonly limit: number
  /** When it is removed. */
  readonly endsAt: number
}

export interface BudgetStore {
  /**
   * Takes one from each, or none from any. undefined: one of them is used up; otherwise the use of each, in order,
   * including this one.
   */
  take(budgets: readonly Budget[]): Promise<readonly number[] | undefined>
  /** What is used of each. */
  used(subjects: readonly string[]): Promise<readonly number[]>
}

export interface AttemptStore {
  /** Takes one attempt from each bucket, or none from any. undefined: taken; else how many ms until that is possible. */
  take(buckets: readonly AttemptBucket[], at: number): Promise<number | undefined>
  /** Gives one attempt back to each. */
  giveBack(buckets: readonly AttemptBucket[]): Promise<void>
  /** Clears them. */
  forget(subjects: readonly string[]): Promise<void>
}

export type ChallengeKind =
  | 'second-factor'
  | 'passkey-registration'
  | 'passkey-sign-in'
  | 'service'
  | 'sign-in-link'

/** An exchange of several requests, identified by a token of which only the hash is stored. */
export interface Challenge {
  readonly kind: ChallengeKind
  readonly accountId: AccountId | undefined
  /** Data of the exchange, JSON. */
  readonly detail: string
  readonly triesLeft: number
  readonly createdAt: number
  readonly endsAt: number
}

export interface ChallengeStore {
  put(idHash: string, challenge: Challenge): Promise<void>
  /** The same, and ends all others of its kind and account: after parallel calls one challenge is left. */
  putOnly(idHash: string, challenge: Challenge & { readonly accountId: AccountId }): Promise<void>
  find(idHash: string, kind: ChallengeKind, at: number): Promise<Challenge | undefined>
  /** The same, and counts one of its attempts; undefined if none is left. */
  try(idHash: string, kind: ChallengeKind, at: number): Promise<Challenge | undefined>
  /** Ends and returns it. Of parallel calls one gets it. */
  take(idHash: string, kind: ChallengeKind, at: number): Promise<Challenge | undefined>
}

/** A seed of one-time passwords (RFC 6238). */
export interface Authenticator {
  /** Base32. */
  readonly seed: Secret
  /** undefined: not confirmed yet; it is not required at sign-in. */
  readonly confirmedAt: number | undefined
}

export interface Passkey {
  /** The credential's id, base64url. */
  readonly id: string
  readonly accountId: AccountId
  readonly name: string
  /** COSE, base64url. */
  readonly publicKey: string
  /** The authenticator's use counter; many always report 0. */
  readonly counter: number
  readonly transports: readonly string[]
  readonly backedUp: boolean
  readonly createdAt: number
  readonly usedAt: number | undefined
}

export interface FactorStore {
  findAuthenticator(account: AccountId): Promise<Authenticator | undefined>
  /** Replaces an unconfirmed one; false: there is a confirmed one. */
  putAuthenticator(account: AccountId, seed: Secret): Promise<boolean>
  /** `step`: the time step of the confirming code. False: there was none to confirm. */
  confirmAuthenticator(account: AccountId, at: number, step: number): Promise<boolean>
  /** False: a code of this or a later step was accepted before. */
  useStep(account: AccountId, step: number): Promise<boolean>
  removeAuthenticator(account: AccountId): Promise<boolean>
  /** Replaces all of them. */
  putRecoveryCodes(account: AccountId, codes: readonly Secret[]): Promise<void>
  /** True once for each code. */
  useRecoveryCode(account: AccountId, code: Secret): Promise<boolean>
  countRecoveryCodes(account: AccountId): Promise<number>
  /** Oldest first. */
  listPasskeys(account: AccountId): Promise<readonly Passkey[]>
  findPasskey(id: string): Promise<Passkey | undefined>
  /** Rejects with `StorageConflict` when the id is taken. */
  addPasskey(passkey: Passkey): Promise<void>
  /** False: the counter has advanced meanwhile, as with a copied key. */
  usePasskey(id: string, use: { readonly counter: number; readonly at: number }): Promise<boolean>
  removePasskey(account: AccountId, id: string): Promise<boolean>
  /** Removes all of them, recovery codes too. False: there were none. */
  removeAll(account: AccountId): Promise<boolean>
}

/** A person's identity at another service. */
export interface LinkedIdentity {
  /** Which service, by its configured name. */
  readonly service: string
  /** The service's own unchanging id of the person. */
  readonly subject: string
  readonly accountId: AccountId
  /** What is shown to the person: an address or a name at the service. */
  readonly label: string
  readonly createdAt: number
}

export interface LinkStore {
  find(service: string, subject: string): Promise<LinkedIdentity | undefined>
  /** Rejects with `StorageConflict` when the service's person is linked already. */
  add(link: LinkedIdentity): Promise<void>
  list(account: AccountId): Promise<readonly LinkedIdentity[]>
  remove(account: AccountId, service: string): Promise<boolean>
}
