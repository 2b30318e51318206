/** The log of everybody's calls: whose each was, what the vendor said, filtered, opened, taken along. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { callModel, signInAs } from '../../../test/api.ts'
import { expectOpenToEverybody } from '../../../test/everybody.ts'
import { ADMIN, CUSTOMER, gatewayFile } from '../../../test/gateway.ts'
import { JOURNEY_MS, openSite, PATIENCE_MS, type Site, textOf } from '../../../test/visit.ts'

vi.setConfig({ testTimeout: JOURNEY_MS })

let site: Site

/** Nobody listens there. */
const DEAF = 'http://127.0.0.1:9/v1'

beforeAll(async () => {
  const file = gatewayFile()
  const chain = { vendor: 'northern', credential: 'first', protocol: 'chat', forward_model_id: 'n-1' }
  site = await openSite({
    file: {
      ...file,
      vendors: [
        ...file.vendors,
        {
          code: 'northern',
          name: 'Northern',
          kind: 'openai-compatible',
          base_url: DEAF,
          credentials: [{ name: 'first', secret: 'sk-northern' }],
        },
      ],
      models: [
        ...file.models,
        { model_id: 'northern-1', pricing: { input_price: 1, output_price: 2 }, chains: [chain] },
      ],
    },
  })
  const ann = await signInAs(site.baseUrl, CUSTOMER)
  await ann.ask('PATCH', 'user/user/account', { name: 'Ann Lindqvist' })
  const admin = await signInAs(site.baseUrl, ADMIN)
  for (const [person, model, status] of [
    [ann, 'gpt-5', 200],
    [ann, 'northern-1', 502],
    [admin, 'glm-5', 200],
  ] as const) {
    const { key } = await person.ask<{ key: string }>('POST', 'user/user/keys', { name: model })
    const body = { model, messages: [{ role: 'user', content: 'Hello' }] }
    expect(await callModel(site.baseUrl, { key, body })).toBe(status)
  }
  await vi.waitFor(async () => expect(await admin.ask('GET', 'admin/logs')).toHaveLength(3), PATIENCE_MS)
})

afterAll(() => site.close())

const rowOf = (page: Page, name: string) => page.getByRole('row', { name: new RegExp(name) })

test('calls of all accounts stand in one list; one account’s are filtered, summed and exported', async () => {
  const visit = await site.visit('/operate/calls', { as: ADMIN })
  const { page } = visit
  await rowOf(page, 'gpt-5').getByRole('link', { name: 'Ann Lindqvist' }).waitFor()
  await rowOf(page, 'glm-5').getByRole('link', { name: 'owner@example.com' }).waitFor()
  await page.getByRole('combobox', { name: 'Account' }).fill('lindq')
  await page.getByRole('option', { name: 'Ann Lindqvist' }).click()
  await rowOf(page, 'glm-5').waitFor({ state: 'detached' })
  await rowOf(page, 'gpt-5').waitFor()
  const sum = page
    .locator('dl')
    .first()
    .locator('div', { has: page.getByText('calls', { exact: true }) })
  await sum.getByText('2', { exact: true }).waitFor()
  expect(new URL(page.url()).searchParams.get('account')).toMatch(/^acc_/)
  await page.getByRole('button', { name: 'Export' }).click()
  const waiting = page.waitForEvent('download')
  await page.getByRole('menuitem', { name: /CSV/ }).click()
  const lines = (await textOf(await waiting)).trim().split('\n')
  expect(lines).toHaveLength(3)
  expect(lines[0]).toContain('account_id')
  expect(visit.faults).toEqual([])
  await visit.close()
})

test('the rows are asked for before the totals, which wait until the rows are there', async () => {
  const visit = await site.visit('/operate/keys', { as: ADMIN })
  const { page } = visit
  const seen: string[] = []
  const note = (url: string, what: string): void => {
    const [, part] = /\/admin\/(logs|logs\/totals)\?/.exec(url) ?? []
    if (part !== undefined) seen.push(`${part} ${what}`)
  }
  page.on('request', (request) => note(request.url(), 'asked'))
  page.on('response', (response) => note(response.url(), 'answered'))
  await page.locator('nav a[href="/console/operate/calls"]').click()
  await page.locator('dl').getByText('calls', { exact: true }).waitFor()
  expect(seen.slice(0, 3)).toEqual(['logs asked', 'logs answered', 'logs/totals asked'])
  await visit.close()
})

test('a failed call tells what the vendor said, and leads to its account and its chains', async () => {
  const visit = await site.visit('/operate/calls?ending=failed', { as: ADMIN })
  const { page } = visit
  await rowOf(page, 'northern-1')
    .getByText(/ECONNREFUSED|refused|connect/)
    .waitFor()
  await rowOf(page, 'northern-1').focus()
  await page.keyboard.press('Enter')
  const call = page.getByRole('dialog')
  await call
    .locator('q')
    .getByText(/ECONNREFUSED|refused|connect/)
    .first()
    .waitFor()
  await call.getByRole('button', { name: 'Explain again' }).click()
  await call.getByText('Credits would pay').or(call.getByText('The plan would pay')).waitFor()
  await call.getByRole('link', { name: 'northern-1' }).last().waitFor()
  // Its key is called like its model here.
  await call.getByRole('link', { name: 'northern-1' }).first().click()
  await page.getByRole('combobox', { name: 'Key' }).waitFor()
  expect(new URL(page.url()).searchParams.get('key_id')).toMatch(/^key_/)
  await rowOf(page, 'northern-1').focus()
  await page.keyboard.press('Enter')
  await call.getByRole('link', { name: 'Ann Lindqvist' }).click()
  await page.getByRole('dialog', { name: 'Ann Lindqvist' }).getByText('PRO, until').waitFor()
  expect(visit.faults).toEqual([])
  await visit.close()
})

expectOpenToEverybody(() => site, {
  'everybody’s calls, one of them open': {
    path: '/operate/calls',
    operator: true,
    prepare: async (page) => {
      await page.locator('tbody tr').nth(1).click()
      await page.getByRole('dialog').waitFor()
    },
  },
})
