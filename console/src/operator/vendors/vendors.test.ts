/** Vendors and their credentials: added by kind, tested, changed; a secret is written and never comes back. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { signInAs } from '../../../test/api.ts'
import { expectOpenToEverybody } from '../../../test/everybody.ts'
import { ADMIN } from '../../../test/gateway.ts'
import { JOURNEY_MS, openSite, type Site } from '../../../test/visit.ts'

vi.setConfig({ testTimeout: JOURNEY_MS })

let site: Site
beforeAll(async () => {
  site = await openSite()
})
afterAll(() => site.close())

const SECRET = 'AKIA-very-secret'

test('a vendor is added by its kind, with a form made of what the kind needs', async () => {
  const visit = await site.visit('/operate/vendors', { as: ADMIN })
  const { page } = visit
  await page.getByRole('button', { name: 'Add vendor' }).click()
  const form = page.getByRole('dialog', { name: 'Add vendor' })
  await form.getByRole('button', { name: 'Add vendor' }).click()
  await form.getByText('Choose a kind.').waitFor()
  await form.getByRole('combobox', { name: 'Kind' }).fill('Amazon Bedrock')
  await page.getByRole('option', { name: 'Amazon Bedrock', exact: true }).click()
  await form.getByText('Either an API key, or an access key with its secret key.').waitFor()
  await form.getByRole('button', { name: 'Add vendor' }).click()
  await form.getByText(/Give one of the two/).waitFor()
  await form.getByText('It is needed.').waitFor()
  await form.getByLabel('Access key').fill(SECRET)
  await form.getByLabel('Secret key').fill('even more secret')
  await form.getByLabel('Region').fill('eu-north-1')
  expect(await visit.barriers()).toEqual([])
  await form.getByRole('button', { name: 'Add vendor' }).click()
  const sheet = page.getByRole('dialog', { name: /bedrock/i })
  await sheet.getByText(/Set: .*Access key/).waitFor()
  await sheet.getByText(/No chain uses it yet/).waitFor()
  expect(await page.content()).not.toContain(SECRET)
  const admin = await signInAs(site.baseUrl, ADMIN)
  expect(JSON.stringify(await admin.ask('GET', 'admin/credentials'))).not.toContain(SECRET)

  await sheet.getByRole('button', { name: 'Change' }).click()
  const change = page.getByRole('dialog', { name: 'Change main' })
  await change.getByText('Leave empty to keep what is stored.').waitFor()
  await change.getByRole('textbox', { name: 'At once' }).fill('4')
  await change.getByRole('button', { name: 'Save' }).click()
  await change.waitFor({ state: 'detached' })
  await sheet.getByText('4 at once').waitFor()
  await sheet.getByText(/Set: .*Access key/).waitFor()
  await sheet.getByLabel('Until the first byte').fill('45000')
  await sheet.getByRole('combobox', { name: 'State' }).click()
  await page.getByRole('option', { name: 'Disabled' }).click()
  await sheet.getByRole('button', { name: 'Save' }).click()
  await page.keyboard.press('Escape')
  await page
    .getByRole('row', { name: /bedrock/i })
    .getByText('Disabled')
    .waitFor()
  expect(await admin.ask('GET', 'admin/vendors')).toContainEqual(
    expect.objectContaining({
      kind: 'bedrock',
      timeouts: expect.objectContaining({ first_byte_ms: 45_000, connect_ms: 5_000 }),
    }),
  )
  expect(visit.faults).toEqual([])
  await visit.close()
})

test('a credential is tested with a real call, switched off and on', async () => {
  const visit = await site.visit('/operate/vendors?open=sandbox', { as: ADMIN })
  const { page } = visit
  const sheet = page.getByRole('dialog', { name: 'Sandbox' })
  await sheet.getByRole('button', { name: 'Test' }).click()
  await sheet.getByText(/The vendor answered in/).waitFor()
  await sheet.getByRole('button', { name: 'Disable' }).click()
  await sheet.getByRole('button', { name: 'Enable' }).click()
  await sheet.getByRole('button', { name: 'Disable' }).waitFor()
  expect(visit.faults).toEqual([])
  await visit.close()
})

test('every kind tells what it needs, and leads to the form of one; none is added without its key', async () => {
  const visit = await site.visit('/operate/vendors', { as: ADMIN })
  const { page } = visit
  await page.getByRole('radiogroup', { name: 'What is shown' }).getByText('Every kind').click()
  await page.getByRole('row', { name: /Google Vertex AI.*Service account, Project/ }).waitFor()
  await page.getByRole('row', { name: /OpenAI-compatible.*Required/ }).waitFor()
  const kling = page.getByRole('row', { name: /Kling.*API key, or Access key \+ Secret key/ })
  await kling.focus()
  await page.keyboard.press('Enter')
  const form = page.getByRole('dialog', { name: 'Add vendor' })
  await form.waitFor()
  await vi.waitFor(
    async () => expect(await form.getByRole('combobox', { name: 'Kind' }).inputValue()).toBe('Kling'),
    60_000,
  )
  await form.getByRole('button', { name: 'Add vendor' }).click()
  await form.getByText(/Give one of the two/).waitFor()
  await visit.close()
})

expectOpenToEverybody(() => site, {
  'the vendors': { path: '/operate/vendors', operator: true },
  'the kinds': { path: '/operate/vendors?tab=kinds', operator: true },
  'a vendor': {
    path: '/operate/vendors?open=sandbox',
    operator: true,
    prepare: (page) => page.getByRole('dialog').waitFor(),
  },
})
