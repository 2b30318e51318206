/** What somebody tries who is not who they say they are. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { postJson, sendRaw } from '../gateway/client.ts'
import type { TestGateway } from '../gateway/gateway.ts'
import { bearer, dataOf, mailedCode, PASSWORD, post, PREFIX, read, send } from './person.ts'
import { type OpenDesk, openDesk } from './open-desk.ts'
import type { Mailbox } from '../notify/mailbox.ts'
import type { AccountId } from '../../src/core/ids.ts'

let gateway: TestGateway
let mailbox: Mailbox
let desk: OpenDesk
let passwordHash: string
/** The clock stands unless a test moves it forward: what leaks away with time does not depend on the machine. */
const BEGIN = Date.now()
let late = 0
beforeAll(async () => {
  desk = await openDesk({
    now: () => BEGIN + late,
    environment: {
      // Tests come from wherever they say.
      SLUICE_TRUSTED_PROXIES: '127.0.0.0/8',
    },
  })
  ;({ gateway, mailbox, passwordHash } = desk)
})
afterAll(() => desk.close())

let count = 0
let victim: { readonly id: AccountId; readonly email: string }
beforeEach(async () => {
  const email = `victim${++count}@example.com`
  victim = { id: (await gateway.newAccount({ email, passwordHash })).id, email }
  // Every limit has leaked away.
  late += 3_600_000
})

const from = (address: string): Record<string, string> => ({ 'x-forwarded-for': address })

function tryPassword(password: string, address: string, email = victim.email) {
  return post(desk, '/sign-in', { email, password }, from(address))
}

describe('guessing passwords', () => {
  test('from one place ends at 429/42908, for the right one too, and goes on later [D-accounts-140] [D-errors-17]', async () => {
    const codes: (number | undefined)[] = []
    for (let tries = 0; tries < 11; tries++)
      codes.push((await tryPassword(`guess ${tries}`, '192.0.2.1')).body.code)
    expect(codes.slice(0, 10)).toEqual(Array.from({ length: 10 }, () => 40104))
    expect(codes[10]).toBe(42908)
    const right = await tryPassword(PASSWORD, '192.0.2.1')
    expect(right.status).toBe(429)
    const wait = Number(right.headers.get('retry-after'))
    expect(wait).toBeGreaterThan(0)
    late += wait * 1_000
    expect((await tryPassword(PASSWORD, '192.0.2.1')).status).toBe(200)
  })

  test('from many places ends as well, but the owner comes in from where they were before', async () => {
    expect((await tryPassword(PASSWORD, '198.51.100.1')).status).toBe(200)
    let refused = 0
    for (let place = 0; place < 25; place++) {
      if ((await tryPassword('a guess', `192.0.2.${place}`)).status === 429) refused += 1
    }
    expect(refused).toBe(5)
    expect((await tryPassword(PASSWORD, '192.0.2.200')).status).toBe(429)
    expect((await tryPassword(PASSWORD, '198.51.100.1')).status).toBe(200)
  })

  test('of many accounts from one place ends too', async () => {
    const statuses: number[] = []
    for (let person = 0; person < 61; person++) {
      statuses.push((await tryPassword('a guess', '192.0.2.7', `nobody${person}@example.com`)).status)
    }
    expect(statuses.slice(0, 60)).toEqual(Array.from({ length: 60 }, () => 401))
    expect(statuses[60]).toBe(429)
  })

  test('from an IPv6 network is one place, however many addresses it has', async () => {
    const statuses: number[] = []
    for (let host = 1; host <= 11; host++)
      statuses.push((await tryPassword('a guess', `2001:db8::${host}`)).status)
    expect(statuses.at(-1)).toBe(429)
  })

  test('all at once is counted like one after the other', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, guess) => tryPassword(`guess ${guess}`, '192.0.2.2')),
    )
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(10)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(10)
  })

  test('is not made easier by an account of one’s own', async () => {
    const email = `own${count}@example.com`
    await gateway.newAccount({ email, passwordHash })
    const codes: (number | undefined)[] = []
    for (let round = 0; round < 11; round++) {
      codes.push((await tryPassword('a guess', '192.0.2.3')).body.code)
      expect((await tryPassword(PASSWORD, '192.0.2.3', email)).status).toBe(200)
    }
    expect(codes.at(-1)).toBe(42908)
  })
})

describe('guessing codes', () => {
  test('ends after five, and new codes do not make more [D-accounts-140]', async () => {
    let guesses = 0
    let status = 0
    for (let codes = 0; codes < 4 && status !== 429; codes++) {
      await mailedCode(desk, victim.email, 'sign_in')
      for (let tries = 0; tries < 5; tries++) {
        const answer = await post(
          desk,
          '/sign-in',
          { email: victim.email, code: '000000' },
          from('192.0.2.4'),
        )
        status = answer.status
        if (status === 429) break
        guesses += 1
      }
    }
    expect(status).toBe(429)
    expect(guesses).toBe(10)
  })

  test('of a code nobody was sent finds nothing', async () => {
    const answer = await post(desk, '/sign-in', { email: victim.email, code: '123456' })
    expect(answer.body.code).toBe(40104)
  })
})

function askCode(address: string, { purpose = 'sign_in', email = victim.email } = {}) {
  return post(desk, '/verification-codes', { channel: 'email', target: email, purpose }, from(address))
}

function enterCode(code: string, address: string) {
  return post(desk, '/sign-in', { email: victim.email, code }, from(address))
}

/** The newest code in the victim's mailbox that was asked for in this moment. */
async function sentCode(address: string): Promise<string> {
  return mailedCode(desk, victim.email, 'sign_in', from(address))
}

/** As many codes for the victim as strangers get, from three networks. */
async function floodWithCodes(): Promise<number> {
  let sent = 0
  for (const address of ['192.0.2.30', '192.0.2.31', '192.0.2.32'])
    for (let asked = 0; asked < 8; asked++) if ((await askCode(address)).status === 200) sent += 1
  for (let read = 0; read < sent; read++) await mailbox.next(victim.email)
  return sent
}

describe('a stranger who asks code after code for a victim', () => {
  test('gets five an hour from one place and ten from all together, so that mails stay bounded', async () => {
    expect(await floodWithCodes()).toBe(10)
    expect((await askCode('192.0.2.33')).status).toBe(429)
  })

  test('does not void the code the victim was sent before', async () => {
    const code = await sentCode('203.0.113.1')
    await floodWithCodes()
    expect((await enterCode(code, '203.0.113.1')).status).toBe(200)
  })

  test('cannot use up the tries of the victim’s code from elsewhere', async () => {
    const code = await sentCode('203.0.113.1')
    const wrong = code === '111111' ? '222222' : '111111'
    for (const address of ['192.0.2.30', '192.0.2.31', '192.0.2.32'])
      for (let guess = 0; guess < 5; guess++) await enterCode(wrong, address)
    expect((await enterCode(wrong, '203.0.113.1')).body.code).toBe(40104)
    expect((await enterCode(code, '203.0.113.1')).status).toBe(200)
  })

  test('does not keep the victim from a code where the victim has signed in before', async () => {
    expect((await tryPassword(PASSWORD, '203.0.113.9')).status).toBe(200)
    await floodWithCodes()
    const code = await sentCode('203.0.113.9')
    expect((await enterCode(code, '203.0.113.9')).status).toBe(200)
  })

  test('does not keep the victim from the password, from anywhere', async () => {
    await floodWithCodes()
    expect((await tryPassword(PASSWORD, '203.0.113.77')).status).toBe(200)
  })

  test('and guesses passwords as well does not keep the victim from entering a code', async () => {
    const code = await sentCode('203.0.113.1')
    for (let place = 0; place < 25; place++) await tryPassword('a guess', `198.51.100.${place}`)
    expect((await tryPassword(PASSWORD, '203.0.113.1')).status).toBe(429)
    expect((await enterCode(code, '203.0.113.1')).status).toBe(200)
  })

  test('shares the victim’s network: the codes that were sent before stay good', async () => {
    const code = await sentCode('203.0.113.1')
    while ((await askCode('203.0.113.1')).status === 200) await mailbox.next(victim.email)
    expect((await enterCode(code, '203.0.113.1')).status).toBe(200)
  })

  test('has five guesses for each code, however many places the guesses come from', async () => {
    const code = await sentCode('203.0.113.1')
    const wrong = code === '111111' ? '222222' : '111111'
    for (let guess = 0; guess < 2; guess++) await enterCode(wrong, '203.0.113.1')
    for (let place = 0; place < 5; place++) await enterCode(wrong, `192.0.2.${60 + place}`)
    expect((await enterCode(code, '203.0.113.1')).body.code).toBe(40104)
  })

  test('gets the same answers for an address without an account', async () => {
    const nobody = `nobody${count}@example.com`
    const statuses = async (email: string, place: number) => {
      const seen: number[] = []
      for (let asked = 0; asked < 7; asked++) seen.push((await askCode(`192.0.2.${place}`, { email })).status)
      return seen
    }
    expect(await statuses(nobody, 80)).toEqual(await statuses(victim.email, 81))
  })
})

describe('finding out who has an account', () => {
  test('is not possible by what an answer says', async () => {
    const stranger = `stranger${count}@example.com`
    const wordsOf = async (path: string, body: (email: string) => object) => {
      const answers = [await post(desk, path, body(victim.email)), await post(desk, path, body(stranger))]
      return answers.map(({ status, body: { code, message }, headers }) => ({
        status,
        code,
        message,
        names: [...headers.keys()].sort(),
      }))
    }
    for (const [known, unknown] of [
      await wordsOf('/sign-in', (email) => ({ email, password: 'a guess' })),
      await wordsOf('/sign-in', (email) => ({ email, code: '123456' })),
      await wordsOf('/password/reset', (email) => ({ email, code: '123456', password: 'a new long one' })),
      await wordsOf('/register/email', (email) => ({ email, code: '123456', password: 'a new long one' })),
      await wordsOf('/verification-codes', (target) => ({ channel: 'email', target, purpose: 'sign_in' })),
      await wordsOf('/verification-codes', (target) => ({ channel: 'email', target, purpose: 'register' })),
    ]) {
      expect(unknown).toEqual(known)
    }
  })

  test('is not possible by the limits either', async () => {
    const triesUntil429 = async (email: string, address: string) => {
      for (let tries = 0; ; tries++)
        if ((await tryPassword('a guess', address, email)).status === 429) return tries
    }
    expect(await triesUntil429(victim.email, '192.0.2.5')).toBe(
      await triesUntil429(`nobody${count}@example.com`, '192.0.2.6'),
    )
  })
})

describe('bodies made to hurt', () => {
  const url = () => `${gateway.baseUrl}${PREFIX}/sign-in`

  test('more than a megabyte is 413, before it is read', async () => {
    const answer = await sendRaw(url(), {
      headers: { 'content-type': 'application/json', 'content-length': String(2 ** 21) },
      pieces: ['{"email":"'],
      unfinished: true,
    })
    expect(answer.status).toBe(413)
  })

  test.each([
    ['nested a hundred thousand deep', '['.repeat(100_000) + ']'.repeat(100_000)],
    ['nested deep inside a field', `{"email":${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}}`],
    ['a million members', `{${Array.from({ length: 60_000 }, (_, n) => `"m${n}":1`).join(',')}}`],
    ['no JSON', '{"email":'],
    ['a list', '[]'],
    ['null', 'null'],
    ['a text', '"email"'],
    ['a prototype', '{"__proto__":{"role":"admin"},"email":"a@example.com","password":"x","code":"123456"}'],
    ['a long address', JSON.stringify({ email: `${'a'.repeat(500_000)}@example.com`, password: 'x' })],
    ['a long password', JSON.stringify({ email: 'a@example.com', password: 'x'.repeat(900_000) })],
    ['a NUL', JSON.stringify({ email: 'a\0b@example.com', password: 'x' })],
  ])('%s is 400', async (_what, body) => {
    const answer = await postJson(url(), body)
    expect(answer.status).toBe(400)
    expect(answer.body.code).toBeGreaterThanOrEqual(40000)
  })
})

describe('paths', () => {
  test.each([
    '/sessions/..%2f..%2fadmin',
    '/sessions/%00',
    '/second-factors/passkeys/..%2f',
    '/sessions/%E0%A4%A',
  ])('%s leads nowhere', async (path) => {
    const { headers } = await gateway.signIn()
    const answer = await send(desk, { method: 'DELETE', path, headers })
    expect([400, 404]).toContain(answer.status)
    expect((await read(desk, '/account', headers)).status).toBe(200)
  })
})

describe('a session', () => {
  test('guessed, cut or changed is none', async () => {
    const { token } = await gateway.signIn(victim.id)
    for (const wrong of [
      token.slice(0, -1),
      `${token}a`,
      token.toUpperCase(),
      'session-',
      `session-${'a'.repeat(43)}`,
    ])
      expect((await read(desk, '/account', bearer(wrong))).status).toBe(401)
  })

  test('ends by itself when nobody uses it for two weeks, and after ninety days in any case', async () => {
    const day = 86_400_000
    const { headers } = await gateway.signIn(victim.id)
    for (let days = 0; days < 80; days += 10) {
      late += 10 * day
      expect((await read(desk, '/account', headers)).status).toBe(200)
      await gateway.settled()
    }
    late += 11 * day
    expect((await read(desk, '/account', headers)).status).toBe(401)
    const idle = await gateway.signIn(victim.id)
    late += 14 * day
    expect((await read(desk, '/account', idle.headers)).status).toBe(401)
  })

  test('does not stay where the password was changed by an administrator', async () => {
    const { headers } = await gateway.signIn(victim.id)
    await gateway.storage.accounts.patch(victim.id, { passwordHash })
    expect((await read(desk, '/account', headers)).status).toBe(401)
  })
})

describe('an administrator', () => {
  test('changes e-mail address and phone number: the account shows them and sign-in follows [D-accounts-139]', async () => {
    const admin = await gateway.newAdmin()
    const change = {
      email: `Moved${count}@Example.com`,
      phone: `+86138001390${String(count).padStart(2, '0')}`,
    }
    const answer = await sendRaw(`${gateway.baseUrl}/api/v1/admin/accounts/${victim.id}`, {
      method: 'PATCH',
      headers: { ...admin.headers, 'content-type': 'application/json' },
      pieces: [JSON.stringify(change)],
    })
    expect(answer.status).toBe(200)
    const by = (login: object) => post(desk, '/sign-in', { ...login, password: PASSWORD }, from('192.0.2.50'))
    const { token } = dataOf(await by({ phone: change.phone }))
    expect((await read(desk, '/account', bearer(token))).body.data).toMatchObject({
      id: victim.id,
      email: change.email.toLowerCase(),
      phone: change.phone,
    })
    expect(dataOf(await by({ email: change.email })).account_id).toBe(victim.id)
    expect((await by({ email: victim.email })).body.code).toBe(40104)
  })
})
