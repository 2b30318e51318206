/** Receipts: one mail for each payment, whatever is told twice and whoever looks at it at once. */
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { type Customer, openCustomer } from '../gateway/customer.ts'
import { openGateway } from '../gateway/gateway.ts'
import { openMailbox } from '../notify/mailbox.ts'
import {
  freePort,
  openStripeStandIn,
  sendWebhook,
  STRIPE_KEY,
  WEBHOOK_SECRET,
} from '../top-up/stripe-stand-in.ts'
import { Secret } from '../../src/core/secret.ts'
import { deliverAlerts } from '../../src/management/accounts/alerts.ts'
import { renewDue } from '../../src/management/money/subscriptions.ts'
import { openMailSender } from '../../src/notify/mail/smtp.ts'
import { alertPost } from '../../src/app/rounds/customer-rounds.ts'
import { AllowList } from '../../src/upstream/connect/guard.ts'
import { withGateway } from '../gateway/with-gateway.ts'

const FROM = 'till@sluice.example'
const plan = { periodDays: 30, quota: [{ credits: '50', seconds: 18_000 }] }

let customer: Customer
let email: string

const mailbox = await openMailbox()
afterAll(() => mailbox.close())
const stripe = await openStripeStandIn()
afterAll(() => stripe.close())
const port = String(await freePort())
const { gateway } = await withGateway({
  environment: {
    SLUICE_PORT: port,
    SLUICE_PUBLIC_URL: `http://127.0.0.1:${port}`,
    SLUICE_SMTP_URL: mailbox.url,
    SLUICE_MAIL_FROM: FROM,
    SLUICE_STRIPE_KEY: STRIPE_KEY,
    SLUICE_STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET,
    SLUICE_STRIPE_URL: stripe.url,
  },
  catalogue: () => [
    { kind: 'put-plan', plan: { code: 'PLUS', level: 1, price: '99', currency: 'CNY', ...plan } },
    { kind: 'put-plan', plan: { code: 'FREE', level: 1, price: '0', currency: 'CNY', ...plan } },
  ],
})
beforeEach(async () => {
  customer = await openCustomer(gateway, { balanceYuan: 500 })
  email = (await gateway.account(customer.id)).email ?? ''
  mailbox.mails.length = 0
})

/** Everything that waits leaves now, and what came for this customer is read. */
async function receipts() {
  const sender = await openMailSender(new Secret(mailbox.url), FROM)
  const messenger = {
    send: sender.send.bind(sender),
    leaves: () => true,
    close: () => sender.close(),
  } as never
  const { videoSettings, telemetry } = gateway.running.pipeline
  const { secretKey } = videoSettings
  const out = alertPost({ messenger, secretKey, allow: new AllowList([]), telemetry })
  await deliverAlerts(gateway.storage, out, Date.now() + 1_000)
  await deliverAlerts(gateway.storage, out, Date.now() + 2_000)
  await sender.close()
  return mailbox.mails
    .filter(({ to }) => to?.some(({ address }) => address === email))
    .map(({ subject, text }) => ({ subject, text: text ?? '' }))
}

let payments = 0

async function pay(amount = 100) {
  const begun: { readonly id: string; readonly checkout_url: string } = await customer.ask(
    'POST',
    'top-ups',
    {
      amount_yuan: amount,
    },
  )
  payments += 1
  const session = {
    id: begun.checkout_url.split('/').at(-1) ?? '',
    object: 'checkout.session',
    mode: 'payment',
    client_reference_id: begun.id,
    payment_intent: `pi_receipt_${payments}`,
    payment_status: 'paid',
    amount_total: amount * 100,
    currency: 'cny',
  }
  const tell = () =>
    sendWebhook(gateway.baseUrl, { type: 'checkout.session.completed', object: session }, { at: Date.now() })
  await tell()
  return { id: begun.id, payment: session.payment_intent, tell }
}

describe('a paid top-up', () => {
  test('sends one receipt, however often the provider sends its notice', async () => {
    const { id, tell } = await pay()
    await Promise.all([tell(), tell(), tell()])
    const [mail, ...others] = await receipts()
    expect(others).toEqual([])
    expect(mail?.subject).toBe('Receipt: 100 CNY · 收据')
    expect(mail?.text).toContain('100 CNY was paid for Balance')
    expect(mail?.text).toContain('Your account was given 100 CNY.')
    expect(mail?.text).toContain(`Reference: ${id}`)
    await tell()
    expect(await receipts()).toHaveLength(1)
  })

  test('two payments have two receipts; what goes back has none', async () => {
    const { payment } = await pay(20)
    await pay(30)
    const charge = { id: 'ch_1', object: 'charge', payment_intent: payment }
    const refunded = { ...charge, amount: 2_000, amount_refunded: 2_000, currency: 'cny', refunded: true }
    await sendWebhook(gateway.baseUrl, { type: 'charge.refunded', object: refunded }, { at: Date.now() })
    const subjects = (await receipts()).map(({ subject }) => subject)
    expect(new Set(subjects)).toEqual(new Set(['Receipt: 20 CNY · 收据', 'Receipt: 30 CNY · 收据']))
    expect(subjects).toHaveLength(2)
    const { alerts }: { alerts: readonly { type: string; cleared_at: string | null }[] } = await customer.ask(
      'GET',
      'alerts',
    )
    expect(alerts.map(({ type, cleared_at: at }) => [type, at !== null])).toEqual([
      ['receipt', true],
      ['receipt', true],
    ])
  })
})

describe('a subscription', () => {
  test('sends one receipt when it is bought, however often that is asked for, and one a renewal', async () => {
    const once = { 'idempotency-key': 'order' }
    for (const _time of [1, 2]) await customer.ask('POST', 'subscription', { plan: 'PLUS' }, once)
    const [bought, ...others] = await receipts()
    expect(others).toEqual([])
    expect(bought?.subject).toBe('Receipt: 99 CNY · 收据')
    expect(bought?.text).toMatch(/99 CNY was paid for PLUS on .*\nIt is valid until .*\nReference: /)
    const { renews_at: due }: { renews_at: string } = await customer.ask('GET', 'subscription')
    const catalogue = await gateway.storage.catalogue.read()
    const renew = () => renewDue(gateway.storage, catalogue, Date.parse(due), 'mailed')
    await Promise.all([renew(), renew(), renew()])
    expect(await notedAt(Date.parse(due))).toBe(1)
    await customer.send('DELETE', 'subscription')
  })

  test('that costs nothing sends none', async () => {
    await customer.ask('POST', 'subscription', { plan: 'FREE' })
    expect(await receipts()).toEqual([])
  })
})

/** Of a renewal: it lies ahead of the clock of the gateway, so its mail does not leave yet. */
async function notedAt(at: number): Promise<number> {
  const noted = await gateway.storage.customers.alerts.list(customer.id, 10)
  return noted.filter(({ kind, raisedAt }) => kind === 'receipt' && raisedAt === at).length
}

test('an account can do without receipts', async () => {
  expect(await customer.ask('GET', 'account')).toMatchObject({ alerts: { receipts: true } })
  await customer.ask('PATCH', 'account', { alerts: { receipts: false } })
  expect(await customer.ask('GET', 'account')).toMatchObject({ alerts: { receipts: false, email: false } })
  await pay()
  await customer.ask('POST', 'subscription', { plan: 'PLUS' })
  expect(await receipts()).toEqual([])
})

test('where no mail leaves there is no receipt, and paying is no error', async () => {
  const silent = await openGateway()
  try {
    await silent.catalogue({
      kind: 'put-plan',
      plan: { code: 'PLUS', level: 1, price: '99', currency: 'CNY', ...plan },
    })
    const payer = await openCustomer(silent, { balanceYuan: 500 })
    await payer.ask('POST', 'subscription', { plan: 'PLUS' })
    expect(await payer.ask('GET', 'alerts')).toMatchObject({ alerts: [] })
  } finally {
    await silent.close()
  }
})
