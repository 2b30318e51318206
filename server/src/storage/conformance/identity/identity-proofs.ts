import { expect, test } from 'vitest'
import { ACCOUNT } from '../../../core/calls/examples.ts'
import type { AttemptBucket } from '../../../core/identity/attempt-bucket.ts'
import { Secret } from '../../../core/secret.ts'
import { StorageConflict } from '../../failures/conflict.ts'
import type { Challenge, CodeUse, Passkey } from '../../stores/identity.ts'
import { createAccount, NOW, openWithAccount, OTHER_ACCOUNT, type StorageSuite } from '../suite.ts'

const USE: CodeUse = { purpose: 'sign_in', target: 'person@example.com', accountId: undefined }
const PLACE = '192.0.2.1'
const ELSEWHERE = '198.51.100.1'
const TERMS = { place: PLACE, tries: 5, triesElsewhere: 3, createdAt: NOW, endsAt: NOW + 100 }
const here = (at: number) => ({ place: PLACE, at })
const CODE = new Secret('123456')
const WRONG = new Secret('000000')
const BUCKET: AttemptBucket = { subject: 'a', limit: 2, windowMs: 1_000 }
const CHALLENGE: Challenge = {
  kind: 'second-factor',
  accountId: ACCOUNT,
  detail: '{"a":1}',
  triesLeft: 2,
  createdAt: NOW,
  endsAt: NOW + 100,
}
const ID_HASH = 'c'.repeat(64)
const PASSKEY: Passkey = {
  id: 'key-1',
  accountId: ACCOUNT,
  name: 'laptop',
  publicKey: 'AAAA',
  counter: 0,
  transports: ['internal'],
  backedUp: true,
  createdAt: NOW,
  usedAt: undefined,
}

const countTrue = (answers: readonly boolean[]): number => answers.filter(Boolean).length

export function describeProofs(suite: StorageSuite): void {
  describeCodes(suite)
  describeAttempts(suite)
  describeChallenges(suite)
  describeFactors(suite)
  describeLinks(suite)
  test('what has ended is removed, what lives stays', async () => {
    const { storage } = await openWithAccount(suite)
    const { identity } = storage
    await identity.codes.put(USE, CODE, TERMS)
    await identity.challenges.put(ID_HASH, CHALLENGE)
    await identity.attempts.take([BUCKET], NOW)
    expect(await identity.expire(NOW + 50)).toBe(0)
    expect(await identity.codes.redeem(USE, WRONG, here(NOW))).toBe(false)
    expect(await identity.expire(NOW + 10_000)).toBe(3)
    expect(await identity.challenges.find(ID_HASH, 'second-factor', NOW)).toBeUndefined()
  })
}

function describeCodes(suite: StorageSuite): void {
  test('a code is right once, for its purpose and target only', async () => {
    const { storage } = await openWithAccount(suite)
    const { codes } = storage.identity
    await codes.put(USE, CODE, TERMS)
    expect(await codes.redeem({ ...USE, purpose: 'register' }, CODE, here(NOW))).toBe(false)
    expect(await codes.redeem({ ...USE, target: 'other@example.com' }, CODE, here(NOW))).toBe(false)
    expect(await codes.redeem(USE, CODE, here(NOW + 99))).toBe(true)
    expect(await codes.redeem(USE, CODE, here(NOW + 99))).toBe(false)
  })

  test('a code has ended when its time is over', async () => {
    const { storage } = await openWithAccount(suite)
    await storage.identity.codes.put(USE, CODE, TERMS)
    expect(await storage.identity.codes.redeem(USE, CODE, here(NOW + 100))).toBe(false)
  })

  test('a code of somebody signed in is no use to somebody else', async () => {
    const { storage } = await openWithAccount(suite)
    const { codes } = storage.identity
    await codes.put({ ...USE, accountId: ACCOUNT }, CODE, TERMS)
    expect(await codes.redeem({ ...USE, accountId: OTHER_ACCOUNT }, CODE, here(NOW))).toBe(false)
    expect(await codes.redeem(USE, CODE, here(NOW))).toBe(false)
    expect(await codes.redeem({ ...USE, accountId: ACCOUNT }, CODE, here(NOW))).toBe(true)
  })

  test('after its tries the right code is refused, and a new one begins anew', async () => {
    const { storage } = await openWithAccount(suite)
    const { codes } = storage.identity
    await codes.put(USE, CODE, TERMS)
    for (let tries = 0; tries < 5; tries++) expect(await codes.redeem(USE, WRONG, here(NOW))).toBe(false)
    expect(await codes.redeem(USE, CODE, here(NOW))).toBe(false)
    await codes.put(USE, WRONG, TERMS)
    expect(await codes.redeem(USE, CODE, here(NOW))).toBe(false)
    expect(await codes.redeem(USE, WRONG, here(NOW))).toBe(true)
  })

  test('a new code leaves the ones before it good, and the one that is used ends all', async () => {
    const { storage } = await openWithAccount(suite)
    const { codes } = storage.identity
    await codes.put(USE, CODE, TERMS)
    await codes.put(USE, WRONG, { ...TERMS, place: ELSEWHERE })
    expect(await codes.redeem(USE, CODE, here(NOW))).toBe(true)
    expect(await codes.redeem(USE, WRONG, { place: ELSEWHERE, at: NOW })).toBe(false)
  })

  test('guesses from elsewhere take three of the five tries and no more', async () => {
    const { storage } = await openWithAccount(suite)
    const { codes } = storage.identity
    await codes.put(USE, CODE, TERMS)
    for (let tries = 0; tries < 9; tries++)
      expect(await codes.redeem(USE, WRONG, { place: ELSEWHERE, at: NOW })).toBe(false)
    expect(await codes.redeem(USE, CODE, { place: ELSEWHERE, at: NOW })).toBe(false)
    expect(await codes.redeem(USE, WRONG, here(NOW))).toBe(false)
    expect(await codes.redeem(USE, CODE, here(NOW))).toBe(true)
  })

  test('a right code is taken from elsewhere too, as long as tries from there are left', async () => {
    const { storage } = await openWithAccount(suite)
    const { codes } = storage.identity
    await codes.put(USE, CODE, TERMS)
    expect(await codes.redeem(USE, WRONG, { place: ELSEWHERE, at: NOW })).toBe(false)
    expect(await codes.redeem(USE, CODE, { place: ELSEWHERE, at: NOW })).toBe(true)
  })

  test('the same six digits once more are one code with new tries', async () => {
    const { storage } = await openWithAccount(suite)
    const { codes } = storage.identity
    await codes.put(USE, CODE, TERMS)
    for (let tries = 0; tries < 5; tries++) await codes.redeem(USE, WRONG, here(NOW))
    await codes.put(USE, CODE, { ...TERMS, endsAt: NOW + 200 })
    expect(await codes.redeem(USE, CODE, here(NOW + 150))).toBe(true)
  })

  test('a budget is taken to its limit and no further, in parallel too, and all of several or none', async () => {
    const { storage } = await openWithAccount(suite)
    const { budgets } = storage.identity
    const day = { subject: 'day', limit: 3, endsAt: NOW + 100 }
    const month = { subject: 'month', limit: 5, endsAt: NOW + 500 }
    const taken = await Promise.all(Array.from({ length: 6 }, () => budgets.take([day, month])))
    expect(taken.filter((one) => one !== undefined)).toHaveLength(3)
    expect(new Set(taken.map((one) => one?.[0]))).toEqual(new Set([undefined, 1, 2, 3]))
    expect(await budgets.used(['month', 'day', 'none'])).toEqual([3, 3, 0])
    expect(await storage.identity.expire(NOW + 200)).toBe(1)
    expect(await budgets.used(['day', 'month'])).toEqual([0, 3])
  })

  test('of parallel right tries one succeeds, and parallel guesses are all counted', async () => {
    const { storage } = await openWithAccount(suite)
    const { codes } = storage.identity
    await codes.put(USE, CODE, TERMS)
    const right = await Promise.all(Array.from({ length: 4 }, () => codes.redeem(USE, CODE, here(NOW))))
    expect(countTrue(right)).toBe(1)
    await codes.put(USE, CODE, TERMS)
    await Promise.all(Array.from({ length: 5 }, () => codes.redeem(USE, WRONG, here(NOW))))
    expect(await codes.redeem(USE, CODE, here(NOW))).toBe(false)
  })

  test('neither codes nor seeds nor recovery codes can be read from the database', async () => {
    const { database, storage } = await openWithAccount(suite)
    const { codes, factors } = storage.identity
    await codes.put(USE, new Secret('918273'), TERMS)
    await factors.putAuthenticator(ACCOUNT, new Secret('JBSWY3DPEHPK3PXP'))
    await factors.putRecoveryCodes(ACCOUNT, [new Secret('lost-and-found')])
    await storage.close()
    const dump = await database.dump()
    for (const secret of ['918273', 'JBSWY3DPEHPK3PXP', 'lost-and-found']) expect(dump).not.toContain(secret)
  })
}

function describeAttempts(suite: StorageSuite): void {
  test('tries are taken from every bucket or from none', async () => {
    const { storage } = await openWithAccount(suite)
    const { attempts } = storage.identity
    const wide: AttemptBucket = { subject: 'b', limit: 3, windowMs: 900 }
    expect(await attempts.take([BUCKET, wide], NOW)).toBeUndefined()
    expect(await attempts.take([wide, BUCKET], NOW)).toBeUndefined()
    expect(await attempts.take([BUCKET, wide], NOW)).toBe(500)
    expect(await attempts.take([wide], NOW)).toBeUndefined()
    expect(await attempts.take([wide], NOW)).toBe(300)
    await attempts.giveBack([wide])
    expect(await attempts.take([wide], NOW)).toBeUndefined()
    await attempts.forget(['a'])
    expect(await attempts.take([BUCKET], NOW)).toBeUndefined()
    expect(await attempts.take([BUCKET], NOW + 500)).toBeUndefined()
  })

  test('parallel tries do not slip through', async () => {
    const { storage } = await openWithAccount(suite)
    const taken = await Promise.all(
      Array.from({ length: 10 }, () => storage.identity.attempts.take([BUCKET], NOW)),
    )
    expect(taken.filter((wait) => wait === undefined)).toHaveLength(2)
  })
}

function describeChallenges(suite: StorageSuite): void {
  test('a challenge is read, tried as often as it may be, and taken once', async () => {
    const { storage } = await openWithAccount(suite)
    const { challenges } = storage.identity
    await challenges.put(ID_HASH, CHALLENGE)
    expect(await challenges.find(ID_HASH, 'second-factor', NOW)).toEqual(CHALLENGE)
    expect(await challenges.find(ID_HASH, 'service', NOW)).toBeUndefined()
    expect(await challenges.try(ID_HASH, 'second-factor', NOW)).toMatchObject({ triesLeft: 1 })
    expect(await challenges.try(ID_HASH, 'second-factor', NOW)).toMatchObject({ triesLeft: 0 })
    expect(await challenges.try(ID_HASH, 'second-factor', NOW)).toBeUndefined()
    expect(await challenges.take(ID_HASH, 'service', NOW)).toBeUndefined()
    const taken = await Promise.all(
      Array.from({ length: 4 }, () => challenges.take(ID_HASH, 'second-factor', NOW)),
    )
    expect(taken.filter((challenge) => challenge !== undefined)).toEqual([{ ...CHALLENGE, triesLeft: 0 }])
  })

  test('the only challenge of its kind and account ends those before it, and no others', async () => {
    const { storage } = await openWithAccount(suite)
    const { challenges } = storage.identity
    const hashes = ['d', 'e', 'f'].map((letter) => letter.repeat(64))
    const link = { ...CHALLENGE, kind: 'sign-in-link', accountId: ACCOUNT } as const
    const isLeft = async (hash: string) => (await challenges.find(hash, 'sign-in-link', NOW)) !== undefined
    await challenges.put(ID_HASH, CHALLENGE)
    await challenges.putOnly('a'.repeat(64), { ...link, accountId: OTHER_ACCOUNT })
    await challenges.putOnly('b'.repeat(64), link)
    await Promise.all(hashes.map((hash) => challenges.putOnly(hash, link)))
    expect(countTrue(await Promise.all(hashes.map(isLeft)))).toBe(1)
    expect(await isLeft('b'.repeat(64))).toBe(false)
    expect(await isLeft('a'.repeat(64))).toBe(true)
    expect(await challenges.find(ID_HASH, 'second-factor', NOW)).toBeDefined()
  })

  test('a challenge has ended when its time is over', async () => {
    const { storage } = await openWithAccount(suite)
    const { challenges } = storage.identity
    await challenges.put(ID_HASH, { ...CHALLENGE, accountId: undefined })
    expect(await challenges.find(ID_HASH, 'second-factor', NOW + 100)).toBeUndefined()
    expect(await challenges.try(ID_HASH, 'second-factor', NOW + 100)).toBeUndefined()
    expect(await challenges.take(ID_HASH, 'second-factor', NOW + 100)).toBeUndefined()
    expect(await challenges.take(ID_HASH, 'second-factor', NOW + 99)).toMatchObject({ accountId: undefined })
  })
}

function describeFactors(suite: StorageSuite): void {
  test('an authenticator counts once it is confirmed, and then stays until it is removed', async () => {
    const { storage } = await openWithAccount(suite)
    const { factors } = storage.identity
    expect(await factors.findAuthenticator(ACCOUNT)).toBeUndefined()
    expect(await factors.putAuthenticator(ACCOUNT, new Secret('FIRST'))).toBe(true)
    expect(await factors.putAuthenticator(ACCOUNT, new Secret('SECOND'))).toBe(true)
    const found = await factors.findAuthenticator(ACCOUNT)
    expect(found?.seed.unwrap()).toBe('SECOND')
    expect(found?.confirmedAt).toBeUndefined()
    expect(await factors.confirmAuthenticator(ACCOUNT, NOW, 7)).toBe(true)
    expect(await factors.confirmAuthenticator(ACCOUNT, NOW, 7)).toBe(false)
    expect(await factors.putAuthenticator(ACCOUNT, new Secret('THIRD'))).toBe(false)
    expect((await factors.findAuthenticator(ACCOUNT))?.confirmedAt).toBe(NOW)
    expect(await factors.removeAuthenticator(ACCOUNT)).toBe(true)
    expect(await factors.removeAuthenticator(ACCOUNT)).toBe(false)
  })

  test('a step is used once and never an earlier one', async () => {
    const { storage } = await openWithAccount(suite)
    const { factors } = storage.identity
    await factors.putAuthenticator(ACCOUNT, new Secret('SEED'))
    await factors.confirmAuthenticator(ACCOUNT, NOW, 7)
    expect(await factors.useStep(ACCOUNT, 7)).toBe(false)
    const parallel = await Promise.all(Array.from({ length: 4 }, () => factors.useStep(ACCOUNT, 8)))
    expect(countTrue(parallel)).toBe(1)
    expect(await factors.useStep(ACCOUNT, 6)).toBe(false)
    expect(await factors.useStep(OTHER_ACCOUNT, 9)).toBe(false)
  })

  test('a recovery code works once, for its account', async () => {
    const { storage } = await openWithAccount(suite)
    const { factors } = storage.identity
    const codes = ['one', 'two'].map((text) => new Secret(text))
    await factors.putRecoveryCodes(ACCOUNT, codes)
    expect(await factors.countRecoveryCodes(ACCOUNT)).toBe(2)
    expect(await factors.useRecoveryCode(OTHER_ACCOUNT, new Secret('one'))).toBe(false)
    expect(await factors.useRecoveryCode(ACCOUNT, new Secret('one'))).toBe(true)
    expect(await factors.useRecoveryCode(ACCOUNT, new Secret('one'))).toBe(false)
    await factors.putRecoveryCodes(ACCOUNT, [new Secret('three')])
    expect(await factors.useRecoveryCode(ACCOUNT, new Secret('two'))).toBe(false)
    expect(await factors.countRecoveryCodes(ACCOUNT)).toBe(1)
  })

  test('a passkey comes back as it was added and belongs to one account', async () => {
    const { storage } = await openWithAccount(suite)
    await createAccount(storage, { id: OTHER_ACCOUNT })
    const { factors } = storage.identity
    await factors.addPasskey(PASSKEY)
    expect(await factors.findPasskey('key-1')).toEqual(PASSKEY)
    expect(await factors.listPasskeys(ACCOUNT)).toEqual([PASSKEY])
    await expect(factors.addPasskey({ ...PASSKEY, accountId: OTHER_ACCOUNT })).rejects.toThrow(
      StorageConflict,
    )
    expect(await factors.removePasskey(OTHER_ACCOUNT, 'key-1')).toBe(false)
    expect(await factors.removePasskey(ACCOUNT, 'key-1')).toBe(true)
    expect(await factors.findPasskey('key-1')).toBeUndefined()
  })

  test('all second factors of one account go at once', async () => {
    const { storage } = await openWithAccount(suite)
    await createAccount(storage, { id: OTHER_ACCOUNT })
    const { factors } = storage.identity
    await factors.putAuthenticator(ACCOUNT, new Secret('SEED'))
    await factors.addPasskey(PASSKEY)
    await factors.putRecoveryCodes(ACCOUNT, [new Secret('one')])
    await factors.addPasskey({ ...PASSKEY, id: 'key-2', accountId: OTHER_ACCOUNT })
    expect(await factors.removeAll(ACCOUNT)).toBe(true)
    expect(await factors.removeAll(ACCOUNT)).toBe(false)
    expect(await factors.findAuthenticator(ACCOUNT)).toBeUndefined()
    expect(await factors.countRecoveryCodes(ACCOUNT)).toBe(0)
    expect(await factors.listPasskeys(ACCOUNT)).toEqual([])
    expect(await factors.listPasskeys(OTHER_ACCOUNT)).toHaveLength(1)
  })

  test('a passkey that counts never says the same number twice; one that does not stays at 0', async () => {
    const { storage } = await openWithAccount(suite)
    const { factors } = storage.identity
    await factors.addPasskey(PASSKEY)
    expect(await factors.usePasskey('key-1', { counter: 0, at: NOW })).toBe(true)
    expect(await factors.usePasskey('key-1', { counter: 5, at: NOW + 1 })).toBe(true)
    expect(await factors.usePasskey('key-1', { counter: 5, at: NOW + 2 })).toBe(false)
    expect(await factors.usePasskey('key-1', { counter: 0, at: NOW + 2 })).toBe(false)
    expect(await factors.findPasskey('key-1')).toMatchObject({ counter: 5, usedAt: NOW + 1 })
  })
}

function describeLinks(suite: StorageSuite): void {
  test('somebody known to another service is linked to one account', async () => {
    const { storage } = await openWithAccount(suite)
    await createAccount(storage, { id: OTHER_ACCOUNT })
    const { links } = storage.identity
    const link = { service: 'corp', subject: '42', accountId: ACCOUNT, label: 'p@corp', createdAt: NOW }
    await links.add(link)
    expect(await links.find('corp', '42')).toEqual(link)
    expect(await links.find('corp', '43')).toBeUndefined()
    expect(await links.list(ACCOUNT)).toEqual([link])
    await expect(links.add({ ...link, accountId: OTHER_ACCOUNT })).rejects.toThrow(StorageConflict)
    expect(await links.remove(OTHER_ACCOUNT, 'corp')).toBe(false)
    expect(await links.remove(ACCOUNT, 'corp')).toBe(true)
    expect(await links.list(ACCOUNT)).toEqual([])
  })
}
