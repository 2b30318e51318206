import { createHmac } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { Secret } from '../../core/secret.ts'
import type { PaymentDriver } from '../driver.ts'
import { openStripe } from './stripe-driver.ts'

const SECRET = 'whsec_0123456789abcdef'
const AT = Date.parse('2026-11-22T12:00:00Z')
const SECONDS = AT / 1_000

let driver: PaymentDriver
beforeAll(async () => {
  const settings = { key: new Secret('sk_test_1'), webhookSecret: new Secret(SECRET), url: undefined }
  driver = await openStripe(settings, () =>
    Promise.reject(new Error('a notice is read without asking anybody')),
  )
})

const EVENT = JSON.stringify({ id: 'evt_1', type: 'customer.created', created: 1, data: { object: {} } })

function sign(payload: string, seconds = SECONDS): string {
  return createHmac('sha256', SECRET).update(`${seconds}.${payload}`).digest('hex')
}

function readingOf(signature: string | readonly string[] | undefined, payload = EVENT) {
  return driver.readNotice({ payload, headers: { 'stripe-signature': signature }, at: AT })
}

const HEX = 'a'.repeat(64)

describe('a notice with a forged signature is refused, whatever the header looks like', () => {
  test.each<[string, string | readonly string[] | undefined]>([
    ['no header', undefined],
    ['an empty one', ''],
    ['a time and an empty signature', 't=1,v1='],
    ['a time now and an empty signature', `t=${SECONDS},v1=`],
    ['an empty signature beside one of the right length', `t=${SECONDS},v1=,v1=${HEX}`],
    ['a signature that is too short', `t=${SECONDS},v1=abc`],
    ['a signature that is too long', `t=${SECONDS},v1=${HEX}aa`],
    ['a signature of other letters', `t=${SECONDS},v1=${'z'.repeat(64)}`],
    ['a signature of letters of two bytes', `t=${SECONDS},v1=${'\u00e9'.repeat(64)}`],
    ['a signature of the right form', `t=${SECONDS},v1=${HEX}`],
    ['another scheme only', `t=${SECONDS},v0=${HEX}`],
    ['no time', `v1=${HEX}`],
    ['a time that is no number', `t=now,v1=${HEX}`],
    ['a time below zero', `t=-1,v1=${HEX}`],
    ['a time of a thousand digits', `t=${'9'.repeat(1_000)},v1=${HEX}`],
    ['two times', `t=1,t=${SECONDS},v1=${HEX}`],
    ['commas', ',,,,'],
    ['equals signs', '==,=,t='],
    ['a megabyte', `t=${SECONDS},v1=${'a'.repeat(1_000_000)}`],
    ['a thousand signatures', `t=${SECONDS}${`,v1=${HEX}`.repeat(1_000)}`],
    ['a list', [`t=${SECONDS},v1=${HEX}`, `t=${SECONDS},v1=${HEX}`]],
  ])('%s', (_what, signature) => {
    expect(readingOf(signature)).toMatchObject({ kind: 'forged' })
  })

  test('ten thousand headers put together by chance never throw', () => {
    const pieces = [
      't=',
      'v1=',
      'v0=',
      ',',
      '=',
      '1',
      `${SECONDS}`,
      HEX,
      'a',
      '\u0000',
      ' ',
      '-',
      'é',
      'e9',
      '%00',
    ]
    let seed = 20_261_122
    const draw = (most: number): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
      return seed % most
    }
    for (let round = 0; round < 10_000; round += 1) {
      const header = Array.from({ length: draw(9) }, () => pieces[draw(pieces.length)]).join('')
      expect(readingOf(header).kind, header).toBe('forged')
    }
  })
})

describe('a notice that is signed', () => {
  test('is believed, with a second signature beside it while the secret is rolled', () => {
    expect(readingOf(`t=${SECONDS},v1=${sign(EVENT)}`)).toMatchObject({ kind: 'event', id: 'evt_1' })
    expect(readingOf(`t=${SECONDS},v1=${HEX},v1=${sign(EVENT)},v0=x`)).toMatchObject({ kind: 'event' })
  })

  test('is refused when it is older than five minutes', () => {
    const before = SECONDS - 301
    expect(readingOf(`t=${before},v1=${sign(EVENT, before)}`)).toEqual({
      kind: 'forged',
      why: 'the notice is too old',
    })
  })

  test.each(['{}', '[]', '{"id":1,"type":2}', '{"id":"e","type":"t","created":"x","data":null}'])(
    'but holds no event is refused: %s',
    (payload) => {
      expect(readingOf(`t=${SECONDS},v1=${sign(payload)}`, payload)).toMatchObject({ kind: 'forged' })
    },
  )
})
