import { expect, test } from 'vitest'
import { ACCOUNT } from '../../../core/calls/examples.ts'
import { keyId } from '../../../core/ids.ts'
import type { Storage } from '../../storage.ts'
import type { SessionKey } from '../../stores/keys.ts'
import { exampleSession, placed } from './example-session.ts'
import { exampleApiKey, listen, NOW, openWithAccount, type StorageSuite } from '../suite.ts'

const TOKEN_HASH = 'a'.repeat(64)

export function describeSessionKeys(suite: StorageSuite): void {
  const keyOf = (digit: string, changes: Partial<SessionKey> = {}): SessionKey => ({
    ...exampleApiKey({ id: keyId(`key_s${digit}`), hash: digit.repeat(64) }),
    sessionId: 'ses_1',
    expiresAt: NOW + 90,
    status: 'enabled',
    ...changes,
  })
  const openTwo = async () => {
    const { storage } = await openWithAccount(suite)
    const { sessions } = storage.identity
    await sessions.create(placed(exampleSession()), TOKEN_HASH)
    await sessions.create(placed(exampleSession({ id: 'ses_2' })), 'b'.repeat(64))
    return storage
  }

  test('a key of a session is found by its secret, and stands in no list but that of all keys there ever were', async () => {
    const storage = await openTwo()
    expect(await storage.keys.putForSession(keyOf('4'), NOW)).toBe('key_s4')
    expect(await storage.keys.findByHash('4'.repeat(64))).toEqual(keyOf('4'))
    expect(await storage.keys.list(ACCOUNT)).toEqual([exampleApiKey()])
    expect(await storage.keys.list(ACCOUNT, { ever: 'included' })).toContainEqual(keyOf('4'))
  })

  test('a key of a session takes the place of the one before it, whichever session that had', async () => {
    const storage = await openTwo()
    const heard = listen(storage)
    await storage.keys.putForSession(keyOf('4'), NOW)
    const next = keyOf('5', { sessionId: 'ses_2', expiresAt: NOW + 95 })
    expect(await storage.keys.putForSession(next, NOW)).toBe('key_s4')
    expect(await storage.keys.findByHash('4'.repeat(64))).toBeUndefined()
    expect(await storage.keys.findByHash('5'.repeat(64))).toEqual({ ...next, id: 'key_s4' })
    expect(heard()).toContainEqual({ kind: 'key', hash: '4'.repeat(64) })
    await storage.identity.sessions.revoke(ACCOUNT, 'ses_1')
    expect(await storage.keys.findByHash('5'.repeat(64))).toMatchObject({ id: 'key_s4' })
  })

  test.each([
    ['is revoked', (storage: Storage) => storage.identity.sessions.revoke(ACCOUNT, 'ses_1')],
    [
      'is revoked with others',
      (storage: Storage) => storage.identity.sessions.revokeAll(ACCOUNT, { except: 'ses_2' }),
    ],
    [
      'ends by another password',
      (storage: Storage) => storage.accounts.patch(ACCOUNT, { passwordHash: 'h' }),
    ],
  ])(
    'a key of a session is deleted when its session %s, and another session makes it anew',
    async (_, end) => {
      const storage = await openTwo()
      const heard = listen(storage)
      await storage.keys.putForSession(keyOf('4'), NOW)
      await end(storage)
      expect(await storage.keys.findByHash('4'.repeat(64))).toBeUndefined()
      expect(heard()).toContainEqual({ kind: 'key', hash: '4'.repeat(64) })
      expect(await storage.keys.list(ACCOUNT)).toEqual([exampleApiKey()])
      await storage.identity.sessions.create(placed(exampleSession({ id: 'ses_3' })), 'c'.repeat(64))
      expect(await storage.keys.putForSession(keyOf('6', { sessionId: 'ses_3' }), NOW)).toBe('key_s4')
      expect(await storage.keys.findByHash('6'.repeat(64))).toMatchObject({ status: 'enabled' })
    },
  )

  test.each([
    ['is over', exampleSession({ endsAt: NOW + 5 }), NOW + 5],
    ['was never', undefined, NOW],
  ])('a key of a session is not made for a session that %s', async (_, session, at) => {
    const { storage } = await openWithAccount(suite)
    if (session !== undefined) await storage.identity.sessions.create(placed(session), TOKEN_HASH)
    expect(await storage.keys.putForSession(keyOf('4'), at)).toBeUndefined()
    expect(await storage.keys.findByHash('4'.repeat(64))).toBeUndefined()
  })

  test('a key of a session is one, however many ask at once, and none outlives a session that ends meanwhile', async () => {
    const storage = await openTwo()
    const digits = ['4', '5', '6', '7', '8']
    const put = (digit: string) => storage.keys.putForSession(keyOf(digit), NOW)
    const ids = await Promise.all(digits.map(put))
    expect(new Set(ids).size).toBe(1)
    const living = async () =>
      (await Promise.all(digits.map((digit) => storage.keys.findByHash(digit.repeat(64))))).filter(Boolean)
    expect(await living()).toHaveLength(1)
    await Promise.all([put('4'), storage.identity.sessions.revoke(ACCOUNT, 'ses_1'), put('5'), put('6')])
    expect(await living()).toEqual([])
  })
}
