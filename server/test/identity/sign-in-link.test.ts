/** Links of the command line: one sign-in each, for a day, behind the second factor where there is one. */
import { DAY_MS } from '../../src/core/durations.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bearer, dataOf, type Desk, post, read, send } from './person.ts'
import { type Mailbox, openMailbox } from '../notify/mailbox.ts'
import type { AccountId } from '../../src/core/ids.ts'
import { Secret } from '../../src/core/secret.ts'
import { makeSignInLink, signInLinkUrl } from '../../src/management/identity/sessions/sign-in-link.ts'
import { withGateway } from '../gateway/with-gateway.ts'

let mailbox: Mailbox
let desk: Desk
/** Moved forward by tests; never back. */
let late = 0

const { gateway } = await withGateway({
  now: () => Date.now() + late,
})

beforeAll(async () => {
  mailbox = await openMailbox()
  desk = { baseUrl: gateway.baseUrl, mailbox }
})
afterAll(async () => {
  await mailbox.close()
})

async function linkFor(id: AccountId): Promise<string> {
  const actor = {
    at: Date.now() + late,
    accountId: undefined,
    name: 'command line',
    sessionId: undefined,
    address: 'local',
    requestId: undefined,
  }
  const link = await makeSignInLink(gateway.storage, { id }, actor)
  const url = new URL(signInLinkUrl('https://sluice.example', link))
  expect(url.pathname).toBe('/console/setup')
  return url.searchParams.get('token') ?? ''
}

test('a link signs in once, and gives an account without a password its first one', async () => {
  const { id } = await gateway.newAccount({ email: 'owner@link.example' })
  const token = await linkFor(id)
  const entered = dataOf(await post(desk, '/sign-in/link', { token }))
  expect(entered).toMatchObject({ state: 'signed_in', account_id: id })
  const again = await post(desk, '/sign-in/link', { token })
  expect([again.status, again.body.code]).toEqual([401, 40104])
  const set = await send(desk, {
    method: 'PUT',
    path: '/password',
    body: { password: 'the first password' },
    headers: bearer(entered.token),
  })
  expect(set.status).toBe(200)
  const signedIn = dataOf(
    await post(desk, '/sign-in', { email: 'owner@link.example', password: 'the first password' }),
  )
  const sessions = await read(desk, '/sessions', bearer(signedIn.token))
  // The one that the link began has ended with the change of the password.
  const begun = (sessions.body.data as { method: string }[]).map(({ method }) => method)
  expect(begun.sort()).toEqual(['password', 'password'])
})

test('a newer link ends the ones before it, of the same account only', async () => {
  const { id } = await gateway.newAccount()
  const other = await linkFor((await gateway.newAccount()).id)
  const older = await linkFor(id)
  const newer = await linkFor(id)
  expect((await post(desk, '/sign-in/link', { token: older })).status).toBe(401)
  expect((await post(desk, '/sign-in/link', { token: newer })).status).toBe(200)
  expect((await post(desk, '/sign-in/link', { token: other })).status).toBe(200)
})

test('of many who open it at once one comes in', async () => {
  const { id } = await gateway.newAccount()
  const token = await linkFor(id)
  const answers = await Promise.all(Array.from({ length: 5 }, () => post(desk, '/sign-in/link', { token })))
  expect(answers.map(({ status }) => status).sort((one, other) => one - other)).toEqual([
    200, 401, 401, 401, 401,
  ])
})

test('a second factor is asked for all the same', async () => {
  const { id } = await gateway.newAccount()
  const seed = new Secret('JBSWY3DPEHPK3PXP')
  await gateway.storage.identity.factors.putAuthenticator(id, seed)
  await gateway.storage.identity.factors.confirmAuthenticator(id, Date.now(), 1)
  const answer = dataOf(await post(desk, '/sign-in/link', { token: await linkFor(id) }))
  expect(answer.state).toBe('second_factor_required')
})

test('another site cannot sign its visitors in with one', async () => {
  const { id } = await gateway.newAccount()
  const token = await linkFor(id)
  const crossed = await post(desk, '/sign-in/link', { token }, { 'sec-fetch-site': 'cross-site' })
  expect([crossed.status, crossed.body.code]).toEqual([403, 40305])
  expect((await post(desk, '/sign-in/link', { token })).status).toBe(200)
})

test('a link is good for a day, and both ends of it are in the audit log', async () => {
  const { id } = await gateway.newAccount()
  const token = await linkFor(id)
  await post(desk, '/sign-in/link', { token })
  const old = await linkFor(id)
  late += DAY_MS + 1_000
  expect((await post(desk, '/sign-in/link', { token: old })).status).toBe(401)
  const entries = (await gateway.storage.audit.following(0, 500)).filter(({ subject }) => subject === id)
  const actions = entries.map(({ action }) => action)
  expect(actions).toContain('account.make-sign-in-link')
  expect(actions).toContain('account.sign-in')
  expect(JSON.stringify(entries)).not.toContain(token)
})
