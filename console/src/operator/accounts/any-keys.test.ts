/** The keys of all accounts in one list: found, filtered, opened, rotated, switched and deleted. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { callModel, signInAs } from '../../../test/api.ts'
import { expectOpenToEverybody } from '../../../test/everybody.ts'
import { ADMIN, CUSTOMER } from '../../../test/gateway.ts'
import { JOURNEY_MS, openSite, type Site } from '../../../test/visit.ts'

vi.setConfig({ testTimeout: JOURNEY_MS })

let site: Site
let laptop: string

beforeAll(async () => {
  site = await openSite()
  const ann = await signInAs(site.baseUrl, CUSTOMER)
  await ann.ask('PATCH', 'user/user/account', { name: 'Ann Lindqvist' })
  laptop = (await ann.ask<{ key: string }>('POST', 'user/user/keys', { name: 'laptop' })).key
  await ann.ask('POST', 'user/user/keys', { name: 'bound', group: 'claude-code' })
  const admin = await signInAs(site.baseUrl, ADMIN)
  await admin.ask('POST', 'user/user/keys', { name: 'desk' })
  expect(await call()).toBe(200)
})

afterAll(() => site.close())

const call = () =>
  callModel(site.baseUrl, {
    key: laptop,
    body: { model: 'gpt-5', messages: [{ role: 'user', content: 'Hello' }] },
  })

const rowOf = (page: Page, name: string) => page.getByRole('row', { name: new RegExp(name) })

test('keys are found by what they and their accounts are called, and filtered by state and group', async () => {
  const visit = await site.visit('/operate/keys', { as: ADMIN })
  const { page } = visit
  await rowOf(page, 'desk').getByText('Not yet').waitFor()
  await rowOf(page, 'laptop')
    .getByText(/ago|now/)
    .filter({ visible: true })
    .waitFor()
  await page.getByRole('textbox', { name: /Name, beginning/ }).fill('lindq')
  await rowOf(page, 'desk').waitFor({ state: 'detached' })
  await rowOf(page, 'bound').waitFor()
  await page.getByRole('combobox', { name: 'Group' }).click()
  await page.getByRole('option', { name: 'claude-code' }).waitFor()
  expect(await visit.barriers()).toEqual([])
  await page.getByRole('option', { name: 'claude-code' }).click()
  await rowOf(page, 'laptop').waitFor({ state: 'detached' })
  await page.getByRole('combobox', { name: 'State' }).click()
  await page.getByRole('option', { name: 'disabled' }).click()
  await page.getByText('No matching key').waitFor()
  const { searchParams } = new URL(page.url())
  expect(Object.fromEntries(searchParams)).toEqual({ find: 'lindq', group: 'claude-code', state: 'disabled' })
  expect(visit.faults).toEqual([])
  await visit.close()
})

test('on a phone the list says in words how a key stands, and when it was used last', async () => {
  const visit = await site.visit('/operate/keys', { as: ADMIN, size: 'phone' })
  const { page } = visit
  const used = rowOf(page, 'laptop')
  await used.getByText('In use', { exact: true }).filter({ visible: true }).waitFor()
  await used
    .getByText(/ago|now/)
    .filter({ visible: true })
    .waitFor()
  await rowOf(page, 'desk').getByText('never used').filter({ visible: true }).waitFor()
  expect(visit.faults).toEqual([])
  await visit.close()
})

test('a key is changed, switched off, rotated and deleted from the list, and leads to its account', async () => {
  const visit = await site.visit('/operate/keys?find=laptop', { as: ADMIN })
  const { page } = visit
  const act = async (name: string) => {
    await rowOf(page, 'laptop').getByRole('button', { name: 'More for laptop' }).click()
    await page.getByRole('menuitem', { name, exact: true }).waitFor()
    expect(await visit.barriers()).toEqual([])
    await page.getByRole('menuitem', { name, exact: true }).click()
  }
  await act('Disable')
  await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click()
  await rowOf(page, 'laptop').getByText('disabled').filter({ visible: true }).waitFor()
  expect(await call()).toBe(401)
  await act('Enable')
  await rowOf(page, 'laptop').getByText('In use').filter({ visible: true }).waitFor()
  await act('Rotate')
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click()
  const once = page.getByRole('dialog', { name: 'Key “laptop” is ready' })
  await once.getByText('This is the only time').waitFor()
  expect(await visit.barriers()).toEqual([])
  await once.getByRole('button', { name: 'I have saved it' }).click()

  await rowOf(page, 'laptop').getByText('laptop').click()
  const form = page.getByRole('dialog', { name: 'Edit “laptop”' })
  await form.getByLabel('Name').fill('old laptop')
  await form.getByRole('button', { name: 'Save' }).click()
  await form.waitFor({ state: 'detached' })
  await rowOf(page, 'old laptop').getByRole('link', { name: 'Ann Lindqvist' }).click()
  await page
    .getByRole('dialog', { name: 'Ann Lindqvist' })
    .getByRole('row', { name: /old laptop/ })
    .waitFor()

  await page.goto(`${site.baseUrl}/console/operate/keys?find=laptop`)
  await rowOf(page, 'old laptop')
    .getByRole('button', { name: /More for/ })
    .click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await page.getByText('No matching key').waitFor()
  expect(visit.faults).toEqual([])
  await visit.close()
})

expectOpenToEverybody(() => site, {
  'all keys': { path: '/operate/keys', operator: true },
})
