/** The first page: what there is to spend, what was spent, and the first call. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { callModel, signInAs } from '../../test/api.ts'
import { expectOpenToEverybody } from '../../test/everybody.ts'
import { CUSTOMER } from '../../test/gateway.ts'
import { JOURNEY_MS, openSite, type Site } from '../../test/visit.ts'
import { copiedText } from '../../test/windows.ts'

vi.setConfig({ testTimeout: JOURNEY_MS })

let site: Site
let key: string

beforeAll(async () => {
  site = await openSite()
  const ann = await signInAs(site.baseUrl, CUSTOMER)
  key = (await ann.ask<{ key: string }>('POST', 'user/user/keys', { name: 'laptop' })).key
})

afterAll(() => site.close())

const hello = () =>
  callModel(site.baseUrl, {
    key,
    body: { model: 'gpt-5', messages: [{ role: 'user', content: 'Say hello. '.repeat(400) }] },
  })

test('a call shows up by itself, with its model, its key and how it ended', async () => {
  const visit = await site.visit('/', { as: CUSTOMER })
  const { page } = visit
  await page.getByText('No calls yet').waitFor()
  expect(await hello()).toBe(200)
  const row = page.getByRole('row', { name: /gpt-5/ })
  // Names of keys come with an answer of their own.
  await row.getByText('laptop').waitFor()
  expect(await row.innerText()).toContain('Completed')
  await page.getByRole('img', { name: /, 1 call, 0\s% failed, as stacked bars by model/ }).waitFor()
  expect(visit.faults).toEqual([])
  await visit.close()
})

test('what is left of the plan is told, and when each of its windows ends', async () => {
  await hello()
  const visit = await site.visit('/', { as: CUSTOMER })
  const { page } = visit
  await page.getByText(/of 50,000 left, until \S/).waitFor()
  await page.getByText(/of 1,000,000 left, until \S/).waitFor()
  expect(visit.faults).toEqual([])
  await visit.close()
})

test('a call of the list opens with Enter, and what is shown in part has a way to all of it', async () => {
  await hello()
  const visit = await site.visit('/', { as: CUSTOMER })
  const { page } = visit
  await page.getByRole('link', { name: 'Open usage' }).click()
  await page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor()
  await page.goBack()
  await page.getByRole('link', { name: 'All calls' }).click()
  await page.getByRole('heading', { level: 1, name: 'Calls' }).waitFor()
  await page.goBack()
  await page.getByRole('table', { name: 'Last calls' }).getByRole('row').nth(1).focus()
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').getByRole('heading', { name: 'gpt-5' }).waitFor()
  expect(visit.faults).toEqual([])
  await visit.close()
})

test('the first call is copied with the person’s own address and last model', async () => {
  await hello()
  const visit = await site.visit('/', { as: CUSTOMER })
  const { page } = visit
  await page.getByRole('tab', { name: 'curl' }).click()
  await page.getByRole('button', { name: 'Copy', exact: true }).click()
  await page.getByRole('button', { name: 'Copied', exact: true }).waitFor()
  const copied = await copiedText(page)
  expect(copied).toContain(`curl ${site.baseUrl}/v1/chat/completions`)
  expect(copied).toContain('"model": "gpt-5"')
  expect(visit.faults).toEqual([])
  await visit.close()
})

expectOpenToEverybody(() => site, { 'the overview': { path: '/' } })
