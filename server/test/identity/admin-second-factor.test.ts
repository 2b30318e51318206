/** A second factor demanded of administrators, and every way somebody might try around it. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { get, postJson, readAnswer } from '../gateway/client.ts'
import type { TestGateway } from '../gateway/gateway.ts'
import { newOrganisation } from '../gateway/team.ts'
import { bearer, dataOf, PASSWORD, post, read, send } from './person.ts'
import { type OpenDesk, openDesk } from './open-desk.ts'
import type { Mailbox } from '../notify/mailbox.ts'
import { codeOf, decodeBase32 } from '../../src/management/identity/factors/totp.ts'

const STEP_MS = 30_000

let gateway: TestGateway
let mailbox: Mailbox
let desk: OpenDesk
let passwordHash: string
/** Moved forward by tests; never back. */
let late = 0
beforeAll(async () => {
  desk = await openDesk({
    now: () => Date.now() + late,
    environment: {
      SLUICE_ADMIN_SECOND_FACTOR: 'required',
    },
  })
  ;({ gateway, mailbox, passwordHash } = desk)
})
afterAll(() => desk.close())

const codeNow = (secret: string): string =>
  codeOf(decodeBase32(secret), Math.floor((Date.now() + late) / STEP_MS), 6)

let count = 0
async function newAdmin() {
  const email = `admin${++count}@example.com`
  const { id, key } = await gateway.newAccount({ email, passwordHash, role: 'admin' })
  const signIn = async () => dataOf(await post(desk, '/sign-in', { email, password: PASSWORD }))
  return { id, key, email, signIn, token: (await signIn()).token }
}

const asAdmin = (token: string) => get(`${gateway.baseUrl}/api/v1/admin/accounts`, bearer(token))
const refused = { status: 403, body: { code: 40308 } }

/** An authenticator app, set up in a session that may do nothing else. */
async function setUp(token: string): Promise<string> {
  const begun = await post(desk, '/second-factors/totp', {}, bearer(token))
  expect(begun.status).toBe(200)
  const { secret } = begun.body.data as { readonly secret: string }
  const confirmed = await post(desk, '/second-factors/totp/confirm', { code: codeNow(secret) }, bearer(token))
  expect(confirmed.status).toBe(200)
  late += STEP_MS
  return secret
}

describe('an administrator without a second factor', () => {
  test('reaches no admin route, and is told what to do', async () => {
    const { token } = await newAdmin()
    const answer = await asAdmin(token)
    expect(answer).toMatchObject(refused)
    expect(answer.body.message).toContain('second factor')
  })

  test.each([
    ['GET', '/keys', undefined],
    ['POST', '/keys', { name: 'mine' }],
    ['GET', '/logs', undefined],
    ['PUT', '/password', { current_password: PASSWORD, password: 'another long one 7' }],
    ['PUT', '/byok/acme', { secret: 'x' }],
    ['POST', '/second-factors/recovery-codes', undefined],
    ['POST', '/organisations', { name: 'theirs' }],
    ['DELETE', '/sessions', undefined],
  ])('may not %s %s', async (method, path, body) => {
    const { token } = await newAdmin()
    expect(await send(desk, { method, path, body, headers: bearer(token) })).toMatchObject(refused)
  })

  test('sees the account and the second factors, sets one up, and goes on in the same session', async () => {
    const { token } = await newAdmin()
    expect((await read(desk, '/account', bearer(token))).status).toBe(200)
    expect((await read(desk, '/second-factors', bearer(token))).status).toBe(200)
    await setUp(token)
    expect((await asAdmin(token)).status).toBe(200)
  })

  test('signs out', async () => {
    const { token } = await newAdmin()
    expect((await post(desk, '/sign-out', {}, bearer(token))).status).toBe(200)
  })

  test('is not the account that signs in first on a new gateway for good: its code and an app let it in', async () => {
    const { token } = await newAdmin()
    await setUp(token)
    expect((await asAdmin(token)).status).toBe(200)
  })
})

describe('a person who has an administrator’s password only', () => {
  test('gets no session from it once there is a factor', async () => {
    const admin = await newAdmin()
    await setUp(admin.token)
    expect((await admin.signIn()).state).toBe('second_factor_required')
  })

  test('does not use a session that began before the factor was set up', async () => {
    const admin = await newAdmin()
    const older = await admin.signIn()
    await setUp(admin.token)
    expect(await asAdmin(older.token)).toMatchObject(refused)
    expect((await asAdmin(admin.token)).status).toBe(200)
  })

  test('does not come in by a new password, set by a code from the mailbox', async () => {
    const { email, token } = await newAdmin()
    await setUp(token)
    await post(desk, '/verification-codes', { channel: 'email', target: email, purpose: 'reset_password' })
    for (let mails = 0; mails < 2; mails++) {
      const { text } = await mailbox.next(email)
      const [code] = /\b\d{6}\b/.exec(text ?? '') ?? []
      if (code === undefined) continue
      const reset = await post(desk, '/password/reset', { email, code, password: 'another long one 8' })
      expect(dataOf(reset).state).toBe('second_factor_required')
      return
    }
    throw new Error('no code came')
  })

  test('does not carry a changed password’s session past the factor', async () => {
    const admin = await newAdmin()
    const older = await admin.signIn()
    await setUp(admin.token)
    const changed = await send(desk, {
      method: 'PUT',
      path: '/password',
      body: { current_password: PASSWORD, password: 'another long one 9' },
      headers: bearer(older.token),
    })
    expect(changed).toMatchObject(refused)
  })

  test('does not act for an organisation instead', async () => {
    const admin = await newAdmin()
    const { id: organisation } = await newOrganisation(gateway, admin.id)
    const headers = { ...bearer(admin.token), 'gw-organisation': organisation }
    expect(await read(desk, '/keys', headers)).toMatchObject(refused)
    const own = `/organisations/${organisation}`
    expect(await read(desk, own, bearer(admin.token))).toMatchObject(refused)
  })

  test('does not use the account’s API key in place of the session', async () => {
    const { key } = await newAdmin()
    expect((await get(`${gateway.baseUrl}/api/v1/admin/accounts`, bearer(key))).status).toBe(403)
  })

  test('does not impersonate: that is an admin route too', async () => {
    const { token } = await newAdmin()
    const url = `${gateway.baseUrl}/api/v1/admin/accounts/${gateway.accountId}/impersonate`
    expect(await postJson(url, { reason: 'x' }, bearer(token))).toMatchObject(refused)
  })

  test('has nothing left when the last factor is removed: the session has shown none then', async () => {
    const { token } = await newAdmin()
    await setUp(token)
    const gone = await readAnswer(
      await fetch(`${gateway.baseUrl}/api/v1/user/user/second-factors/totp`, {
        method: 'DELETE',
        headers: bearer(token),
      }),
    )
    expect(gone.status).toBe(200)
    expect(await asAdmin(token)).toMatchObject(refused)
  })
})

describe('a role that is given while somebody is signed in', () => {
  test('opens nothing to a session that has shown no factor', async () => {
    const email = `made${++count}@example.com`
    const { id } = await gateway.newAccount({ email, passwordHash })
    const { token } = dataOf(await post(desk, '/sign-in', { email, password: PASSWORD }))
    expect((await read(desk, '/keys', bearer(token))).status).toBe(200)
    await gateway.storage.accounts.patch(id, { role: 'admin' })
    expect(await asAdmin(token)).toMatchObject(refused)
  })
})

test('a user needs none', async () => {
  const { headers } = await gateway.signIn()
  expect((await read(desk, '/keys', headers)).status).toBe(200)
})

test('a page of sign-in can tell beforehand', async () => {
  expect((await read(desk, '/sign-in/options')).body.data).toMatchObject({
    admin_second_factor: 'required',
    registration: 'open',
  })
})
