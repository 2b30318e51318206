/** Sessions as a browser and a program meet them: cookie, bearer, sign-out, other sites' requests. */
import { beforeAll, describe, expect, test } from 'vitest'
import { get, postJson } from '../gateway/client.ts'
import { putChain, putModel, putVendor } from '../gateway/gateway.ts'
import type { AccountId } from '../../src/core/ids.ts'
import { Secret } from '../../src/core/secret.ts'
import { hashPassword } from '../../src/management/accounts/passwords.ts'
import { withGateway } from '../gateway/with-gateway.ts'

const PASSWORD = 'correct horse battery'
const ACCOUNT = '/api/v1/user/user/account'
const SIGN_OUT = '/api/v1/user/user/sign-out'
const PERSON = { email: 'person@example.com', phone: '+8613800000000' }

let person: AccountId
const { gateway } = await withGateway({
  catalogue: () => [
    ...putVendor('acme', 'http://127.0.0.1:9'),
    putModel('priced'),
    putChain({ model: 'priced', vendor: 'acme' }),
  ],
})

beforeAll(async () => {
  const passwordHash = await hashPassword(new Secret(PASSWORD))
  person = (await gateway.newAccount({ ...PERSON, passwordHash, userRate: '80' })).id
})

function post(path: string, headers: Record<string, string> = {}, body: unknown = {}) {
  return postJson(gateway.baseUrl + path, body, headers)
}

const trySignIn = (body: unknown, headers: Record<string, string> = {}) =>
  post('/api/v1/user/user/sign-in', headers, body)

async function signIn() {
  const answer = await trySignIn({ email: PERSON.email, password: PASSWORD })
  expect(answer.status).toBe(200)
  const setCookie = answer.headers.get('set-cookie') ?? ''
  const { token } = answer.body.data as { readonly token: string }
  return { setCookie, cookie: setCookie.split(';')[0] ?? '', token }
}

const ownOrigin = (): string => new URL(gateway.baseUrl).origin

describe('sign-in', () => {
  test('by password, with e-mail address or phone number, and no key [D-accounts-13] [D-requests-66]', async () => {
    for (const login of [{ email: PERSON.email }, { phone: PERSON.phone }]) {
      const answer = await trySignIn({ ...login, password: PASSWORD })
      expect(answer.status).toBe(200)
      expect(answer.body).toMatchObject({ code: 0, message: 'ok', data: { account_id: person } })
    }
  })

  test('sets a cookie that scripts cannot read [D-accounts-15] [D-accounts-16]', async () => {
    const { setCookie, cookie } = await signIn()
    expect(setCookie).toMatch(/; HttpOnly/)
    expect(setCookie).toMatch(/; SameSite=Lax/)
    expect(setCookie).toMatch(/; Path=\//)
    const account = await get(gateway.baseUrl + ACCOUNT, { cookie })
    expect(account.body.data).toMatchObject({ id: person })
  })

  test('gives programs a token that works as bearer and looks like no API key [D-accounts-18]', async () => {
    const { token } = await signIn()
    expect(token).toMatch(/^session-[\w-]{43}$/)
    const account = await get(gateway.baseUrl + ACCOUNT, { authorization: `Bearer ${token}` })
    expect(account.status).toBe(200)
    expect(account.body.data).toMatchObject({ id: person })
  })

  test('a wrong password and an account that does not exist are refused alike', async () => {
    const wrong = await trySignIn({ email: PERSON.email, password: 'not it at all' })
    const nobody = await trySignIn({ email: 'nobody@example.com', password: 'not it at all' })
    expect(wrong.status).toBe(401)
    expect(wrong.body.code).toBe(40104)
    expect(wrong.headers.get('set-cookie')).toBeNull()
    expect({ ...nobody.body, error: null }).toEqual({ ...wrong.body, error: null })
  })

  test('an account without a password cannot be entered by one', async () => {
    const { id } = await gateway.newAccount({ email: 'bare@example.com' })
    expect((await gateway.account(id)).passwordHash).toBeUndefined()
    const answer = await trySignIn({ email: 'bare@example.com', password: 'nobody has this password' })
    expect(answer.body.code).toBe(40104)
  })

  test('a session that was there before does not become the signed-in one (fixation)', async () => {
    const planted = 'session-planted'
    const answer = await trySignIn(
      { email: PERSON.email, password: PASSWORD },
      { cookie: `sluice_session=${planted}` },
    )
    expect(answer.headers.get('set-cookie')).not.toContain(planted)
    const asPlanted = await get(gateway.baseUrl + ACCOUNT, { authorization: `Bearer ${planted}` })
    expect(asPlanted.status).toBe(401)
  })

  test('fields nobody offered are refused by name (mass assignment)', async () => {
    const answer = await trySignIn({ email: PERSON.email, password: PASSWORD, role: 'admin' })
    expect(answer.status).toBe(400)
    expect(answer.body.message).toContain('role')
  })
})

describe('a session', () => {
  test.each([
    ['D-accounts-19', 'a session'],
    ['D-accounts-20', 'an API key'],
  ])('[%s] reads the account with %s', async (row) => {
    const headers =
      row === 'D-accounts-19' ? (await gateway.signIn()).headers : { authorization: `Bearer ${gateway.key}` }
    const answer = await get(gateway.baseUrl + ACCOUNT, headers)
    expect(answer.status).toBe(200)
    expect(answer.body.data).toMatchObject({ id: gateway.accountId })
  })

  test('the account shows id, email, phone and role [D-accounts-21] [D-accounts-22] [D-accounts-23] [D-accounts-24]', async () => {
    const { headers } = await gateway.signIn(person)
    const answer = await get(gateway.baseUrl + ACCOUNT, headers)
    expect(answer.body.data).toMatchObject({ id: person, ...PERSON, role: 'user' })
    const admin = await gateway.newAdmin({ email: 'admin@example.com' })
    const own = await get(gateway.baseUrl + ACCOUNT, admin.headers)
    expect(own.body.data).toMatchObject({ id: admin.id, phone: null, role: 'admin' })
  })

  test('counts as logged in for pricing [D-catalogue-08]', async () => {
    const pricing = `${gateway.baseUrl}/api/v1/user/user/pricing`
    const { headers } = await gateway.signIn(person)
    const { cookie } = await signIn()
    const rateOf = async (as: Record<string, string>) =>
      ((await get(pricing, as)).body.data as readonly { readonly user_rate: unknown }[])[0]?.user_rate
    expect(String(await rateOf(headers))).toBe('80')
    expect(String(await rateOf({ cookie }))).toBe('80')
    expect(String(await rateOf({}))).toBe('100')
    expect(String(await rateOf({ cookie: 'sluice_session=session-gone' }))).toBe('100')
    expect((await get(pricing, { authorization: 'Bearer session-gone' })).body.code).toBe(40101)
  })

  test('ends with sign-out, for cookie and bearer alike', async () => {
    const { cookie, token } = await signIn()
    const out = await post(SIGN_OUT, { cookie, origin: ownOrigin() })
    expect(out.status).toBe(200)
    expect(out.headers.get('set-cookie')).toMatch(/^sluice_session=; Max-Age=0/)
    expect((await get(gateway.baseUrl + ACCOUNT, { authorization: `Bearer ${token}` })).body.code).toBe(40101)
    expect((await get(gateway.baseUrl + ACCOUNT, { cookie })).body.code).toBe(40001)
  })

  test('does not outlive the suspension of its account', async () => {
    const { id } = await gateway.newAccount()
    const { headers } = await gateway.signIn(id)
    await gateway.storage.accounts.patch(id, { status: 'suspended' })
    const answer = await get(gateway.baseUrl + ACCOUNT, headers)
    expect(answer.status).toBe(403)
    expect(answer.body.code).toBe(40303)
  })

  test('is what a route for people asks for: nothing is 401/40001, an API key 403', async () => {
    expect((await post(SIGN_OUT)).body.code).toBe(40001)
    const byKey = await post(SIGN_OUT, { authorization: `Bearer ${gateway.key}` })
    expect(byKey.status).toBe(403)
    expect(byKey.body.code).toBe(40304)
    expect(byKey.body.message).toContain('API key')
  })

  test('is no API key', async () => {
    const { headers } = await gateway.signIn()
    const answer = await postJson(`${gateway.baseUrl}/v1/chat/completions`, { model: 'm' }, headers)
    expect(answer.body.code).toBe(40101)
  })
})

describe('another site', () => {
  test.each([
    ['its origin', { origin: 'https://evil.example' }],
    ['a sandboxed page', { origin: 'null' }],
    ['a sibling host', { 'sec-fetch-site': 'same-site', origin: 'https://other.sluice.example' }],
    ['the browser’s word', { 'sec-fetch-site': 'cross-site', 'x-sluice-csrf': '1' }],
    ['nothing but the cookie', {}],
  ])('cannot change anything with the cookie: %s [D-accounts-17]', async (_how, headers) => {
    const { cookie, token } = await signIn()
    const answer = await post(SIGN_OUT, { cookie, ...headers })
    expect(answer.status).toBe(403)
    expect(answer.body.code).toBe(40305)
    expect((await get(gateway.baseUrl + ACCOUNT, { authorization: `Bearer ${token}` })).status).toBe(200)
  })

  test.each([
    ['our own origin', (): Record<string, string> => ({ origin: ownOrigin() })],
    ['the browser’s word', () => ({ 'sec-fetch-site': 'same-origin' })],
    ['our header', () => ({ 'x-sluice-csrf': '1' })],
  ])('our own pages can: %s', async (_how, headers) => {
    const { cookie } = await signIn()
    expect((await post(SIGN_OUT, { cookie, ...headers() })).status).toBe(200)
  })

  test('a bearer token needs no such proof: no browser sends it by itself', async () => {
    const { token } = await signIn()
    const headers = { authorization: `Bearer ${token}`, origin: 'https://evil.example' }
    expect((await post(SIGN_OUT, headers)).status).toBe(200)
  })

  test('cannot sign its visitor in as somebody else', async () => {
    const answer = await trySignIn(
      { email: PERSON.email, password: PASSWORD },
      { origin: 'https://evil.example' },
    )
    expect(answer.body.code).toBe(40305)
  })
})
