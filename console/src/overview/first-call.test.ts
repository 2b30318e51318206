/** From an account that was just registered to the first call that is paid for. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { codeIn } from '../../../server/test/notify/mailbox.ts'
import { callModel, signInAs } from '../../test/api.ts'
import { ADMIN, gatewayFile } from '../../test/gateway.ts'
import { JOURNEY_MS, openSite, type Site } from '../../test/visit.ts'

vi.setConfig({ testTimeout: JOURNEY_MS })

const PERSON = { email: 'new@example.com', password: 'a password of mine' }

let site: Site
beforeAll(async () => {
  const file = gatewayFile()
  const [first, ...others] = file.models
  site = await openSite({ file: { ...file, models: [{ ...first, required_verification: 2 }, ...others] } })
})
afterAll(() => site.close())

test('who registers is told each next step up to the first call, and sees how it was priced', async () => {
  const visit = await site.visit('/register')
  const { page } = visit
  await page.getByLabel(/E-mail/).fill(PERSON.email)
  await page.getByRole('button', { name: 'Send code' }).click()
  await page.getByLabel('New password', { exact: true }).fill(PERSON.password)
  await page.getByLabel('Code', { exact: true }).fill(codeIn((await site.mailbox.next(PERSON.email)).text))
  await page.getByRole('button', { name: 'Create account' }).click()

  await page.getByText('You have no Credits to call models with.').waitFor()
  expect(await visit.barriers()).toEqual([])
  const operator = await signInAs(site.baseUrl, ADMIN)
  const { codes } = await operator.ask<{ codes: readonly string[] }>('POST', 'admin/code-batches', {
    credits: '5000',
    count: 1,
    note: 'for newcomers',
  })
  await page.getByRole('link', { name: 'Redeem a code' }).click()
  const redeem = page.getByRole('dialog', { name: 'Redeem a code' })
  await redeem.getByLabel('Code', { exact: true }).fill(codes[0] ?? '')
  await redeem.getByRole('button', { name: 'Redeem', exact: true }).click()
  await redeem.getByText('5,000 Credits were added.').waitFor()
  await redeem.getByRole('button', { name: 'Close' }).first().click()

  await page.getByRole('link', { name: 'Overview' }).first().click()
  await page.getByRole('link', { name: 'Create a key' }).click()
  const form = page.getByRole('dialog', { name: 'Create key' })
  await form.getByLabel('Name').fill('laptop')
  await form.getByRole('button', { name: 'Create key' }).click()
  const ready = page.getByRole('dialog', { name: 'Key “laptop” is ready' })
  const key = await ready.locator('code').first().innerText()
  expect(await ready.getByText('Credits to call models with').count()).toBe(0)
  // The first model of all is not open to them yet.
  await ready.getByRole('region', { name: 'curl' }).getByText('"gpt-5"', { exact: true }).waitFor()
  const body = { model: 'gpt-5', messages: [{ role: 'user', content: 'Hello' }] }
  expect(await callModel(site.baseUrl, { key, body })).toBe(200)
  await ready.getByText('Its first call has arrived').waitFor()
  await ready.getByRole('button', { name: 'I have saved it' }).click()

  await page.getByRole('link', { name: 'Calls' }).first().click()
  await page.getByRole('row', { name: /gpt-5/ }).getByText('gpt-5').click()
  await page
    .getByRole('dialog')
    .getByRole('table', { name: 'Price' })
    .getByText('Input, not cached')
    .waitFor()
  expect(visit.faults).toEqual([])
  await visit.close()
})
