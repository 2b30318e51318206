/** Money in the hands of whoever spends it: exchanged, redeemed, paid by card, bound to a plan, and accounted for. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import {
  openStripeStandIn,
  STRIPE_KEY,
  type StripeStandIn,
  sendWebhook,
  WEBHOOK_SECRET,
} from '../../../server/test/top-up/stripe-stand-in.ts'
import { signInAs } from '../../test/api.ts'
import { expectOpenToEverybody } from '../../test/everybody.ts'
import { ADMIN, CUSTOMER, gatewayFile } from '../../test/gateway.ts'
import { JOURNEY_MS, openSite, type Site } from '../../test/visit.ts'

vi.setConfig({ testTimeout: JOURNEY_MS })

let stripe: StripeStandIn
let site: Site

beforeAll(async () => {
  stripe = await openStripeStandIn()
  const file = gatewayFile()
  const [plus, pro] = file.plans
  site = await openSite({
    file: { ...file, plans: [plus, pro, { ...pro, code: 'MAX', level: 3, price: 250 }] },
    environment: {
      SLUICE_STRIPE_KEY: STRIPE_KEY,
      SLUICE_STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET,
      SLUICE_STRIPE_URL: stripe.url,
    },
  })
})

afterAll(async () => {
  await site.close()
  await stripe.close()
})

test('balance becomes Credits by hand, and the statement says so', async () => {
  const visit = await site.visit('/wallet', { as: CUSTOMER })
  const { page } = visit
  await page.getByText('¥286.40').first().waitFor()
  const amount = page.getByRole('textbox', { name: 'Balance' })
  await amount.fill('500')
  await page.getByRole('button', { name: 'Exchange', exact: true }).click()
  await page.getByText('That is more than the balance.').waitFor()
  await amount.fill('36.4')
  await page.getByText('becomes 36,400 Credits').waitFor()
  await page.getByRole('button', { name: 'Exchange', exact: true }).click()
  await page.getByText('36,400 Credits were added.').waitFor()
  await page.getByText('¥250.00').first().waitFor()
  await page.getByText('449,206').first().waitFor()
  const row = page.getByRole('row', { name: /Exchanged/ })
  expect(await row.innerText()).toMatch(/\+36,400\.00\s+−¥36\.40/)
  expect(visit.faults).toEqual([])
  await visit.close()
})

test('what may pay for calls is chosen, and stays chosen', async () => {
  const visit = await site.visit('/wallet', { as: CUSTOMER })
  const { page } = visit
  await page.getByRole('switch', { name: 'Exchange automatically' }).check({ force: true })
  await page.getByRole('textbox', { name: 'When there are less than' }).fill('50000')
  await page.getByRole('textbox', { name: 'Exchange each time' }).fill('20')
  await page.getByRole('textbox', { name: 'Monthly cap' }).fill('1200')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('status').getByText('Saved').waitFor()
  await page.getByText('of ¥1,200, your cap').waitFor()
  const ann = await signInAs(site.baseUrl, CUSTOMER)
  expect(await ann.ask('GET', 'user/user/account')).toMatchObject({
    api_deduction: true,
    monthly_cap_yuan: '1200',
    auto_exchange: { enabled: true, below_credits: '50000', step_yuan: '20' },
  })
  expect(visit.faults).toEqual([])
  await visit.close()
})

test('a code is redeemed however it is typed, and once', async () => {
  const admin = await signInAs(site.baseUrl, ADMIN)
  const { codes } = await admin.ask<{ codes: readonly string[] }>('POST', 'admin/code-batches', {
    count: 1,
    credits: 5_000,
  })
  const [code = ''] = codes
  const visit = await site.visit('/wallet', { as: CUSTOMER })
  const { page } = visit
  await page.getByRole('button', { name: 'Redeem a code' }).click()
  const dialog = page.getByRole('dialog', { name: 'Redeem a code' })
  const field = dialog.getByRole('textbox', { name: 'Code' })
  await field.fill('nothing like a code')
  await page.keyboard.press('Enter')
  await dialog.getByText('There is no such code.').waitFor()
  await field.fill(code.replaceAll('-', ' ').toLowerCase())
  await page.keyboard.press('Enter')
  await dialog.getByText('5,000 Credits were added.').waitFor()
  await field.fill(code)
  await page.keyboard.press('Enter')
  await dialog.getByText(/redeemed .*already/).waitFor()
  expect(visit.faults).toEqual([])
  await visit.close()
})

test('a plan’s price is told before it is bought, a lower one waits, and each payment has a receipt', async () => {
  const visit = await site.visit('/wallet', { as: CUSTOMER })
  const { page } = visit
  await page.getByRole('button', { name: 'Change plan' }).click()
  const dialog = page.getByRole('dialog', { name: 'Plans' })
  await dialog.getByRole('radio', { name: 'PLUS' }).click()
  await dialog.getByText(/From then on it is PLUS/).waitFor()
  await dialog.getByRole('button', { name: 'Go on as PLUS' }).click()
  await page.getByText(/goes on as PLUS on/).waitFor()

  await page.getByRole('button', { name: 'Change plan' }).click()
  await dialog.getByRole('radio', { name: 'MAX' }).click()
  await dialog.getByText('Due now').waitFor()
  await dialog.getByText('¥250.00').first().waitFor()
  expect(await visit.barriers()).toEqual([])
  await dialog.getByRole('button', { name: 'Buy MAX' }).click()
  await dialog.waitFor({ state: 'hidden' })
  await page.getByText(/renews on .* from Balance/).waitFor()
  await page
    .getByRole('row', { name: /Plan MAX/ })
    .getByText('−¥250.00')
    .waitFor()

  await page.getByRole('tab', { name: 'Receipts' }).click()
  await page.getByRole('row', { name: /MAX .*250 CNY/ }).click()
  const receipt = page.getByRole('dialog', { name: 'Receipt' })
  await receipt.getByText('250 CNY').waitFor()
  await page.emulateMedia({ media: 'print' })
  expect(await page.locator('#root').isVisible()).toBe(false)
  expect(await receipt.getByText('250 CNY').isVisible()).toBe(true)
  expect(await receipt.getByRole('button', { name: 'Print' }).isVisible()).toBe(false)
  await page.emulateMedia({ media: null })
  await receipt.getByRole('button', { name: 'Close' }).click()
  await page.getByRole('button', { name: 'Do not renew' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Do not renew' }).click()
  await page.getByText(/ends on/).waitFor()
  await page.getByRole('button', { name: 'Renew it' }).waitFor()
  expect(visit.faults).toEqual([])
  await visit.close()
})

test('money is paid at the provider’s page, and is there when one comes back', async () => {
  const visit = await site.visit('/wallet', { as: CUSTOMER })
  const { page } = visit
  await page.route('https://checkout.stripe.example/**', (route) =>
    route.fulfill({ contentType: 'text/html', body: '<h1>Pay here</h1>' }),
  )
  await page.getByRole('button', { name: 'Top up' }).click()
  const dialog = page.getByRole('dialog', { name: 'Top up' })
  await dialog.getByRole('textbox', { name: 'Amount' }).fill('0')
  await dialog.getByRole('button', { name: 'Go and pay' }).click()
  await dialog.getByText(/^\d[\d,]* to /).waitFor()
  await dialog.getByRole('textbox', { name: 'Amount' }).fill('100')
  await dialog.getByRole('button', { name: 'Go and pay' }).click()
  await page.getByText('Pay here').waitFor()
  const opened = stripe.sessions.at(-1)
  const back = opened?.form.get('success_url') ?? ''

  await page.goto(back)
  await page.getByText('Your payment: waiting for payment.').waitFor()
  const paid = await sendWebhook(
    site.baseUrl,
    {
      type: 'checkout.session.completed',
      object: {
        id: opened?.id,
        object: 'checkout.session',
        mode: 'payment',
        client_reference_id: new URL(back).searchParams.get('top_up'),
        payment_intent: 'pi_1',
        payment_status: 'paid',
        amount_total: 10_000,
        currency: 'cny',
      },
    },
    { at: Date.now() },
  )
  expect(paid.status).toBe(200)
  await page.getByText('Paid: ¥100 were added.').waitFor()
  await page.getByRole('tab', { name: 'Top-ups' }).click()
  await page.getByRole('row', { name: /¥100/ }).getByText('paid').waitFor()
  expect(visit.faults.filter((fault) => !fault.includes('checkout.stripe.example'))).toEqual([])
  await visit.close()
})

test('the statement of a month is saved as a file', async () => {
  const visit = await site.visit('/wallet', { as: CUSTOMER })
  const { page } = visit
  await page.getByRole('button', { name: 'Export' }).click()
  const saving = page.waitForEvent('download')
  await page.getByRole('menuitem', { name: /CSV/ }).click()
  expect((await saving).suggestedFilename()).toMatch(/^statement-\d{4}-\d\d\.csv$/)
  expect(visit.faults).toEqual([])
  await visit.close()
})

expectOpenToEverybody(() => site, {
  'the wallet': { path: '/wallet' },
  'the plans': { path: '/wallet?open=plan', prepare: (page) => page.getByRole('dialog').waitFor() },
  'a top-up': { path: '/wallet?open=top-up', prepare: (page) => page.getByRole('dialog').waitFor() },
  'the receipts': { path: '/wallet?tab=receipts' },
})
