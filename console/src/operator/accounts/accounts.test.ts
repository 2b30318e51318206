/** Accounts in the hands of an operator: found, read whole, made, given to, changed, suspended, looked through. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { callModel, signInAs } from '../../../test/api.ts'
import { expectOpenToEverybody } from '../../../test/everybody.ts'
import { ADMIN, CUSTOMER } from '../../../test/gateway.ts'
import { JOURNEY_MS, openSite, type Site } from '../../../test/visit.ts'

vi.setConfig({ testTimeout: JOURNEY_MS })

let site: Site

beforeAll(async () => {
  site = await openSite()
  const ann = await signInAs(site.baseUrl, CUSTOMER)
  await ann.ask('PATCH', 'user/user/account', { name: 'Ann Lindqvist' })
  await ann.ask('POST', 'user/user/keys', { name: 'laptop' })
  await ann.ask('POST', 'user/user/organisations', { name: 'Northwind' })
})

afterAll(() => site.close())

const rowOf = (page: Page, name: string) => page.getByRole('row', { name: new RegExp(name) })

const openAccount = async (name: string) => {
  const visit = await site.visit('/operate/accounts', { as: ADMIN })
  await rowOf(visit.page, name).getByText(name).click()
  const sheet = visit.page.getByRole('dialog', { name })
  await sheet.getByRole('button', { name: 'Grant' }).waitFor()
  return { ...visit, sheet }
}

test('an account is found by anything, and its whole picture opens beside the list', async () => {
  const visit = await site.visit('/operate/accounts', { as: ADMIN })
  const { page } = visit
  await rowOf(page, 'Northwind').getByText('Organisation').waitFor()
  await rowOf(page, 'owner@example.com').getByText('Operator').waitFor()
  await page.getByRole('textbox', { name: /Name, e-mail/ }).fill('lindq')
  await rowOf(page, 'Northwind').waitFor({ state: 'detached' })
  expect(new URL(page.url()).searchParams.get('find')).toBe('lindq')
  await rowOf(page, 'Ann Lindqvist').focus()
  await page.keyboard.press('Enter')
  const sheet = page.getByRole('dialog', { name: 'Ann Lindqvist' })
  await sheet.getByText('PRO, until').waitFor()
  await sheet.getByText('50,000 of 50,000 left, begins with the next call').waitFor()
  await sheet.getByRole('row', { name: /laptop/ }).waitFor()
  await sheet.getByText('key.create').waitFor()
  await sheet.getByText('Nothing was called in thirty days.').waitFor()
  expect(visit.faults).toEqual([])
  await visit.close()
})

test('an organisation shows its members, and leads to each of them', async () => {
  const { page, sheet, faults, close } = await openAccount('Northwind')
  await sheet.getByRole('row', { name: /Owner/ }).getByText('Ann Lindqvist').click()
  await page.getByRole('dialog', { name: 'Ann Lindqvist' }).getByText('PRO, until').waitFor()
  expect(faults).toEqual([])
  await close()
})

test('an account is made, given Credits once, changed, suspended and let in again', async () => {
  const visit = await site.visit('/operate/accounts', { as: ADMIN })
  const { page } = visit
  await page.getByRole('button', { name: 'Add account' }).click()
  const form = page.getByRole('dialog', { name: 'Add account' })
  await form.getByRole('button', { name: 'Add account' }).click()
  await form.getByText('Give an e-mail address or a phone number.').waitFor()
  await form.getByLabel('E-mail').fill('bo@example.com')
  await form.getByRole('button', { name: 'Add account' }).click()
  const sheet = page.getByRole('dialog', { name: 'bo@example.com' })
  await sheet.getByRole('button', { name: 'Grant' }).click()
  const grant = page.getByRole('dialog', { name: 'Grant to bo@example.com' })
  await grant.getByLabel('Amount').fill('2500.5')
  await grant.getByText('Gives 2,500.5 Credits.').waitFor()
  expect(await visit.barriers()).toEqual([])
  await grant.getByRole('button', { name: 'Grant' }).click()
  await grant.waitFor({ state: 'detached' })
  await sheet.getByText('2,500.50').waitFor()

  await sheet.getByRole('button', { name: 'Edit' }).click()
  const edit = page.getByRole('dialog', { name: 'Edit bo@example.com' })
  await edit.getByLabel('Rate').fill('80')
  await edit.getByRole('combobox', { name: 'Plan' }).click()
  await page.getByRole('option', { name: 'PLUS' }).click()
  await edit.getByRole('button', { name: 'Add a limit' }).click()
  await edit.getByRole('button', { name: 'Save' }).click()
  await edit.getByText('Enter a number.').waitFor()
  await edit.getByRole('textbox', { name: 'At most' }).fill('9000')
  await edit.getByRole('button', { name: 'Save' }).click()
  await edit.waitFor({ state: 'detached' })
  await sheet.getByText('80 %').waitFor()
  await sheet.getByText('PLUS, until').waitFor()
  await sheet.getByText('Credits: 9,000 in 30 d').waitFor()

  await sheet.getByRole('button', { name: 'More', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Suspend' }).click()
  const suspend = page.getByRole('dialog', { name: 'Suspend this account?' })
  await suspend.getByLabel('Reason').fill('unpaid')
  await suspend.getByRole('button', { name: 'Suspend' }).click()
  await suspend.waitFor({ state: 'detached' })
  await sheet.getByText('Suspended').waitFor()
  await sheet.getByRole('button', { name: 'More', exact: true }).click()
  await page.getByRole('menuitem', { name: 'End the suspension' }).click()
  await sheet.getByText('Active').waitFor()
  expect(visit.faults).toEqual([])
  await visit.close()
})

test('an operator impersonates a customer: a banner says so on every page, and ends it', async () => {
  const { page, sheet, barriers, look, faults, close } = await openAccount('Ann Lindqvist')
  await sheet.getByRole('button', { name: 'Impersonate' }).click()
  const ask = page.getByRole('dialog', { name: 'Impersonate this account?' })
  expect(await ask.getByRole('button', { name: 'Impersonate' }).isDisabled()).toBe(true)
  await ask.getByLabel('Reason').fill('ticket 12')
  await ask.getByRole('button', { name: 'Impersonate' }).click()
  const banner = page.getByRole('region', { name: /Impersonating an account/ })
  await banner.getByText('Ann Lindqvist').waitFor()
  expect(await page.getByRole('heading', { name: 'Operate' }).count()).toBe(0)
  await page.getByRole('navigation').getByRole('link', { name: 'Keys' }).click()
  await rowOf(page, 'laptop').waitFor()
  await banner.waitFor()
  expect(await barriers()).toEqual([])
  // Nor does a sheet that is as wide as a phone cover it.
  await look({ size: 'phone' })
  await rowOf(page, 'laptop').click()
  const key = page.getByRole('dialog', { name: 'laptop' })
  await key.waitFor()
  const [told, shown] = [await banner.boundingBox(), await key.boundingBox()]
  expect(shown?.y).toBeGreaterThanOrEqual((told?.y ?? 0) + (told?.height ?? 0))
  await page.keyboard.press('Escape')
  await key.waitFor({ state: 'detached' })
  await look({ size: 'wide' })
  await banner.getByRole('button', { name: 'End' }).click()
  await page.getByRole('heading', { name: 'Operate' }).waitFor()
  await page.getByRole('dialog', { name: 'Ann Lindqvist' }).getByText('account.impersonate').waitFor()
  expect(await banner.count()).toBe(0)
  expect(faults).toEqual([])
  await close()
})

test('an operator finds an account by the search, deletes a key of it and resets its second factors', async () => {
  const ann = await signInAs(site.baseUrl, CUSTOMER)
  const { key } = await ann.ask<{ key: string }>('POST', 'user/user/keys', { name: 'leaked' })
  await ann.ask('POST', 'user/user/second-factors/totp', {})
  const visit = await site.visit('/operate/health', { as: ADMIN })
  const { page } = visit
  await page.keyboard.press('/')
  await page.getByRole('textbox', { name: 'Search pages, keys, models, call ids' }).fill('lindq')
  await page.getByRole('button', { name: /Ann Lindqvist/ }).click()
  const sheet = page.getByRole('dialog', { name: 'Ann Lindqvist' })
  await sheet.getByRole('button', { name: 'More for leaked' }).click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  const ask = page.getByRole('dialog', { name: /Delete/ }).last()
  await ask.getByText('leaked').first().waitFor()
  await ask.getByRole('button', { name: 'Delete' }).click()
  await sheet.getByRole('row', { name: /leaked/ }).waitFor({ state: 'detached' })
  const body = { model: 'gpt-5', messages: [{ role: 'user', content: 'Hi' }] }
  expect(await callModel(site.baseUrl, { key, body })).toBe(401)
  await sheet.getByRole('button', { name: 'More', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Reset second factors' }).click()
  const reset = page.getByRole('dialog', { name: 'Reset the second factors?' })
  expect(await reset.getByRole('button', { name: 'Reset second factors' }).isDisabled()).toBe(true)
  await reset.getByLabel('Reason').fill('lost the phone')
  expect(await visit.barriers()).toEqual([])
  await reset.getByRole('button', { name: 'Reset second factors' }).click()
  await reset.waitFor({ state: 'detached' })
  await sheet.getByText('account.reset-second-factors').waitFor()
  // Every session of theirs ended with it.
  await expect(ann.ask('GET', 'user/user/keys')).rejects.toThrow('401')
  expect(visit.faults).toEqual([])
  await visit.close()
})

test('an operator makes a key for somebody, shown once, changes, rotates, disables and enables it, and sets a password', async () => {
  const { page, sheet, barriers, faults, close } = await openAccount('Ann Lindqvist')
  const body = { model: 'gpt-5', messages: [{ role: 'user', content: 'Hi' }] }
  const statusOf = (key: string) => callModel(site.baseUrl, { key, body })
  const shownKey = async (): Promise<string> => {
    const ready = page.getByRole('dialog', { name: /^Key “build” is ready/ })
    const key = (await ready.locator('code').first().textContent()) ?? ''
    await ready.getByRole('button', { name: 'I have saved it' }).click()
    await ready.waitFor({ state: 'detached' })
    return key
  }
  const act = async (name: string): Promise<void> => {
    await sheet.getByRole('button', { name: 'More for build' }).click()
    await page.getByRole('menuitem', { name }).click()
  }
  await sheet.getByRole('button', { name: 'Create key' }).click()
  const form = page.getByRole('dialog', { name: 'Create key' })
  await form.getByRole('button', { name: 'Create key' }).click()
  await form.getByText('Give it a name.').waitFor()
  await form.getByLabel('Name', { exact: true }).fill('build')
  expect(await barriers()).toEqual([])
  await form.getByRole('button', { name: 'Create key' }).click()
  const first = await shownKey()
  expect(await statusOf(first)).toBe(200)
  const calls = sheet.getByRole('link', { name: 'All of its calls' })
  expect(await calls.getAttribute('href')).toMatch(/operate\/calls\?account=acc_/)
  await act('Rotate')
  const rotate = page.getByRole('dialog', { name: 'Rotate this key?' })
  await rotate.getByRole('combobox').click()
  await page.getByRole('option', { name: /it ends now/ }).click()
  await rotate.getByRole('button', { name: 'Rotate' }).click()
  const second = await shownKey()
  expect([await statusOf(first), await statusOf(second)]).toEqual([401, 200])
  await act('Edit')
  const edit = page.getByRole('dialog', { name: 'Edit “build”' })
  await edit.getByRole('radiogroup', { name: 'Limits' }).getByText('Own limits').click()
  await edit.getByRole('textbox', { name: 'At once' }).fill('3')
  await edit.getByRole('button', { name: 'Save' }).click()
  await edit.waitFor({ state: 'detached' })
  await sheet.getByRole('row', { name: /build.*3 at once/ }).waitFor()
  await act('Disable')
  await page
    .getByRole('dialog', { name: 'Disable this key?' })
    .getByRole('button', { name: 'Disable' })
    .click()
  await sheet.getByRole('row', { name: /build.*disabled/ }).waitFor()
  expect(await statusOf(second)).toBe(401)
  await act('Enable')
  await sheet.getByRole('row', { name: /build.*3 at once/ }).waitFor()
  expect(await statusOf(second)).toBe(200)

  await sheet.getByRole('button', { name: 'Edit', exact: true }).click()
  const account = page.getByRole('dialog', { name: 'Edit Ann Lindqvist' })
  await account.getByLabel('E-mail').fill('')
  await account.getByRole('button', { name: 'Save' }).click()
  await account.getByText('It can be replaced, not removed.').waitFor()
  await account.getByLabel('E-mail').fill(CUSTOMER.email)
  await account.getByLabel('New password').fill('another long password')
  await account.getByRole('button', { name: 'Save' }).click()
  await account.waitFor({ state: 'detached' })
  await expect(signInAs(site.baseUrl, CUSTOMER)).rejects.toThrow('401')
  await signInAs(site.baseUrl, { ...CUSTOMER, password: 'another long password' })
  expect(faults).toEqual([])
  await close()
})

test('for a customer there are no such pages', async () => {
  const visit = await site.visit('/', { as: CUSTOMER })
  await visit.page.goto(`${site.baseUrl}/console/operate/accounts`)
  await visit.page.getByText('There is no such page').waitFor()
  expect(await visit.page.getByText('Operate').count()).toBe(0)
  await visit.close()
})

const openFirst = async (page: Page) => {
  await rowOf(page, 'Ann Lindqvist').click()
  await page.getByRole('dialog').getByText('laptop').waitFor()
}

expectOpenToEverybody(() => site, {
  'the accounts': { path: '/operate/accounts', operator: true },
  'an account': { path: '/operate/accounts', operator: true, prepare: openFirst },
  'the form of one to be': {
    path: '/operate/accounts?open=new',
    operator: true,
    prepare: (page) => page.getByRole('dialog').waitFor(),
  },
})
