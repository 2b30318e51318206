/** Second factors over the wire: one-time passwords, recovery codes, passkeys played by a software authenticator. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { postJson } from '../gateway/client.ts'
import type { TestGateway } from '../gateway/gateway.ts'
import { bearer, dataOf, PASSWORD, post, read, send } from './person.ts'
import { type OpenDesk, openDesk } from './open-desk.ts'
import { SoftwareAuthenticator } from './software-authenticator.ts'
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
  })
  ;({ gateway, mailbox, passwordHash } = desk)
})
afterAll(() => desk.close())

let count = 0
async function newPerson() {
  const email = `factor${++count}@example.com`
  await gateway.newAccount({ email, passwordHash })
  const signIn = () => post(desk, '/sign-in', { email, password: PASSWORD })
  const { token } = dataOf(await signIn())
  return { email, token, signIn }
}

const codeNow = (secret: string, steps = 0): string =>
  codeOf(decodeBase32(secret), Math.floor((Date.now() + late) / STEP_MS) + steps, 6)

/** A code is taken once: time goes on until the next one. */
function nextStep(): void {
  late += STEP_MS
}

async function withAuthenticator() {
  const person = await newPerson()
  const begun = await post(desk, '/second-factors/totp', {}, bearer(person.token))
  const { secret } = begun.body.data as { secret: string }
  const confirmed = await post(
    desk,
    '/second-factors/totp/confirm',
    { code: codeNow(secret) },
    bearer(person.token),
  )
  const { recovery_codes } = confirmed.body.data as { recovery_codes: string[] }
  nextStep()
  return { ...person, secret, recoveryCodes: recovery_codes }
}

describe('an authenticator app', () => {
  test('is asked for once a code has confirmed it, and the owner is told by mail', async () => {
    const { email, token, signIn } = await newPerson()
    const begun = await post(desk, '/second-factors/totp', {}, bearer(token))
    const { secret, otpauth_url } = begun.body.data as { secret: string; otpauth_url: string }
    expect(otpauth_url).toContain(`secret=${secret}`)
    expect(dataOf(await signIn()).state).toBe('signed_in')
    const wrong = await post(
      desk,
      '/second-factors/totp/confirm',
      { code: codeNow(secret, -9) },
      bearer(token),
    )
    expect(wrong.body.code).toBe(40005)
    const right = await post(desk, '/second-factors/totp/confirm', { code: codeNow(secret) }, bearer(token))
    expect((right.body.data as { recovery_codes: string[] }).recovery_codes).toHaveLength(10)
    expect((await mailbox.next(email)).text).toContain('authenticator app was added')
    const answer = await signIn()
    expect(answer.headers.get('set-cookie')).toBeNull()
    expect(answer.body.data).toMatchObject({
      state: 'second_factor_required',
      factors: ['totp', 'recovery_code'],
    })
    expect(answer.body.data).not.toHaveProperty('token')
  })

  test('lets its owner in with a code, once', async () => {
    const { secret, signIn } = await withAuthenticator()
    const { challenge } = dataOf(await signIn())
    const totp = codeNow(secret)
    const answer = await post(desk, '/sign-in/second-factor', { challenge, totp })
    const { token } = dataOf(answer)
    expect(answer.headers.get('set-cookie')).toContain('HttpOnly')
    expect((await read(desk, '/account', bearer(token))).status).toBe(200)
    expect((await post(desk, '/sign-in/second-factor', { challenge, totp })).body.code).toBe(40104)
    const again = dataOf(await signIn())
    const replayed = await post(desk, '/sign-in/second-factor', { challenge: again.challenge, totp })
    expect(replayed.body.code).toBe(40104)
    nextStep()
    const next = { challenge: again.challenge, totp: codeNow(secret) }
    expect(dataOf(await post(desk, '/sign-in/second-factor', next)).state).toBe('signed_in')
  })

  test('stands behind codes by mail and a new password as well', async () => {
    const { email } = await withAuthenticator()
    await mailbox.next(email)
    await post(desk, '/verification-codes', { channel: 'email', target: email, purpose: 'reset_password' })
    const code = /\d{6}/.exec((await mailbox.next(email)).text ?? '')?.[0]
    const reset = await post(desk, '/password/reset', { email, code, password: 'another good one' })
    expect(dataOf(reset).state).toBe('second_factor_required')
  })

  test('a challenge takes five answers, and an account ten in a quarter of an hour', async () => {
    const { secret, signIn } = await withAuthenticator()
    const guess = async () => {
      const { challenge } = dataOf(await signIn())
      const codes: number[] = []
      for (let tries = 0; tries < 6; tries++) {
        const answer = await post(desk, '/sign-in/second-factor', { challenge, totp: '000000' })
        codes.push(answer.body.code ?? 0)
      }
      return codes
    }
    expect(await guess()).toEqual([40104, 40104, 40104, 40104, 40104, 40104])
    await guess()
    const { challenge } = dataOf(await signIn())
    const refused = await post(desk, '/sign-in/second-factor', { challenge, totp: codeNow(secret) })
    expect(refused.status).toBe(429)
    expect(refused.body.code).toBe(42908)
    late += (Number(refused.headers.get('retry-after')) + 1) * 1_000
    const right = await post(desk, '/sign-in/second-factor', { challenge, totp: codeNow(secret) })
    expect(right.status).toBe(200)
  })

  test('cannot be set up twice, taken away without a fresh session, or by an API key', async () => {
    const { token, secret, signIn } = await withAuthenticator()
    expect((await post(desk, '/second-factors/totp', {}, bearer(token))).body.code).toBe(40900)
    expect((await post(desk, '/second-factors/totp', {}, bearer(gateway.key))).body.code).toBe(40304)
    late += 16 * 60_000
    const remove = (as: string) =>
      send(desk, { method: 'DELETE', path: '/second-factors/totp', headers: bearer(as) })
    expect((await remove(token)).status).toBe(403)
    const { challenge } = dataOf(await signIn())
    const fresh = dataOf(await post(desk, '/sign-in/second-factor', { challenge, totp: codeNow(secret) }))
    expect((await remove(fresh.token)).status).toBe(200)
    const factors = await read(desk, '/second-factors', bearer(fresh.token))
    expect(factors.body.data).toEqual({ totp: false, passkeys: [], recovery_codes_left: 0 })
    expect(dataOf(await signIn()).state).toBe('signed_in')
  })

  test('a challenge lasts ten minutes', async () => {
    const { secret, signIn } = await withAuthenticator()
    const { challenge } = dataOf(await signIn())
    late += 10 * 60_000
    const answer = await post(desk, '/sign-in/second-factor', { challenge, totp: codeNow(secret) })
    expect(answer.body.code).toBe(40104)
  })
})

describe('a recovery code', () => {
  test('stands in for the second factor once, however it is typed, until new ones are made', async () => {
    const { token, recoveryCodes, signIn } = await withAuthenticator()
    const enter = async (recovery_code: string | undefined) => {
      const { challenge } = dataOf(await signIn())
      return post(desk, '/sign-in/second-factor', { challenge, recovery_code })
    }
    const [first = '', second = ''] = recoveryCodes
    expect(dataOf(await enter(first.toUpperCase().replaceAll('-', ' '))).state).toBe('signed_in')
    expect((await enter(first)).body.code).toBe(40104)
    const factors = await read(desk, '/second-factors', bearer(token))
    expect(factors.body.data).toMatchObject({ totp: true, recovery_codes_left: 9 })
    const renewed = await post(desk, '/second-factors/recovery-codes', {}, bearer(token))
    expect((await enter(second)).body.code).toBe(40104)
    const [next] = (renewed.body.data as { recovery_codes: string[] }).recovery_codes
    expect(dataOf(await enter(next)).state).toBe('signed_in')
  })
})

describe('an administrator', () => {
  test('takes the second factors of somebody who lost them all away, with a reason, and the owner is told', async () => {
    const { email, token, signIn } = await withAuthenticator()
    await mailbox.next(email)
    const admin = await gateway.newAdmin()
    const reset = (headers: Record<string, string>, body: object = { reason: 'showed a passport' }) =>
      postJson(`${gateway.baseUrl}/api/v1/admin/accounts/${email}/second-factors/reset`, body, headers)
    expect((await reset(bearer(token))).status).toBe(403)
    expect((await reset(admin.headers, {})).status).toBe(400)
    expect((await reset(admin.headers)).status).toBe(200)
    expect((await mailbox.next(email)).text).toContain('administrator')
    expect((await read(desk, '/account', bearer(token))).status).toBe(401)
    expect(dataOf(await signIn()).state).toBe('signed_in')
    expect((await reset(admin.headers)).status).toBe(409)
  })
})

type Options = { readonly challenge: string }
interface Question {
  readonly challenge: string
  readonly options: Options
}

const site = () => ({ origin: new URL(gateway.baseUrl).origin, hostName: '127.0.0.1' })

async function addPasskey(token: string, key: SoftwareAuthenticator) {
  const asked = await post(desk, '/second-factors/passkeys/options', {}, bearer(token))
  const { challenge, options } = asked.body.data as Question
  const body = { challenge, name: 'my telephone', response: key.create(options) }
  return { body, answer: await post(desk, '/second-factors/passkeys', body, bearer(token)) }
}

async function askPasskey(body: object = {}): Promise<Question> {
  const answer = await post(desk, '/sign-in/passkey/options', body)
  if (answer.status !== 200) throw new Error(answer.text)
  return answer.body.data as Question
}

describe('a passkey', () => {
  test('is the second factor once it is added', async () => {
    const { token, signIn } = await newPerson()
    const key = new SoftwareAuthenticator({ ...site(), userVerified: false })
    const { answer } = await addPasskey(token, key)
    expect(answer.status).toBe(201)
    expect(answer.body.data).toMatchObject({
      passkey: { id: key.id, name: 'my telephone', last_used_at: null },
    })
    const pending = dataOf(await signIn())
    expect(pending.factors).toEqual(['passkey', 'recovery_code'])
    const { challenge, options } = await askPasskey({ challenge: pending.challenge })
    expect(options).toMatchObject({ allowCredentials: [{ id: key.id }] })
    const passkey = { challenge, response: key.get(options) }
    const body = { challenge: pending.challenge, passkey }
    const signedIn = dataOf(await post(desk, '/sign-in/second-factor', body))
    expect(signedIn.state).toBe('signed_in')
    const factors = await read(desk, '/second-factors', bearer(signedIn.token))
    expect(factors.body.data).toMatchObject({ passkeys: [{ id: key.id, last_used_at: expect.any(String) }] })
  })

  test('that verified its owner is the whole sign-in', async () => {
    const { token } = await newPerson()
    const key = new SoftwareAuthenticator(site())
    await addPasskey(token, key)
    const { challenge, options } = await askPasskey()
    const answer = await post(desk, '/sign-in/passkey', { challenge, response: key.get(options) })
    expect(dataOf(answer).state).toBe('signed_in')
    const again = await post(desk, '/sign-in/passkey', { challenge, response: key.get(options) })
    expect(again.body.code).toBe(40104)
  })

  test('that did not verify its owner is not', async () => {
    const { token } = await newPerson()
    const key = new SoftwareAuthenticator({ ...site(), userVerified: false })
    await addPasskey(token, key)
    const { challenge, options } = await askPasskey()
    const answer = await post(desk, '/sign-in/passkey', { challenge, response: key.get(options) })
    expect(answer.body.code).toBe(40104)
  })

  test.each([
    ['another site’s page', { origin: 'https://evil.example', hostName: '127.0.0.1' }],
    ['another host', { hostName: 'evil.example' }],
  ])('cannot be added from %s', async (_where, wrong) => {
    const { token } = await newPerson()
    const { answer } = await addPasskey(token, new SoftwareAuthenticator({ ...site(), ...wrong }))
    expect(answer.status).toBe(400)
    expect(answer.body.code).toBe(40005)
  })

  test('cannot be added with a challenge of somebody else, or twice', async () => {
    const [one, other] = [await newPerson(), await newPerson()]
    const asked = await post(desk, '/second-factors/passkeys/options', {}, bearer(one.token))
    const { challenge, options } = asked.body.data as Question
    const key = new SoftwareAuthenticator(site())
    const body = { challenge, name: 'stolen', response: key.create(options) }
    const stolen = await post(desk, '/second-factors/passkeys', body, bearer(other.token))
    expect(stolen.body.code).toBe(40005)
    const { body: first } = await addPasskey(one.token, key)
    expect((await post(desk, '/second-factors/passkeys', first, bearer(one.token))).body.code).toBe(40005)
    expect((await addPasskey(other.token, key)).answer.body.code).toBe(40005)
  })

  test('of somebody else is no second factor', async () => {
    const [one, other] = [await newPerson(), await newPerson()]
    const [key, foreign] = [new SoftwareAuthenticator(site()), new SoftwareAuthenticator(site())]
    await addPasskey(one.token, key)
    await addPasskey(other.token, foreign)
    const pending = dataOf(await one.signIn())
    const asked = await askPasskey({ challenge: pending.challenge })
    const alone = await askPasskey()
    for (const passkey of [
      { challenge: asked.challenge, response: foreign.get(asked.options) },
      { challenge: alone.challenge, response: key.get(alone.options) },
    ]) {
      const answer = await post(desk, '/sign-in/second-factor', { challenge: pending.challenge, passkey })
      expect(answer.body.code).toBe(40104)
    }
  })

  test('that was copied is found out: a count that does not go on is refused', async () => {
    const { token } = await newPerson()
    const key = new SoftwareAuthenticator({ ...site(), counts: true })
    await addPasskey(token, key)
    const enter = async () => {
      const { challenge, options } = await askPasskey()
      return post(desk, '/sign-in/passkey', { challenge, response: key.get(options) })
    }
    expect((await enter()).status).toBe(200)
    key.counter = 0
    expect((await enter()).body.code).toBe(40104)
    expect((await enter()).status).toBe(200)
  })

  test('is removed by its owner only', async () => {
    const [one, other] = [await newPerson(), await newPerson()]
    const key = new SoftwareAuthenticator(site())
    await addPasskey(one.token, key)
    const remove = (as: string) =>
      send(desk, { method: 'DELETE', path: `/second-factors/passkeys/${key.id}`, headers: bearer(as) })
    expect((await remove(other.token)).status).toBe(404)
    expect((await remove(one.token)).status).toBe(200)
    expect(dataOf(await one.signIn()).state).toBe('signed_in')
  })
})
