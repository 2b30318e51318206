/** Topping up by card, against a stand-in of Stripe and webhooks signed by Stripe's own library. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type AdminGateway, openAdminGateway } from '../gateway/admin-gateway.ts'
import type { Answer } from '../gateway/client.ts'
import { type Customer, openCustomer } from '../gateway/customer.ts'
import { openTeam } from '../gateway/team.ts'
import {
  freePort,
  openStripeStandIn,
  sendWebhook,
  STRIPE_KEY,
  type StripeStandIn,
  WEBHOOK_SECRET,
  type WebhookOptions,
} from '../top-up/stripe-stand-in.ts'

import { Secret } from '../../src/core/secret.ts'
import { type Cashier, checkLateTopUps } from '../../src/management/top-up/cashier.ts'
import { openPayments } from '../../src/payments/open-payments.ts'
import { AllowList } from '../../src/upstream/connect/guard.ts'

let stripe: StripeStandIn
let admin: AdminGateway
let customer: Customer
let now = Date.UTC(2027, 0, 1)

beforeAll(async () => {
  stripe = await openStripeStandIn()
  const port = String(await freePort())
  admin = await openAdminGateway({
    now: () => now,
    environment: {
      SLUICE_PORT: port,
      SLUICE_PUBLIC_URL: `http://127.0.0.1:${port}`,
      SLUICE_STRIPE_KEY: STRIPE_KEY,
      SLUICE_STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET,
      SLUICE_STRIPE_URL: stripe.url,
    },
  })
})
beforeEach(async () => {
  customer = await openCustomer(admin.gateway, { credits: 0 })
})
afterAll(async () => {
  await admin.close()
  await stripe.close()
})

const said = ({ status, body }: Answer) => [status, body.code]
const once = (key: string) => ({ 'idempotency-key': key })
const hook = (type: string, object: object, options: Partial<WebhookOptions> = {}) =>
  sendWebhook(admin.gateway.baseUrl, { type, object }, { at: now, ...options })

interface Begun {
  readonly id: string
  readonly checkout_url: string
}

interface Paying extends Begun {
  readonly checkout: string
  readonly session: object
  /** Of the payment, which refunds and disputes name. */
  readonly payment: string
}

let payments = 0

async function begin(amount = 100): Promise<Paying> {
  const begun: Begun = await customer.ask('POST', 'top-ups', { amount_yuan: amount })
  const checkout = begun.checkout_url.split('/').at(-1) ?? ''
  payments += 1
  const payment = `pi_${payments}`
  const session = {
    id: checkout,
    object: 'checkout.session',
    mode: 'payment',
    client_reference_id: begun.id,
    payment_intent: payment,
    payment_status: 'paid',
    amount_total: amount * 100,
    currency: 'cny',
  }
  return { ...begun, checkout, session, payment }
}

async function pay(amount = 100): Promise<Paying> {
  const paying = await begin(amount)
  expect(said(await hook('checkout.session.completed', paying.session))).toEqual([200, 0])
  return paying
}

const funds = async () => {
  const { credits, balance }: { credits: string; balance: string } = await customer.ask('GET', 'account')
  return [credits, balance]
}
const statusOf = async (id: string) => {
  const { status, booked }: { status: string; booked: object } = await customer.ask('GET', `top-ups/${id}`)
  return { status, booked }
}

describe('a checkout', () => {
  test('is opened for what was asked, with the operator’s key, and leads back to this site', async () => {
    const begun: Begun = await customer.ask('POST', 'top-ups', { amount_yuan: '12.50' })
    expect(begun).toMatchObject({
      status: 'open',
      price: '12.5',
      currency: 'CNY',
      credits: null,
      yuan: '12.5',
      booked: { yuan: '0' },
    })
    const session = stripe.sessions.at(-1)
    const form = Object.fromEntries(session?.form ?? [])
    expect(session).toMatchObject({ authorization: `Bearer ${STRIPE_KEY}`, idempotencyKey: begun.id })
    expect(form).toMatchObject({
      mode: 'payment',
      client_reference_id: begun.id,
      'line_items[0][price_data][currency]': 'cny',
      'line_items[0][price_data][unit_amount]': '1250',
      'payment_intent_data[metadata][top_up_id]': begun.id,
      'adaptive_pricing[enabled]': 'false',
      success_url: `${admin.gateway.baseUrl}/?top_up=${begun.id}&outcome=paid`,
      cancel_url: `${admin.gateway.baseUrl}/?top_up=${begun.id}&outcome=cancelled`,
    })
    expect(await funds()).toEqual(['0', '0'])
  })

  test('for an organisation is begun by an admin, and its receipt goes to an owner', async () => {
    const team = await openTeam(admin.gateway)
    const begun = await team.admin.act('POST', 'top-ups', { amount_yuan: '10' })
    expect(begun.status).toBe(201)
    const form = Object.fromEntries(stripe.sessions.at(-1)?.form ?? [])
    expect(form).toMatchObject({ customer_email: team.owner.email })
    expect((await team.owner.act('GET', 'top-ups')).body.data).toHaveLength(1)
    expect(await team.admin.ask('GET', 'top-ups')).toEqual([])
    expect((await team.member.act('POST', 'top-ups', { amount_yuan: '10' })).status).toBe(403)
  })

  test('under one Idempotency-Key it is one, however often it is asked for at once', async () => {
    const before = stripe.sessions.length
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => customer.send('POST', 'top-ups', { amount_yuan: 20 }, once('k'))),
    )
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect(stripe.sessions.length - before).toBe(1)
    expect(said(await customer.send('POST', 'top-ups', { amount_yuan: 21 }, once('k')))).toEqual([422, 40004])
  })

  test('a provider that is out of order says so, and asking again opens the one checkout', async () => {
    const before = stripe.sessions.length
    stripe.failNext(500, 500, 500)
    const failed = await customer.send('POST', 'top-ups', { amount_yuan: 20 }, once('again'))
    expect(said(failed)).toEqual([502, 50201])
    expect(failed.text).not.toContain('stand-in')
    await customer.ask('POST', 'top-ups', { amount_yuan: 20 }, once('again'))
    expect(stripe.sessions.length - before).toBe(1)
    expect(await customer.ask('GET', 'top-ups')).toHaveLength(1)
  })

  test.each([
    ['nothing', {}],
    ['two things', { amount_yuan: 10, package: 'x' }],
    ['a package that is none', { package: 'none' }],
    ['too little', { amount_yuan: 4.99 }],
    ['too little for the provider', { amount_yuan: 5.5 }],
    ['too much', { amount_yuan: 50_001 }],
    ['less than nothing', { amount_yuan: -10 }],
    ['parts of a fen', { amount_yuan: 10.001 }],
    ['to be sent to another site', { amount_yuan: 10, return_url: 'https://evil.example/' }],
    ['to be sent to what looks like this site', { amount_yuan: 10, return_url: '//evil.example' }],
    ['a field of the row', { amount_yuan: 10, status: 'paid' }],
  ])('that is asked for with %s is refused', async (_, body) => {
    expect(said(await customer.send('POST', 'top-ups', body))).toEqual([400, 40000])
  })

  test('that the provider refuses is shown as failed, and refused again under its key', async () => {
    for (let tries = 0; tries < 2; tries += 1) {
      const refused = await customer.send('POST', 'top-ups', { amount_yuan: 5.5 }, once('small'))
      expect(said(refused)).toEqual([400, 40000])
    }
    expect(await customer.ask('GET', 'top-ups')).toMatchObject([{ status: 'failed', checkout_url: null }])
  })

  test('an account begins thirty an hour', async () => {
    const answers: Answer[] = []
    for (let index = 0; index < 31; index += 1)
      answers.push(await customer.send('POST', 'top-ups', { amount_yuan: 10 }))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(30)
    expect(said(answers.at(-1) as Answer)).toEqual([429, 42908])
  })

  test('a package gives what it says', async () => {
    const put = await fetch(`${admin.gateway.baseUrl}/api/v1/admin/top-up-packages/big`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json', ...admin.headers },
      body: JSON.stringify({ name: 'Big', price: 100, credits: 120_000 }),
    })
    expect(put.status).toBe(200)
    const offers: object = await customer.ask('GET', 'top-up-offers')
    expect(offers).toMatchObject({
      card: true,
      currency: 'CNY',
      credits_per_unit: '1000',
      packages: [{ code: 'big', name: 'Big', price: '100', credits: '120000', yuan: null }],
    })
    const begun: Begun = await customer.ask('POST', 'top-ups', {
      package: 'big',
      return_url: '/console/money',
    })
    const form = stripe.sessions.at(-1)?.form
    expect(form?.get('line_items[0][price_data][product_data][name]')).toBe('Big')
    expect(form?.get('success_url')).toContain(`${admin.gateway.baseUrl}/console/money?top_up=`)
    const session = {
      id: begun.checkout_url.split('/').at(-1),
      mode: 'payment',
      client_reference_id: begun.id,
      payment_intent: { id: 'pi_package' },
      payment_status: 'paid',
      amount_total: 10_000,
      currency: 'cny',
    }
    await hook('checkout.session.completed', session)
    expect(await funds()).toEqual(['120000', '0'])
    const removed = await admin.remove('/top-up-packages/big')
    expect(removed.status).toBe(200)
    expect(said(await customer.send('POST', 'top-ups', { package: 'big' }))).toEqual([400, 40000])
    const audit = (await admin.get('/audit?subject=big')).body.data as readonly { readonly action: string }[]
    expect(audit.map(({ action }) => action)).toEqual(['package.remove', 'package.create'])
  })
})

describe('a webhook', () => {
  test('books what was paid once, however often and in parallel it comes', async () => {
    const { id, session } = await begin()
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => hook('checkout.session.completed', session)),
    )
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200))
    await hook('checkout.session.async_payment_succeeded', session)
    expect(await funds()).toEqual(['0', '100'])
    expect(await statusOf(id)).toEqual({ status: 'paid', booked: { credits: null, yuan: '100' } })
    const shown = await admin.get(`/top-ups?account_id=${customer.id}&status=paid`)
    expect(shown.body.data).toMatchObject([
      { id, account_id: customer.id, provider: 'stripe', status: 'paid' },
    ])
  })

  test.each<[string, Partial<WebhookOptions>]>([
    ['with another secret', { secret: 'whsec_of_somebody_else' }],
    ['that was changed', { tamper: (text) => text.replace('10000', '99999') }],
    ['that was printed anew', { tamper: (text) => JSON.stringify(JSON.parse(text)) }],
    ['that was recorded six minutes ago', { signedAt: now - 360_000 }],
  ])('%s is not believed', async (_, options) => {
    const { session } = await begin()
    expect(said(await hook('checkout.session.completed', session, options))).toEqual([400, 40000])
    expect(await funds()).toEqual(['0', '0'])
  })

  test('without a signature is not believed', async () => {
    const response = await fetch(`${admin.gateway.baseUrl}/api/v1/payments/stripe/webhook`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    })
    expect(response.status).toBe(400)
  })

  test.each([
    '',
    't=1,v1=',
    't=,v1=',
    'v1=',
    ',',
    `t=1,v1=${'a'.repeat(63)}`,
    `t=1${',v1=aa'.repeat(500)}`,
    'x'.repeat(8_000),
  ])('with a signature that is none is refused and breaks nothing: %.30s', async (signature) => {
    const response = await fetch(`${admin.gateway.baseUrl}/api/v1/payments/stripe/webhook`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'stripe-signature': signature },
      body: '{}',
    })
    expect(response.status).toBe(400)
  })

  test('that is late by minutes is believed', async () => {
    const { session } = await begin()
    await hook('checkout.session.completed', session, { at: now - 86_400_000, signedAt: now - 240_000 })
    expect(await funds()).toEqual(['0', '100'])
  })

  test.each([
    ['amount', { amount_total: 1 }],
    ['currency', { currency: 'jpy' }],
    ['checkout', { id: 'cs_of_another' }],
  ])('of another %s than was asked books nothing and is left to an admin', async (_, changes) => {
    const { id, session } = await begin()
    expect(said(await hook('checkout.session.completed', { ...session, ...changes }))).toEqual([200, 0])
    expect(await funds()).toEqual(['0', '0'])
    expect(await statusOf(id)).toMatchObject({ status: 'review' })
  })

  test.each([
    ['a payment of another shop', { client_reference_id: 'order_7' }],
    ['a payment that is not ours', { client_reference_id: null }],
    ['a subscription', { mode: 'subscription' }],
    ['what is not paid yet', { payment_status: 'unpaid' }],
    ['what cost nothing', { payment_status: 'no_payment_required', payment_intent: null }],
  ])('about %s is taken and changes nothing', async (_, changes) => {
    const { id, session } = await begin()
    expect(said(await hook('checkout.session.completed', { ...session, ...changes }))).toEqual([200, 0])
    expect(said(await hook('customer.created', { id: 'cus_1' }))).toEqual([200, 0])
    expect([await funds(), await statusOf(id)]).toMatchObject([['0', '0'], { status: 'open' }])
  })

  test('an expired or failed checkout is closed; one that was paid is not', async () => {
    const expired = await begin()
    await hook('checkout.session.expired', expired.session)
    expect(await statusOf(expired.id)).toMatchObject({ status: 'expired' })
    const failed = await begin()
    await hook('checkout.session.async_payment_failed', failed.session)
    expect(await statusOf(failed.id)).toMatchObject({ status: 'failed' })
    const paid = await pay()
    await hook('checkout.session.expired', paid.session)
    expect(await statusOf(paid.id)).toMatchObject({ status: 'paid' })
  })
})

describe('a notice that does not come', () => {
  const later = async (milliseconds: number): Promise<number> => {
    now += milliseconds
    const cashier = cashierOf()
    try {
      return await checkLateTopUps(cashier)
    } finally {
      now -= milliseconds
    }
  }
  const cashierOf = (): Cashier => ({
    storage: admin.gateway.storage,
    driver,
    receipts: 'none',
    log: admin.gateway.running.pipeline.telemetry.log,
    security: admin.gateway.running.pipeline.telemetry.security,
    now: () => now,
  })
  let driver: Cashier['driver']
  beforeAll(async () => {
    const key = new Secret(STRIPE_KEY)
    const settings = { key, webhookSecret: new Secret(WEBHOOK_SECRET), url: stripe.url }
    driver = await openPayments({ stripe: settings, allow: new AllowList([]) })
  })

  test('is made up for by asking, ten minutes later, and what comes afterwards changes nothing', async () => {
    const paid = await begin()
    const open = await begin()
    const expired = await begin()
    stripe.tell(paid.checkout, { ...paid.session, status: 'complete' })
    stripe.tell(open.checkout, { ...open.session, status: 'open', payment_status: 'unpaid' })
    stripe.tell(expired.checkout, { ...expired.session, status: 'expired', payment_status: 'unpaid' })
    expect(await later(599_000)).toBe(0)
    expect(await later(600_000)).toBe(2)
    expect(await later(600_000)).toBe(0)
    await hook('checkout.session.completed', paid.session)
    expect(await funds()).toEqual(['0', '100'])
    const statuses = [await statusOf(paid.id), await statusOf(open.id), await statusOf(expired.id)]
    expect(statuses.map(({ status }) => status)).toEqual(['paid', 'open', 'expired'])
  })

  test('a top-up whose page was never opened is closed after two days', async () => {
    stripe.failNext(500, 500, 500)
    await customer.send('POST', 'top-ups', { amount_yuan: 20 })
    await later(600_000)
    expect(await customer.ask('GET', 'top-ups')).toMatchObject([{ status: 'open' }])
    await later(2 * 86_400_000)
    expect(await customer.ask('GET', 'top-ups')).toMatchObject([{ status: 'expired' }])
  })
})

describe('money that goes back', () => {
  const charge = (payment: string, refunded: number) => ({
    id: 'ch_1',
    object: 'charge',
    payment_intent: payment,
    amount: 10_000,
    amount_refunded: refunded,
    currency: 'cny',
  })
  const dispute = (payment: string, status: string) => ({
    id: `dp_${payment}`,
    object: 'dispute',
    payment_intent: payment,
    amount: 10_000,
    currency: 'cny',
    status,
  })

  test('a refund is taken from the balance, once, and the statement shows it', async () => {
    const { id, payment } = await pay()
    await hook('charge.refunded', charge(payment, 2_500))
    await hook('charge.refunded', charge(payment, 2_500))
    expect(await funds()).toEqual(['0', '75'])
    await hook('charge.refunded', charge(payment, 10_000))
    await hook('charge.refunded', charge(payment, 2_500))
    expect(await funds()).toEqual(['0', '0'])
    expect(await statusOf(id)).toEqual({ status: 'refunded', booked: { credits: null, yuan: '0' } })
    const statement: { readonly entries: readonly object[] } = await customer.ask('GET', 'statements')
    expect(statement.entries).toMatchObject([
      { kind: 'top-up', balance: '100', credits: '0', reference: id },
      { kind: 'refund', balance: '-25', reference: id },
      { kind: 'refund', balance: '-75', reference: id },
    ])
  })

  test('a refund that fails afterwards is given back', async () => {
    const { payment } = await pay()
    const refund = { id: `re_${payment}`, payment_intent: payment, amount: 4_000, currency: 'cny' }
    await hook('refund.created', { ...refund, status: 'pending' })
    await hook('charge.refunded', charge(payment, 4_000))
    expect(await funds()).toEqual(['0', '60'])
    await hook('refund.failed', { ...refund, status: 'failed' }, { at: now + 1_000, signedAt: now })
    await hook('refund.updated', { ...refund, status: 'succeeded' })
    expect(await funds()).toEqual(['0', '100'])
  })

  test('a refund that comes before the payment is not lost', async () => {
    const { payment, session } = await begin()
    await hook('charge.refunded', charge(payment, 2_500))
    await hook('checkout.session.completed', session)
    expect(await funds()).toEqual(['0', '75'])
  })

  test('a dispute takes the money even where it was exchanged, and what was spent is a debt that the next top-up pays', async () => {
    const { id, payment } = await pay()
    await customer.ask('POST', 'exchange', { yuan: 80 })
    expect(await funds()).toEqual(['80000', '20'])
    await hook('charge.dispute.created', dispute(payment, 'warning_needs_response'))
    expect(await funds()).toEqual(['80000', '20'])
    await hook('charge.dispute.created', dispute(payment, 'needs_response'))
    expect(await funds()).toEqual(['0', '0'])
    expect(await statusOf(id)).toMatchObject({ status: 'disputed' })
    await hook('charge.dispute.closed', dispute(payment, 'won'), { at: now + 5_000, signedAt: now })
    await hook('charge.dispute.updated', dispute(payment, 'under_review'))
    expect(await funds()).toEqual(['0', '100'])

    await customer.ask('POST', 'exchange', { yuan: 100 })
    await admin.post(`/accounts/${customer.id}/grants`, { credits: -70_000 })
    await hook('charge.dispute.closed', dispute(payment, 'lost'), { at: now + 9_000, signedAt: now })
    expect(await funds()).toEqual(['0', '-70'])
    expect(await statusOf(id)).toMatchObject({ status: 'charged-back', booked: { yuan: '0' } })
    expect(said(await customer.send('POST', 'exchange', { yuan: 1 }))).toEqual([409, 40900])
    await pay(200)
    expect(await funds()).toEqual(['0', '130'])
  })
})

describe('whose top-ups they are', () => {
  test('another account’s is none, and lists hold one’s own', async () => {
    const { id } = await begin()
    const other = await openCustomer(admin.gateway, { credits: 0 })
    expect(said(await other.send('GET', `top-ups/${id}`))).toEqual([404, 40403])
    expect(await other.ask('GET', 'top-ups')).toEqual([])
    expect(await customer.ask('GET', 'top-ups')).toMatchObject([{ id, status: 'open' }])
  })
})

test('where nothing is configured, topping up by card is plainly not offered', async () => {
  const plain = await openAdminGateway()
  try {
    const buyer = await openCustomer(plain.gateway)
    expect(await buyer.ask('GET', 'top-up-offers')).toMatchObject({ card: false })
    const refused = await buyer.send('POST', 'top-ups', { amount_yuan: 10 })
    expect(said(refused)).toEqual([409, 40900])
    expect(refused.text).toContain('not available here')
    const webhook = await sendWebhook(plain.gateway.baseUrl, { type: 'x', object: {} }, { at: Date.now() })
    expect(said(webhook)).toEqual([409, 40900])
  } finally {
    await plain.close()
  }
})
