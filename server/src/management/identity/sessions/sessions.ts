/** Sessions: opened at sign-in, found by their token at every request, ended by their owner or by time. */
import { DAY_MS } from '../../../core/durations.ts'
import type { AccountId } from '../../../core/ids.ts'
import type { Secret } from '../../../core/secret.ts'
import type { NewSession, Session, SignInMethod } from '../../../storage/stores/identity.ts'
import type { Storage } from '../../../storage/storage.ts'
import { timeOrderedId } from '../../new-id.ts'
import { placeOf } from '../limits.ts'
import { hashToken, makeToken, SESSION_TOKEN_PREFIX } from './tokens.ts'

/** An unused session ends after two weeks, a used one after 90 days: then the person has to sign in again. */
const IDLE_MS = 14 * DAY_MS
const LIFE_MS = 90 * DAY_MS
/** An impersonated session lasts an hour at most, and no longer than the admin's own session. */
const IMPERSONATION_MS = 3_600_000
/** Use is recorded at most once a minute, so that most reads need no write. */
const TOUCH_EVERY_MS = 60_000

/** The origin of a request, as shown in the list of sessions. */
export interface RequestOrigin {
  readonly userAgent: string
  readonly address: string
  readonly requestId?: string | undefined
}

export interface OpenedSession {
  readonly session: Session
  /** Returned once: the cookie's value, and the bearer of programs. */
  readonly token: Secret
}

export interface SessionRequest extends RequestOrigin {
  readonly accountId: AccountId
  readonly method: SignInMethod
  /** Whether one was verified; a passkey counts as one. */
  readonly secondFactor: boolean
  /** The admin who impersonates the account, and the admin's own session: this one ends with it. */
  readonly opener?: { readonly admin: AccountId; readonly session: string }
}

/** Always a new token: one that existed before the sign-in never becomes a session's (session fixation). */
export async function openSession(
  storage: Pick<Storage, 'identity'>,
  request: SessionRequest,
  at: number,
): Promise<OpenedSession> {
  const token = makeToken(SESSION_TOKEN_PREFIX)
  const endsAt = at + (request.opener === undefined ? LIFE_MS : IMPERSONATION_MS)
  const session: NewSession = {
    id: `ses_${timeOrderedId(at)}`,
    accountId: request.accountId,
    method: request.method,
    createdAt: at,
    seenAt: at,
    idleEndsAt: Math.min(at + IDLE_MS, endsAt),
    endsAt,
    userAgent: request.userAgent,
    address: request.address,
    place: placeOf(request.address),
    impersonator: request.opener?.admin,
    openedFrom: request.opener?.session,
    secondFactor: request.secondFactor,
  }
  await storage.identity.sessions.create(session, hashToken(token.unwrap()))
  return { session, token }
}

export function isSessionToken(text: string): boolean {
  return text.startsWith(SESSION_TOKEN_PREFIX)
}

/** The living session of this token. */
export function findSession(
  storage: Pick<Storage, 'identity'>,
  token: string,
  at: number,
): Promise<Session | undefined> {
  return storage.identity.sessions.findByHash(hashToken(token), at)
}

/** What to record for the session's use now; undefined: it was recorded recently. */
export function useOf(
  session: Session,
  at: number,
): { readonly at: number; readonly idleEndsAt: number } | undefined {
  if (at - session.seenAt < TOUCH_EVERY_MS) return undefined
  return { at, idleEndsAt: Math.min(at + IDLE_MS, session.endsAt) }
}
