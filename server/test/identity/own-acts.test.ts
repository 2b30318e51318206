/** What people do to their own way in is in the audit log, whoever they are. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type TestGateway, putVendor } from '../gateway/gateway.ts'
import { bearer, dataOf, mailedCode, PASSWORD, post, send } from './person.ts'
import { type OpenDesk, openDesk } from './open-desk.ts'
import type { AccountId } from '../../src/core/ids.ts'
import { codeOf, decodeBase32 } from '../../src/management/identity/factors/totp.ts'

const STEP_MS = 30_000

let gateway: TestGateway
let desk: OpenDesk
let passwordHash: string
beforeAll(async () => {
  desk = await openDesk()
  ;({ gateway, passwordHash } = desk)
  await gateway.catalogue(...putVendor('acme', 'http://127.0.0.1:1'))
})
afterAll(async () => {
  expect((await gateway.storage.audit.verify()).kind).toBe('whole')
  await desk.close()
})

let count = 0
let email: string
let id: AccountId
let token: string

const entriesOf = async () =>
  (await gateway.storage.audit.page({ subject: id }, { limit: 50, cursor: undefined })).entries.toReversed()
const actions = async () => (await entriesOf()).map(({ action }) => action)

describe.each(['user', 'admin'] as const)('of an account of role %s', (role) => {
  beforeEach(async () => {
    email = `${role}${++count}@example.com`
    id = (await gateway.newAccount({ email, passwordHash, role })).id
    token = dataOf(await post(desk, '/sign-in', { email, password: PASSWORD })).token
  })

  const ask = async (method: string, path: string, body?: unknown) => {
    const answer = await send(desk, { method, path, body, headers: bearer(token) })
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`)
    return answer
  }

  test('a sign-in and a sign-out', async () => {
    await ask('POST', '/sign-out', {})
    const [entered, left] = await entriesOf()
    expect(entered).toMatchObject({
      action: 'account.sign-in',
      actor: { accountId: id, name: email, address: '127.0.0.1' },
      changes: [
        { field: 'session', to: expect.stringMatching(/^ses_/) },
        { field: 'method', to: 'password' },
        { field: 'second_factor', to: false },
      ],
    })
    expect(left?.action).toBe('account.sign-out')
    expect(left?.actor.sessionId).toBe(entered?.changes[0]?.to)
  })

  test('a sign-in that fails is none of them', async () => {
    await post(desk, '/sign-in', { email, password: 'a guess' })
    expect(await actions()).toEqual(['account.sign-in'])
  })

  test('a changed password, without the password', async () => {
    token = dataOf(
      await ask('PUT', '/password', { current_password: PASSWORD, password: 'another long one 1' }),
    ).token
    expect(await actions()).toEqual(['account.sign-in', 'account.change-password', 'account.sign-in'])
    expect(JSON.stringify(await entriesOf())).not.toContain('long one')
  })

  test('a password set anew by a code', async () => {
    const code = await mailedCode(desk, email, 'reset_password')
    dataOf(await post(desk, '/password/reset', { email, code, password: 'another long one 2' }))
    expect((await actions()).slice(1)).toEqual(['account.reset-password', 'account.sign-in'])
  })

  test('an authenticator app added, its recovery codes renewed, and the app removed', async () => {
    const begun = await ask('POST', '/second-factors/totp', {})
    const { secret } = begun.body.data as { readonly secret: string }
    const code = codeOf(decodeBase32(secret), Math.floor(Date.now() / STEP_MS), 6)
    await ask('POST', '/second-factors/totp/confirm', { code })
    await ask('POST', '/second-factors/recovery-codes', {})
    await ask('DELETE', '/second-factors/totp')
    expect((await actions()).slice(1)).toEqual([
      'account.add-authenticator',
      'account.renew-recovery-codes',
      'account.remove-authenticator',
    ])
    expect(JSON.stringify(await entriesOf())).not.toContain(secret)
  })

  test('another e-mail address, from which to which', async () => {
    const target = `moved${count}@example.com`
    const code = await mailedCode(desk, target, 'change_email', bearer(token))
    await ask('PUT', '/email', { email: target, code })
    expect((await entriesOf()).at(-1)).toMatchObject({
      action: 'account.change-email',
      changes: [{ field: 'email', from: email, to: target }],
    })
  })

  test('sessions that are ended, one and all others', async () => {
    const other = dataOf(await post(desk, '/sign-in', { email, password: PASSWORD }))
    await ask('DELETE', `/sessions/${other.session_id}`)
    await post(desk, '/sign-in', { email, password: PASSWORD })
    await ask('DELETE', '/sessions')
    const ended = (await entriesOf()).filter(({ action }) => action.includes('session'))
    expect(ended.map(({ action, changes }) => [action, changes])).toEqual([
      ['account.end-session', [{ field: 'session', from: other.session_id, to: null }]],
      ['account.end-other-sessions', [{ field: 'sessions', from: 1, to: 0 }]],
    ])
  })

  test('a session that is not there leaves no entry', async () => {
    await send(desk, { method: 'DELETE', path: '/sessions/ses_none', headers: bearer(token) })
    expect(await actions()).toEqual(['account.sign-in'])
  })

  test('own credentials put, switched and removed, without their secret', async () => {
    await ask('PUT', '/byok/acme', { secret: 'the-vendor-secret' })
    await ask('PATCH', '/byok/acme', { enabled: false })
    await ask('DELETE', '/byok/acme')
    expect((await actions()).slice(1)).toEqual([
      'account.put-credential',
      'account.switch-credential',
      'account.remove-credential',
    ])
    expect(JSON.stringify(await entriesOf())).not.toContain('the-vendor-secret')
  })

  test('keys made, changed, rotated and deleted, without the key', async () => {
    const made = (await ask('POST', '/keys', { name: 'mine' })).body.data as {
      readonly id: string
      readonly key: string
    }
    await ask('PATCH', `/keys/${made.id}`, { name: 'renamed' })
    await ask('POST', `/keys/${made.id}/rotate`, {})
    await ask('DELETE', `/keys/${made.id}`)
    expect((await actions()).slice(1)).toEqual(['key.create', 'key.change', 'key.rotate', 'key.delete'])
    expect(JSON.stringify(await entriesOf())).not.toContain(made.key)
  })
})

test('somebody who fills the audit log, whose entries are never removed, is stopped at three thousand an hour', async () => {
  const { id: filler } = await gateway.newAccount()
  const { headers } = await gateway.signIn(filler)
  // One try that fills the bucket stands for the three thousand.
  const bucket = { subject: `acts/${filler}`, limit: 1, windowMs: 3_600_000 }
  await gateway.storage.identity.attempts.take([bucket], Date.now())
  const refused = await send(desk, { method: 'POST', path: '/keys', body: { name: 'one more' }, headers })
  expect(refused).toMatchObject({ status: 429, body: { code: 42908 } })
  expect(await gateway.storage.keys.list(filler)).toHaveLength(1)
})

test('an administrator sees them in the audit log', async () => {
  const admin = await gateway.newAdmin()
  const answer = await fetch(`${gateway.baseUrl}/api/v1/admin/audit?action=key.rotate`, {
    headers: admin.headers,
  })
  const { data } = (await answer.json()) as { readonly data: readonly { readonly action: string }[] }
  expect(data.map(({ action }) => action)).toEqual(['key.rotate', 'key.rotate'])
})
