import { expect, test } from 'vitest'
import { accountId } from '../../../core/ids.ts'
import { Secret } from '../../../core/secret.ts'
import type { OpenedSession } from '../../../management/identity/sessions/sessions.ts'
import { endedSessionCookie, readSessionCookie, sessionCookie } from './session-cookie.ts'

const NOW = 1_000_000
const OPENED: OpenedSession = {
  token: new Secret('session-abc'),
  session: {
    id: 'ses_1',
    accountId: accountId('acc_1'),
    method: 'password',
    createdAt: NOW,
    seenAt: NOW,
    idleEndsAt: NOW + 1_000,
    endsAt: NOW + 60_000,
    userAgent: '',
    address: '',
    impersonator: undefined,
    openedFrom: undefined,
    secondFactor: false,
  },
}

test('over https the cookie is secure and bound to the host alone', () => {
  expect(sessionCookie(OPENED, 'https://sluice.example', NOW)).toBe(
    '__Host-sluice_session=session-abc; Max-Age=60; Path=/; HttpOnly; Secure; SameSite=Lax',
  )
})

test('over http, where a browser would drop a secure cookie, it is not', () => {
  expect(sessionCookie(OPENED, undefined, NOW)).toBe(
    'sluice_session=session-abc; Max-Age=60; Path=/; HttpOnly; SameSite=Lax',
  )
})

test('signing out takes the cookie away', () => {
  expect(endedSessionCookie('https://sluice.example')).toContain('__Host-sluice_session=; Max-Age=0;')
})

test('a cookie that anybody could have planted over http is not read over https', () => {
  const headers = { cookie: 'sluice_session=planted; __Host-sluice_session=ours' }
  expect(readSessionCookie(headers, 'https://sluice.example')).toBe('ours')
  expect(readSessionCookie({ cookie: 'sluice_session=planted' }, 'https://sluice.example')).toBeUndefined()
  expect(readSessionCookie({}, undefined)).toBeUndefined()
})
