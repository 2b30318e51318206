/** What is the operator's alone stays with them: their pages, and what is shown once. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { signInAs } from '../../test/api.ts'
import { ADMIN, CUSTOMER } from '../../test/gateway.ts'
import { JOURNEY_MS, openSite, type Site } from '../../test/visit.ts'

vi.setConfig({ testTimeout: JOURNEY_MS })

let site: Site
beforeAll(async () => {
  site = await openSite()
})
afterAll(() => site.close())

test('whoever does not run the gateway finds no page of the operator, and nothing is asked for it', async () => {
  const visit = await site.visit('/', { as: CUSTOMER })
  const { page } = visit
  const asked: string[] = []
  page.on('request', (request) => {
    if (request.url().includes('/api/v1/admin/')) asked.push(request.url())
  })
  for (const name of [
    'health',
    'chains',
    'vendors',
    'models',
    'accounts',
    'keys',
    'calls',
    'usage',
    'money',
    'videos',
    'trust',
    'announcements',
    'settings',
  ]) {
    await page.goto(`${site.baseUrl}/console/operate/${name}`)
    await page.getByText('There is no such page').waitFor()
    expect(await page.getByRole('link', { name: 'Chains' }).count()).toBe(0)
  }
  expect(asked).toEqual([])
  expect(visit.faults).toEqual([])
  await visit.close()
})

test('codes that are shown once are nowhere in the page, its history and its storage afterwards', async () => {
  const visit = await site.visit('/operate/money?tab=codes', { as: ADMIN })
  const { page } = visit
  await page.getByRole('button', { name: 'Make codes' }).click()
  const form = page.getByRole('dialog', { name: 'Make codes' })
  await form.getByLabel('Worth of each').fill('50')
  await form.getByLabel('How many').fill('1')
  await form.getByRole('button', { name: 'Make codes' }).click()
  const code = (await form.getByLabel('Codes').inputValue()).trim()
  expect(code.length).toBeGreaterThan(10)
  await form.getByRole('button', { name: 'I have saved them' }).click()
  await form.waitFor({ state: 'detached' })
  const kept = await page.evaluate<string>(
    'document.documentElement.outerHTML + location.href + JSON.stringify([history.state, { ...sessionStorage }, { ...localStorage }])',
  )
  expect(kept).not.toContain(code)
  await page.goBack()
  await page.goForward()
  expect(await page.content()).not.toContain(code)
  await visit.close()
})

test('a vendor’s secret is sent once and never comes back, whatever page is opened', async () => {
  const secret = 'sk-never-to-be-seen-again'
  const admin = await signInAs(site.baseUrl, ADMIN)
  await admin.ask('POST', 'admin/vendors', {
    code: 'northern',
    kind: 'openai-compatible',
    base_url: 'http://127.0.0.1:9/v1',
  })
  await admin.ask('POST', 'admin/credentials', { vendor: 'northern', name: 'second', secret })
  const visit = await site.visit('/operate/vendors', { as: ADMIN })
  const { page } = visit
  const answers: Promise<string>[] = []
  page.on('response', (response) => {
    if (response.url().includes('/api/v1/')) answers.push(response.text().catch(() => ''))
  })
  for (const path of [
    '/operate/vendors?open=northern',
    '/operate/trust',
    '/operate/chains',
    '/operate/settings?tab=file',
  ]) {
    await page.goto(`${site.baseUrl}/console${path}`)
    await visit.rest()
  }
  await page.getByRole('button', { name: 'Read what is stored' }).click()
  await vi.waitFor(
    async () =>
      expect(await page.getByRole('textbox', { name: 'Text of the file' }).inputValue()).toContain(
        'northern',
      ),
    60_000,
  )
  const told = (await Promise.all(answers)).join('\n')
  expect(told).toContain('northern')
  expect(`${told}${await page.content()}`).not.toContain(secret)
  await visit.close()
})
