import { expect, test } from 'vitest'
import { ACCOUNT } from '../../../core/calls/examples.ts'
import { accountId } from '../../../core/ids.ts'
import { describeProofs } from './identity-proofs.ts'
import { exampleSession, placed } from './example-session.ts'
import { describeSessionKeys } from './session-keys.ts'
import { createAccount, NOW, openWithAccount, OTHER_ACCOUNT, type StorageSuite } from '../suite.ts'

const TOKEN_HASH = 'a'.repeat(64)

export function describeIdentity(suite: StorageSuite): void {
  describeProofs(suite)
  describeSessionKeys(suite)

  test('a session comes back as it was created, by the hash of its token', async () => {
    const { storage } = await openWithAccount(suite)
    const { sessions } = storage.identity
    const session = exampleSession({ address: '2001:db8::1', secondFactor: true })
    await sessions.create(placed(session), TOKEN_HASH)
    expect(await sessions.findByHash(TOKEN_HASH, NOW)).toEqual(session)
    expect(await sessions.findByHash('b'.repeat(64), NOW)).toBeUndefined()
  })

  test.each([
    ['unused', exampleSession(), NOW + 100],
    ['too old', exampleSession({ idleEndsAt: NOW + 5000 }), NOW + 1000],
  ])('a session that is %s has ended', async (_why, session, endsAt) => {
    const { storage } = await openWithAccount(suite)
    const { sessions } = storage.identity
    await sessions.create(placed(session), TOKEN_HASH)
    expect(await sessions.findByHash(TOKEN_HASH, endsAt - 1)).toEqual(session)
    expect(await sessions.findByHash(TOKEN_HASH, endsAt)).toBeUndefined()
    expect(await sessions.list(ACCOUNT, endsAt - 1)).toEqual([session])
    expect(await sessions.list(ACCOUNT, endsAt)).toEqual([])
  })

  test('an impersonated session lasts as long as the admin’s session that it was opened from', async () => {
    const { storage } = await openWithAccount(suite)
    await createAccount(storage, { id: OTHER_ACCOUNT })
    const { sessions } = storage.identity
    const look = exampleSession({
      method: 'impersonation',
      impersonator: OTHER_ACCOUNT,
      openedFrom: 'ses_admin',
    })
    const living = () => sessions.findByHash(TOKEN_HASH, NOW)
    await sessions.create(placed(look), TOKEN_HASH)
    expect(await living()).toBeUndefined()
    await sessions.create(
      placed(exampleSession({ id: 'ses_admin', accountId: OTHER_ACCOUNT })),
      'b'.repeat(64),
    )
    expect(await living()).toEqual(look)
    expect(await sessions.list(ACCOUNT, NOW)).toEqual([look])
    expect(await sessions.findByHash(TOKEN_HASH, NOW + 99)).toEqual(look)
    expect(await sessions.findByHash(TOKEN_HASH, NOW + 100)).toBeUndefined()
    await sessions.revoke(OTHER_ACCOUNT, 'ses_admin')
    expect(await living()).toBeUndefined()
    expect(await sessions.list(ACCOUNT, NOW)).toEqual([])
  })

  test('use keeps a session alive', async () => {
    const { storage } = await openWithAccount(suite)
    const { sessions } = storage.identity
    await sessions.create(placed(exampleSession()), TOKEN_HASH)
    await sessions.touch('ses_1', { at: NOW + 50, idleEndsAt: NOW + 150 })
    await sessions.touch('ses_1', { at: NOW + 20, idleEndsAt: NOW + 120 })
    expect(await sessions.findByHash(TOKEN_HASH, NOW + 149)).toEqual(
      exampleSession({ seenAt: NOW + 50, idleEndsAt: NOW + 150 }),
    )
    await sessions.touch('nobody', { at: NOW, idleEndsAt: NOW })
  })

  test('sessions are listed newest first and end one by one or all but one, of one account only', async () => {
    const { storage } = await openWithAccount(suite)
    await createAccount(storage, { id: OTHER_ACCOUNT })
    const { sessions } = storage.identity
    for (const [index, id] of ['ses_1', 'ses_2', 'ses_3'].entries()) {
      await sessions.create(placed(exampleSession({ id, createdAt: NOW + index })), String(index).repeat(64))
    }
    await sessions.create(
      placed(exampleSession({ id: 'ses_other', accountId: OTHER_ACCOUNT })),
      'f'.repeat(64),
    )
    const ids = async () => (await sessions.list(ACCOUNT, NOW)).map(({ id }) => id)
    expect(await ids()).toEqual(['ses_3', 'ses_2', 'ses_1'])
    expect(await sessions.revoke(OTHER_ACCOUNT, 'ses_1')).toBe(false)
    expect(await sessions.revoke(ACCOUNT, 'ses_1')).toBe(true)
    expect(await sessions.revoke(ACCOUNT, 'ses_1')).toBe(false)
    expect(await sessions.revokeAll(ACCOUNT, { except: 'ses_2' })).toBe(1)
    expect(await ids()).toEqual(['ses_2'])
    expect(await sessions.revokeAll(ACCOUNT)).toBe(1)
    expect(await sessions.findByHash('f'.repeat(64), NOW)).toMatchObject({ id: 'ses_other' })
  })

  test('an account is known to sign in from where a session of its owner began', async () => {
    const { storage } = await openWithAccount(suite)
    const { sessions } = storage.identity
    await sessions.create(placed(exampleSession()), TOKEN_HASH)
    const impersonator = accountId('acc_admin')
    await sessions.create(
      placed(exampleSession({ id: 'ses_2', address: '192.0.2.9', impersonator })),
      'b'.repeat(64),
    )
    await sessions.revokeAll(ACCOUNT)
    expect(await sessions.knowsPlace(ACCOUNT, '192.0.2.1', NOW)).toBe(true)
    expect(await sessions.knowsPlace(ACCOUNT, '192.0.2.1', NOW + 1)).toBe(false)
    expect(await sessions.knowsPlace(ACCOUNT, '192.0.2.9', NOW)).toBe(false)
    expect(await sessions.knowsPlace(OTHER_ACCOUNT, '192.0.2.1', NOW)).toBe(false)
  })

  test('another password ends every session of the account, other changes do not', async () => {
    const { storage } = await openWithAccount(suite)
    const { sessions } = storage.identity
    await sessions.create(placed(exampleSession()), TOKEN_HASH)
    await storage.accounts.patch(ACCOUNT, { verification: 1 })
    expect(await sessions.list(ACCOUNT, NOW)).toHaveLength(1)
    await storage.accounts.patch(ACCOUNT, { passwordHash: '$argon2id$other' })
    expect(await sessions.list(ACCOUNT, NOW)).toEqual([])
  })
}
