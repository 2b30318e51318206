/** Codes, registration, sign-in, a forgotten password, another address: over the wire, with a real mail server. */
import { MINUTE_MS } from '../../src/core/durations.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestGateway, PATIENCE_MS } from '../gateway/gateway.ts'
import {
  openScriptedUpstream,
  type ReceivedRequest,
  type ScriptedUpstream,
} from '../gateway/scripted-upstream.ts'
import { bearer, dataOf, mailedCode, PASSWORD, post, read, registerByMail, send } from './person.ts'
import { type OpenDesk, openDesk } from './open-desk.ts'
import { accountId } from '../../src/core/ids.ts'
import { codeIn, type Mailbox } from '../notify/mailbox.ts'

let gateway: TestGateway
let mailbox: Mailbox
let sms: ScriptedUpstream
let desk: OpenDesk
/** Moved forward by tests; never back. */
let late = 0
beforeAll(async () => {
  sms = await openScriptedUpstream()
  sms.answer((_request, response) => {
    response.writeHead(204)
    response.end()
  })
  desk = await openDesk({
    now: () => Date.now() + late,
    environment: {
      SLUICE_SMS_URL: `${sms.url}/send`,
      SLUICE_PHONE_REGION: 'CN',
    },
  })
  ;({ gateway, mailbox } = desk)
})
afterAll(async () => {
  await desk.close()
  await sms.close()
})

let count = 0
const newAddress = (): string => `person${++count}@example.com`

/** The next text message, once it has come. */
async function nextText(): Promise<ReceivedRequest> {
  await expect.poll(() => sms.requests.length, { timeout: PATIENCE_MS }).toBeGreaterThan(0)
  const request = sms.requests.shift()
  if (request === undefined) throw new Error('no text message came')
  return request
}

/** Every limit has leaked away. */
function anHourLater(): void {
  late += 61 * MINUTE_MS
}

describe('a verification code', () => {
  test('goes by e-mail to the target, as six digits [D-accounts-01] [D-accounts-03] [D-accounts-05] [D-requests-66]', async () => {
    const target = newAddress()
    const answer = await post(desk, '/verification-codes', { channel: 'email', target, purpose: 'register' })
    expect(answer.status).toBe(200)
    expect(answer.body.code).toBe(0)
    const mail = await mailbox.next(target)
    expect(codeIn(mail.text)).toMatch(/^\d{6}$/)
    expect(mail.to).toHaveLength(1)
  })

  test('goes by phone to the number [D-accounts-02]', async () => {
    const body = { channel: 'phone', target: '138 0013 8001', purpose: 'register' }
    expect((await post(desk, '/verification-codes', body)).status).toBe(200)
    const sent = (await nextText()).json() as { to: string; text: string; code: string }
    expect(sent.to).toBe('+8613800138001')
    expect(codeIn(sent.text)).toBe(sent.code)
  })

  test('serves the purpose it was asked for and no other [D-accounts-04]', async () => {
    const email = newAddress()
    const account = await registerByMail(desk, email)
    const code = await mailedCode(desk, email, 'reset_password')
    expect((await post(desk, '/sign-in', { email, code })).body.code).toBe(40104)
    const reset = await post(desk, '/password/reset', { email, code, password: 'another good one' })
    expect(dataOf(reset).account_id).toBe(account.account_id)
    for (const purpose of ['', 'everything', 'REGISTER']) {
      const refused = await post(desk, '/verification-codes', { channel: 'email', target: email, purpose })
      expect(refused.status).toBe(400)
      expect(refused.body.message).toContain('purpose')
    }
  })

  test.each([
    ['just before', 10 * MINUTE_MS - 5_000, 200],
    ['just after', 10 * MINUTE_MS + 1, 400],
  ])('is valid for ten minutes: %s [D-accounts-06]', async (_when, waitMs, status) => {
    const email = newAddress()
    const code = await mailedCode(desk, email, 'register')
    late += waitMs
    const answer = await post(desk, '/register/email', { email, code, password: PASSWORD })
    expect(answer.status).toBe(status)
    if (status === 400) expect(answer.body.code).toBe(40005)
  })

  test('is refused after five wrong tries, even when it is right [D-accounts-07]', async () => {
    const email = newAddress()
    const code = await mailedCode(desk, email, 'register')
    const wrong = code === '000000' ? '000001' : '000000'
    for (let tries = 0; tries < 5; tries++) {
      const answer = await post(desk, '/register/email', { email, code: wrong, password: PASSWORD })
      expect(answer.body.code).toBe(40005)
    }
    const answer = await post(desk, '/register/email', { email, code, password: PASSWORD })
    expect(answer.status).toBe(400)
    expect(answer.body.code).toBe(40005)
    anHourLater()
  })

  test('works once', async () => {
    const email = newAddress()
    await registerByMail(desk, email)
    const code = await mailedCode(desk, email, 'sign_in')
    expect((await post(desk, '/sign-in', { email, code })).status).toBe(200)
    expect((await post(desk, '/sign-in', { email, code })).body.code).toBe(40104)
  })

  test('stays good beside the next one, and the one that is used ends both', async () => {
    const email = newAddress()
    await registerByMail(desk, email)
    const first = await mailedCode(desk, email, 'sign_in')
    const second = await mailedCode(desk, email, 'sign_in')
    expect((await post(desk, '/sign-in', { email, code: first })).status).toBe(200)
    expect((await post(desk, '/sign-in', { email, code: second })).body.code).toBe(40104)
  })

  test('is sent only so often to one target: then 429/42908 with the wait [D-accounts-08] [D-errors-17]', async () => {
    anHourLater()
    const body = { channel: 'email', target: newAddress(), purpose: 'register' }
    for (let sent = 0; sent < 5; sent++)
      expect((await post(desk, '/verification-codes', body)).status).toBe(200)
    const refused = await post(desk, '/verification-codes', body)
    expect(refused.status).toBe(429)
    expect(refused.body.code).toBe(42908)
    const wait = Number(refused.headers.get('retry-after'))
    expect(wait).toBeGreaterThan(0)
    late += wait * 1_000
    expect((await post(desk, '/verification-codes', body)).status).toBe(200)
  })

  test('is sent only so often from one address, whatever the targets [D-accounts-08]', async () => {
    anHourLater()
    const ask = () =>
      post(desk, '/verification-codes', { channel: 'email', target: newAddress(), purpose: 'register' })
    const answers = []
    for (let sent = 0; sent < 31; sent++) answers.push((await ask()).status)
    expect(answers.filter((status) => status === 200)).toHaveLength(30)
    expect(answers.at(-1)).toBe(429)
    anHourLater()
  })

  test('says nothing about who has an account: only whoever reads there learns it', async () => {
    const email = newAddress()
    await registerByMail(desk, email)
    const ask = (target: string, purpose: string) =>
      post(desk, '/verification-codes', { channel: 'email', target, purpose })
    const known = await ask(email, 'register')
    const unknown = await ask(newAddress(), 'sign_in')
    const fresh = await ask(newAddress(), 'register')
    for (const answer of [known, unknown, fresh]) {
      expect(answer.status).toBe(200)
      expect(Object.keys(answer.body.data as object)).toEqual(['expires_at'])
    }
    expect((await mailbox.next(email)).text).toContain('already')
  })

  test.each([
    [{ channel: 'email', target: 'no address', purpose: 'register' }, 'target'],
    [{ channel: 'phone', target: '123', purpose: 'register' }, 'target'],
    [{ channel: 'pigeon', target: 'a@example.com', purpose: 'register' }, 'channel'],
    [{ channel: 'email', purpose: 'register' }, 'target'],
    [{ channel: 'email', target: 'a@example.com', purpose: 'register', admin: true }, 'admin'],
    [{ channel: 'email', target: 'a@example.com\r\nbcc: b@example.com', purpose: 'register' }, 'target'],
    [{ channel: 'phone', target: '+8613800138000', purpose: 'change_email' }, 'channel'],
  ])('%j is 400 and names what is wrong', async (body, what) => {
    const answer = await post(desk, '/verification-codes', body, (await gateway.signIn()).headers)
    expect(answer.status).toBe(400)
    expect(answer.body.message).toContain(what)
  })
})

describe('registration', () => {
  test('by e-mail creates the account and signs it in [4.6-01] [4.6-03] [9-04] [D-accounts-09] [D-accounts-10]', async () => {
    const email = newAddress()
    const code = await mailedCode(desk, email, 'register')
    const answer = await post(desk, '/register/email', { email, code, password: PASSWORD })
    const { token, account_id } = dataOf(answer)
    expect(answer.headers.get('set-cookie')).toContain('HttpOnly')
    const account = await read(desk, '/account', bearer(token))
    expect(account.body.data).toMatchObject({ id: account_id, email, phone: null, role: 'user' })
    expect(dataOf(await post(desk, '/sign-in', { email, password: PASSWORD })).account_id).toBe(account_id)
  })

  test('by phone creates the account and signs it in [4.6-02] [D-accounts-11] [D-accounts-12]', async () => {
    const phone = '+86 138-0013-8002'
    sms.requests.length = 0
    await post(desk, '/verification-codes', { channel: 'phone', target: phone, purpose: 'register' })
    const { code } = (await nextText()).json() as { code: string }
    const { token, account_id } = dataOf(
      await post(desk, '/register/phone', { phone, code, password: PASSWORD }),
    )
    const account = await read(desk, '/account', bearer(token))
    expect(account.body.data).toMatchObject({ id: account_id, email: null, phone: '+8613800138002' })
    const again = await post(desk, '/sign-in', { phone: '13800138002', password: PASSWORD })
    expect(dataOf(again).account_id).toBe(account_id)
  })

  test('gives nobody anything they did not ask for: role, Credits and plan cannot be assigned', async () => {
    const email = newAddress()
    const code = await mailedCode(desk, email, 'register')
    const answer = await post(desk, '/register/email', {
      email,
      code,
      password: PASSWORD,
      role: 'admin',
      credits: '1000',
    })
    expect(answer.status).toBe(400)
    expect(answer.body.message).toMatch(/role[^]*credits/)
    expect((await post(desk, '/sign-in', { email, password: PASSWORD })).body.code).toBe(40104)
  })

  test.each([
    ['short', 'at least 8'],
    ['password', 'guess'],
    ['PassWord', 'guess'],
    ['aaaaaaaaaaaa', 'one character'],
    ['x'.repeat(300), 'at most 256'],
  ])('refuses the password %j and says why', async (password, why) => {
    const answer = await post(desk, '/register/email', { email: 'p@example.com', code: '123456', password })
    expect(answer.status).toBe(400)
    expect(answer.body.message).toContain(why)
  })

  test('takes no password that is the address it protects', async () => {
    const body = { email: 'long.name@example.com', code: '123456', password: 'Long.Name@example.com' }
    expect((await post(desk, '/register/email', body)).body.message).toContain('password')
  })

  test.each([
    ['case', (address: string) => address.toUpperCase()],
    ['full-width letters', (address: string) => address.replace('p', 'ｐ')],
    ['a Kelvin sign for a k', (address: string) => address.replace('k', '\u212A')],
  ])('makes one account of one address: %s', async (_what, disguise) => {
    anHourLater()
    const email = `kap${++count}@example.com`
    await registerByMail(desk, email)
    const asked = await post(desk, '/verification-codes', {
      channel: 'email',
      target: disguise(email),
      purpose: 'register',
    })
    expect(asked.status).toBe(200)
    expect((await mailbox.next(email)).text).toContain('already')
    expect((await post(desk, '/sign-in', { email: disguise(email), password: PASSWORD })).status).toBe(200)
  })

  test('takes no address of look-alike letters', async () => {
    const target = 'pers\u043en@example.com'
    const answer = await post(desk, '/verification-codes', { channel: 'email', target, purpose: 'register' })
    expect(answer.status).toBe(400)
  })

  test('of two at once with one code one succeeds', async () => {
    const email = newAddress()
    const code = await mailedCode(desk, email, 'register')
    const body = { email, code, password: PASSWORD }
    const answers = await Promise.all([
      post(desk, '/register/email', body),
      post(desk, '/register/email', body),
    ])
    expect(answers.map(({ status }) => status).sort((one, other) => one - other)).toEqual([200, 400])
  })

  test('of an address that got an account meanwhile is 409/40900, told only to who holds the code', async () => {
    const email = newAddress()
    const code = await mailedCode(desk, email, 'register')
    await gateway.newAccount({ email })
    const answer = await post(desk, '/register/email', { email, code, password: PASSWORD })
    expect(answer.status).toBe(409)
    expect(answer.body.code).toBe(40900)
  })
})

describe('sign-in', () => {
  test('by code, with e-mail or phone [D-accounts-14]', async () => {
    anHourLater()
    const email = newAddress()
    const { id } = await gateway.newAccount({ email, phone: '+8613800138003' })
    const code = await mailedCode(desk, email, 'sign_in')
    expect(dataOf(await post(desk, '/sign-in', { email, code })).account_id).toBe(id)
    sms.requests.length = 0
    await post(desk, '/verification-codes', { channel: 'phone', target: '13800138003', purpose: 'sign_in' })
    const text = (await nextText()).json() as { code: string }
    const byPhone = await post(desk, '/sign-in', { phone: '+8613800138003', code: text.code })
    expect(dataOf(byPhone).account_id).toBe(id)
  })

  test.each([
    [{}, 'email or phone'],
    [{ email: 'a@example.com' }, 'password or code'],
    [{ email: 'a@example.com', phone: '+8613800138000', password: 'x' }, 'email or phone'],
    [{ email: 'a@example.com', password: 'x', code: '123456' }, 'password or code'],
    [{ email: 'unreadable', password: 'x' }, 'email'],
    [{ email: { $ne: null }, password: { $ne: null } }, 'email'],
    [{ email: ['a@example.com'], password: 'x' }, 'email'],
  ])('%j is 400 and says what is wrong', async (body, what) => {
    const answer = await post(desk, '/sign-in', body)
    expect(answer.status).toBe(400)
    expect(answer.body.message).toContain(what)
  })

  test('into a suspended account is 403/40303, told only to its owner', async () => {
    const email = newAddress()
    const { account_id } = await registerByMail(desk, email)
    await gateway.storage.accounts.patch(accountId(account_id), { status: 'suspended' })
    const wrong = await post(desk, '/sign-in', { email, password: 'not this one' })
    expect(wrong.body.code).toBe(40104)
    const right = await post(desk, '/sign-in', { email, password: PASSWORD })
    expect(right.body.code).toBe(40303)
    expect(right.headers.get('set-cookie')).toBeNull()
  })
})

describe('a forgotten password', () => {
  test('is replaced with a code, and every session ends', async () => {
    anHourLater()
    const email = newAddress()
    const { token } = await registerByMail(desk, email)
    const code = await mailedCode(desk, email, 'reset_password')
    const reset = await post(desk, '/password/reset', { email, code, password: 'another good one' })
    expect((await read(desk, '/account', bearer(token))).status).toBe(401)
    expect((await read(desk, '/account', bearer(dataOf(reset).token))).status).toBe(200)
    expect((await post(desk, '/sign-in', { email, password: PASSWORD })).body.code).toBe(40104)
    expect((await post(desk, '/sign-in', { email, password: 'another good one' })).status).toBe(200)
    expect((await mailbox.next(email)).subject).toContain('password was changed')
  })

  test('of an account that does not exist is refused like a wrong code', async () => {
    const body = { email: newAddress(), code: '123456', password: 'another good one' }
    expect((await post(desk, '/password/reset', body)).body.code).toBe(40005)
  })
})

describe('the owner of an account', () => {
  test('changes the password: other sessions end, this one goes on with a new token', async () => {
    anHourLater()
    const email = newAddress()
    const { token } = await registerByMail(desk, email)
    const other = dataOf(await post(desk, '/sign-in', { email, password: PASSWORD }))
    const change = (current_password: string | undefined) =>
      send(desk, {
        method: 'PUT',
        path: '/password',
        body: { current_password, password: 'another good one' },
        headers: bearer(token),
      })
    expect((await change('not this one')).status).toBe(403)
    expect((await change(undefined)).status).toBe(403)
    const changed = await change(PASSWORD)
    const next = dataOf(changed).token
    for (const ended of [token, other.token])
      expect((await read(desk, '/account', bearer(ended))).status).toBe(401)
    expect((await read(desk, '/account', bearer(next))).status).toBe(200)
  })

  test('moves to another e-mail address with a code sent there, and the old address is told', async () => {
    const email = newAddress()
    const next = newAddress()
    const { token } = await registerByMail(desk, email)
    const code = await mailedCode(desk, next, 'change_email', bearer(token))
    const put = (headers: Record<string, string>) =>
      send(desk, { method: 'PUT', path: '/email', body: { email: next, code }, headers })
    const stranger = await registerByMail(desk, newAddress())
    expect((await put(bearer(stranger.token))).body.code).toBe(40005)
    const moved = await put(bearer(token))
    expect(moved.body.data).toEqual({ email: next, phone: null })
    expect((await mailbox.next(email)).subject).toContain('e-mail address of your account was changed')
    expect((await post(desk, '/sign-in', { email: next, password: PASSWORD })).status).toBe(200)
    expect((await post(desk, '/sign-in', { email, password: PASSWORD })).body.code).toBe(40104)
  })

  test('moves to another phone number, and not to somebody else’s', async () => {
    const { token } = await registerByMail(desk, newAddress())
    await gateway.newAccount({ phone: '+8613800138005' })
    const move = async (phone: string) => {
      sms.requests.length = 0
      await post(
        desk,
        '/verification-codes',
        { channel: 'phone', target: phone, purpose: 'change_phone' },
        bearer(token),
      )
      const code = phone.endsWith('5') ? '123456' : ((await nextText()).json() as { code: string }).code
      return send(desk, { method: 'PUT', path: '/phone', body: { phone, code }, headers: bearer(token) })
    }
    expect((await move('+8613800138004')).body.data).toMatchObject({ phone: '+8613800138004' })
    expect((await move('+8613800138005')).status).toBe(400)
  })

  test('needs a session for a code that changes an address, and a fresh one for the change', async () => {
    const email = newAddress()
    const { token } = await registerByMail(desk, email)
    const ask = (headers: Record<string, string>) =>
      post(
        desk,
        '/verification-codes',
        { channel: 'email', target: newAddress(), purpose: 'change_email' },
        headers,
      )
    expect((await ask({})).body.code).toBe(40001)
    expect((await ask(bearer(gateway.key))).body.code).toBe(40304)
    late += 16 * MINUTE_MS
    const body = { email: newAddress(), code: '123456' }
    const stale = await send(desk, { method: 'PUT', path: '/email', body, headers: bearer(token) })
    expect(stale.status).toBe(403)
    expect(stale.body.message).toContain('sign in again')
  })

  test('sees the sessions and ends one, or all others', async () => {
    anHourLater()
    const email = newAddress()
    const { token, session_id } = await registerByMail(desk, email)
    const second = dataOf(
      await post(desk, '/sign-in', { email, password: PASSWORD }, { 'user-agent': 'a telephone' }),
    )
    const third = dataOf(await post(desk, '/sign-in', { email, password: PASSWORD }))
    const list = async () =>
      (await read(desk, '/sessions', bearer(token))).body.data as readonly Record<string, unknown>[]
    const sessions = await list()
    expect(sessions.map(({ id }) => id)).toEqual([third.session_id, second.session_id, session_id])
    expect(sessions[1]).toMatchObject({ current: false, user_agent: 'a telephone', address: '127.0.0.1' })
    expect(sessions[2]).toMatchObject({ current: true, method: 'code' })
    expect(JSON.stringify(sessions)).not.toContain(token)
    const end = (path: string, as = token) => send(desk, { method: 'DELETE', path, headers: bearer(as) })
    expect((await end(`/sessions/${second.session_id}`)).status).toBe(200)
    expect((await end(`/sessions/${second.session_id}`)).body.code).toBe(40403)
    expect((await read(desk, '/account', bearer(second.token))).status).toBe(401)
    const stranger = await gateway.signIn()
    expect((await end(`/sessions/${third.session_id}`, stranger.token)).status).toBe(404)
    expect((await end('/sessions')).body.data).toEqual({ ended: 1 })
    expect((await list()).map(({ id }) => id)).toEqual([session_id])
  })
})
