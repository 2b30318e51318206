import { ACCOUNT } from '../../../core/calls/examples.ts'
import type { NewSession, Session } from '../../stores/identity.ts'
import { NOW } from '../suite.ts'

/** Its place is its address. */
export function placed(session: Session): NewSession {
  return { ...session, place: session.address }
}

export function exampleSession(changes: Partial<Session> = {}): Session {
  return {
    id: 'ses_1',
    accountId: ACCOUNT,
    method: 'password',
    createdAt: NOW,
    seenAt: NOW,
    idleEndsAt: NOW + 100,
    endsAt: NOW + 1000,
    userAgent: 'a browser',
    address: '192.0.2.1',
    impersonator: undefined,
    openedFrom: undefined,
    secondFactor: false,
    ...changes,
  }
}
