/** What text messages cost: whoever asks for them, the bill is bounded, and known accounts are not left without a code. */
import { DAY_MS } from '../../src/core/durations.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TestGateway } from '../gateway/gateway.ts'
import { openScriptedUpstream, type ScriptedUpstream } from '../gateway/scripted-upstream.ts'
import { dataOf, PASSWORD, post } from './person.ts'
import { type OpenDesk, openDesk } from './open-desk.ts'
import type { Mailbox } from '../notify/mailbox.ts'

const DAY_LIMIT = 20

let gateway: TestGateway
let sms: ScriptedUpstream
let mailbox: Mailbox
let desk: OpenDesk
let passwordHash: string
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
      SLUICE_SMS_DAY_LIMIT: String(DAY_LIMIT),
      SLUICE_SMS_MONTH_LIMIT: '1000',
      SLUICE_SMS_COUNTRIES: 'CN',
      SLUICE_TRUSTED_PROXIES: '127.0.0.0/8',
    },
  })
  ;({ gateway, mailbox, passwordHash } = desk)
})
afterAll(async () => {
  await desk.close()
  await sms.close()
})

let places = 0
/** Each request from a network of its own, as an attacker with many of them would. */
const elsewhere = (): Record<string, string> => ({
  'x-forwarded-for': `198.51.${Math.floor(++places / 250)}.${places % 250}`,
})
let numbers = 0
const newNumber = (): string => `+86138001${String(38_000 + ++numbers).padStart(5, '0')}`

const askCode = (target: string, purpose: string, headers: Record<string, string>) =>
  post(desk, '/verification-codes', { channel: 'phone', target, purpose }, headers)

async function sentWith(work: () => Promise<unknown>): Promise<number> {
  const before = sms.requests.length
  await work()
  await gateway.settled()
  return sms.requests.length - before
}

async function newDay(): Promise<void> {
  late += DAY_MS
  await gateway.settled()
}

describe('an attacker who registers with number after number, each from another network', () => {
  test('is sent half of the day’s messages, and is told to wait until the next day', async () => {
    await newDay()
    let last = 0
    const sent = await sentWith(async () => {
      for (let asked = 0; asked < DAY_LIMIT; asked++) {
        const answer = await askCode(newNumber(), 'register', elsewhere())
        await gateway.settled()
        last = answer.status
        if (last === 429) expect(Number(answer.headers.get('retry-after'))).toBeLessThanOrEqual(86_400)
      }
    })
    expect(sent).toBe(DAY_LIMIT / 2)
    expect(last).toBe(429)
  })

  test('leaves accounts the rest, and those who sign in from where they were before the last of it', async () => {
    await newDay()
    const phone = newNumber()
    await gateway.newAccount({ phone, passwordHash })
    const home = { 'x-forwarded-for': '203.0.113.5' }
    dataOf(await post(desk, '/sign-in', { phone, password: PASSWORD }, home))
    for (let asked = 0; asked < DAY_LIMIT; asked++) {
      await askCode(newNumber(), 'register', elsewhere())
      await gateway.settled()
    }
    // Somebody with the numbers of accounts burns the next part.
    const burnt = await sentWith(async () => {
      for (let asked = 0; asked < DAY_LIMIT; asked++) {
        const other = newNumber()
        await gateway.newAccount({ phone: other })
        await askCode(other, 'sign_in', elsewhere())
        await gateway.settled()
      }
    })
    expect(burnt).toBe(DAY_LIMIT * 0.8 - DAY_LIMIT / 2)
    expect(await sentWith(() => askCode(phone, 'sign_in', elsewhere()))).toBe(0)
    expect(await sentWith(() => askCode(phone, 'sign_in', home))).toBe(1)
    const told = sms.requests.at(-1)?.json() as { readonly code: string } | undefined
    const code = told?.code
    expect((await post(desk, '/sign-in', { phone, code }, home)).status).toBe(200)
  })

  test('learns nothing of who has an account from a budget that is used up', async () => {
    const known = newNumber()
    await gateway.newAccount({ phone: known })
    const [first, second] = [
      await askCode(known, 'sign_in', elsewhere()),
      await askCode(newNumber(), 'sign_in', elsewhere()),
    ]
    expect([first.status, first.body.message]).toEqual([second.status, second.body.message])
  })
})

describe('a number', () => {
  test('that has no account costs nothing when somebody signs in with it', async () => {
    await newDay()
    expect(await sentWith(() => askCode(newNumber(), 'sign_in', elsewhere()))).toBe(0)
    expect(await sentWith(() => askCode(newNumber(), 'register', elsewhere()))).toBe(1)
  })

  test('gets ten messages a day, whoever asks', async () => {
    await newDay()
    const phone = newNumber()
    const sent = await sentWith(async () => {
      for (let asked = 0; asked < 15; asked++) {
        await askCode(phone, 'register', elsewhere())
        late += 600_000
        await gateway.settled()
      }
    })
    expect(sent).toBeLessThanOrEqual(11)
    expect(sent).toBeGreaterThan(8)
  })

  test.each(['+4915112345678', '+8816123456789', '+14155550123'])(
    'of a country that is not named is refused with the field: %s',
    async (target) => {
      const answer = await askCode(target, 'register', elsewhere())
      expect(answer).toMatchObject({ status: 400, body: { code: 40000 } })
      expect(answer.body.message).toContain('target')
    },
  )

  test('of such a country still signs in by password', async () => {
    const phone = '+4915112345678'
    await gateway.newAccount({ phone, passwordHash })
    expect((await post(desk, '/sign-in', { phone, password: PASSWORD }, elsewhere())).status).toBe(200)
  })
})

test('one place is sent twenty messages a day at most', async () => {
  await newDay()
  await newDay()
  const place = { 'x-forwarded-for': '192.0.2.99' }
  let accepted = 0
  for (let asked = 0; asked < 30; asked++)
    if ((await askCode(newNumber(), 'sign_in', place)).status === 200) accepted += 1
  expect(accepted).toBe(20)
})

test('administrators get one mail when four fifths are used', async () => {
  await newDay()
  await newDay()
  const email = 'operator@example.com'
  await gateway.newAdmin({ email })
  for (let asked = 0; asked < DAY_LIMIT; asked++) {
    const phone = newNumber()
    await gateway.newAccount({ phone })
    await askCode(phone, 'sign_in', elsewhere())
    await gateway.settled()
  }
  const mails = mailbox.mails.filter(({ to }) => to?.some(({ address }) => address === email))
  expect(mails.map(({ subject }) => subject)).toEqual([
    expect.stringContaining(`${DAY_LIMIT * 0.8} of ${DAY_LIMIT} text messages of this day`),
  ])
})
