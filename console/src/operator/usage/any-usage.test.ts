/** What the calls of all accounts used: by account, model, key and application, as a chart, a table and a file. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { callModel, signInAs } from '../../../test/api.ts'
import { expectOpenToEverybody } from '../../../test/everybody.ts'
import { ADMIN, CUSTOMER } from '../../../test/gateway.ts'
import { JOURNEY_MS, openSite, PATIENCE_MS, type Site, textOf } from '../../../test/visit.ts'

vi.setConfig({ testTimeout: JOURNEY_MS })

let site: Site

beforeAll(async () => {
  site = await openSite()
  const ann = await signInAs(site.baseUrl, CUSTOMER)
  await ann.ask('PATCH', 'user/user/account', { name: 'Ann Lindqvist' })
  const admin = await signInAs(site.baseUrl, ADMIN)
  for (const [person, name, model] of [
    [ann, 'laptop', 'claude-opus-4.8'],
    [ann, 'server', 'gpt-5'],
    [admin, 'desk', 'gpt-5'],
  ] as const) {
    const { key } = await person.ask<{ key: string }>('POST', 'user/user/keys', { name })
    const body = { model, messages: [{ role: 'user', content: 'Which region was slowest? '.repeat(200) }] }
    expect(await callModel(site.baseUrl, { key, body })).toBe(200)
  }
  await vi.waitFor(async () => expect(await admin.ask('GET', 'admin/logs')).toHaveLength(3), PATIENCE_MS)
})

afterAll(() => site.close())

const rowOf = (page: Page, name: RegExp) => page.getByRole('row', { name })
const choose = async (page: Page, filter: string, option: string) => {
  await page.getByRole('combobox', { name: filter }).click()
  await page.getByRole('option', { name: option }).click()
}

test('usage of everybody is split by account, key and model, by hour and by day, and leads to its calls', async () => {
  const visit = await site.visit('/operate/usage', { as: ADMIN })
  const { page } = visit
  await page.getByRole('img', { name: 'Credits by Account, 30 days, as stacked bars' }).waitFor()
  await rowOf(page, /Ann Lindqvist/)
    .getByRole('cell')
    .nth(2)
    .getByText('2', { exact: true })
    .waitFor()
  await rowOf(page, /owner@example.com/)
    .getByRole('cell')
    .nth(2)
    .getByText('1', { exact: true })
    .waitFor()

  await choose(page, 'Split by', 'By key')
  await rowOf(page, /laptop · Ann Lindqvist/).waitFor()
  await rowOf(page, /desk · owner@example.com/).waitFor()
  await choose(page, 'Period', '7 days')
  await choose(page, 'Step', 'By hour')
  const { searchParams } = new URL(page.url())
  expect(Object.fromEntries(searchParams)).toEqual({ by: 'key', period: '7d', interval: 'hour' })

  await rowOf(page, /server/)
    .getByText('server')
    .click()
  await page.getByRole('heading', { name: 'All calls' }).waitFor()
  await rowOf(page, /gpt-5/).getByRole('link', { name: 'Ann Lindqvist' }).waitFor()
  expect(await rowOf(page, /claude-opus-4.8/).count()).toBe(0)
  expect(visit.faults).toEqual([])
  await visit.close()
})

test('one account’s usage is shown alone and saved as a file', async () => {
  const visit = await site.visit('/operate/usage?by=model', { as: ADMIN })
  const { page } = visit
  await page.getByRole('combobox', { name: 'Account' }).fill('lindq')
  await page.getByRole('option', { name: 'Ann Lindqvist' }).click()
  await rowOf(page, /gpt-5/).getByRole('cell').nth(2).getByText('1', { exact: true }).waitFor()
  expect(new URL(page.url()).searchParams.get('account')).toMatch(/^acc_/)
  await page.getByRole('button', { name: 'Export' }).click()
  const saving = page.waitForEvent('download')
  await page.getByRole('menuitem', { name: /CSV/ }).click()
  const [head, ...lines] = (await textOf(await saving)).trimEnd().split('\r\n')
  expect(head).toMatch(/^at,/)
  expect(lines).toHaveLength(2)
  expect(visit.faults).toEqual([])
  await visit.close()
})

expectOpenToEverybody(() => site, {
  'everybody’s usage': { path: '/operate/usage', operator: true },
})
