/** The history and the focus after a sheet was closed, on every kind of page that has one. */
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { callModel, signInAs } from '../../../test/api.ts'
import { ADMIN, CUSTOMER, type Credentials } from '../../../test/gateway.ts'
import { JOURNEY_MS, openSite, PATIENCE_MS, type Site } from '../../../test/visit.ts'

vi.setConfig({ testTimeout: JOURNEY_MS })

let site: Site
let organisation: string

beforeAll(async () => {
  site = await openSite()
  const ann = await signInAs(site.baseUrl, CUSTOMER)
  const { key } = await ann.ask<{ key: string }>('POST', 'user/user/keys', { name: 'laptop' })
  organisation = (await ann.ask<{ id: string }>('POST', 'user/user/organisations', { name: 'Northwind' })).id
  for (const model of ['deepseek-v4', 'gpt-5']) {
    const body = { model, messages: [{ role: 'user', content: 'Say hello.' }] }
    expect(await callModel(site.baseUrl, { key, body })).toBe(200)
  }
  await vi.waitFor(async () => {
    expect(await ann.ask('GET', 'user/user/logs')).toHaveLength(2)
  }, PATIENCE_MS)
})

afterAll(() => site.close())

const rowOf = (page: Page, name: string) => page.getByRole('row', { name: new RegExp(name) })
const sheetOf = (page: Page) => page.getByRole('dialog')
/** The one of the head; a form may have another one. */
const closeButton = (page: Page) => sheetOf(page).getByRole('button', { name: 'Close', exact: true }).first()
const closed = (page: Page) => sheetOf(page).waitFor({ state: 'detached' })
const close = async (page: Page): Promise<void> => {
  await closeButton(page).click()
  await closed(page)
}
const searchOf = (page: Page) => Object.fromEntries(new URL(page.url()).searchParams)

/** A visit of a list that somebody came to from the overview. */
async function comeTo(path: string, as: Credentials = CUSTOMER) {
  const visit = await site.visit('/', { as })
  await visit.page.goto(`${site.baseUrl}/console${path}`)
  await visit.rest()
  return visit
}

async function expectBackLeaves(page: Page): Promise<void> {
  await page.goBack()
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
}

const expectFocus = (element: Locator) => element.and(element.page().locator(':focus')).waitFor()

interface Opening {
  readonly path: () => string
  readonly as?: Credentials
  /** What is pressed to open the sheet. */
  readonly opener: (page: Page) => Locator
}

const OPENINGS: Readonly<Record<string, Opening>> = {
  'a call': { path: () => '/calls', opener: (page) => rowOf(page, 'gpt-5') },
  'a key': { path: () => '/keys', opener: (page) => rowOf(page, 'laptop') },
  'a new key': { path: () => '/keys', opener: (page) => page.getByRole('button', { name: 'Create key' }) },
  'a model': { path: () => '/models', opener: (page) => rowOf(page, 'glm-5') },
  'a dialog of the wallet': {
    path: () => '/wallet',
    opener: (page) => page.getByRole('button', { name: 'Redeem a code' }),
  },
  'a member': {
    path: () => `/organisation?org=${organisation}`,
    opener: (page) => rowOf(page, 'ann@example.com'),
  },
  'a dialog of an organisation': {
    path: () => `/organisation?org=${organisation}`,
    opener: (page) => page.getByRole('button', { name: 'Invite', exact: true }),
  },
  'any call': { path: () => '/operate/calls', as: ADMIN, opener: (page) => rowOf(page, 'gpt-5') },
  'an account': { path: () => '/operate/accounts', as: ADMIN, opener: (page) => rowOf(page, 'Northwind') },
  'a vendor': { path: () => '/operate/vendors', as: ADMIN, opener: (page) => rowOf(page, 'Sandbox') },
}

test.each(Object.entries(OPENINGS))(
  'after %s is closed, the focus is where it was opened, and the way back leaves the page',
  async (_name, { path, as, opener }) => {
    const visit = await comeTo(path(), as)
    const { page } = visit
    await opener(page).focus()
    await page.keyboard.press('Enter')
    await close(page)
    await expectFocus(opener(page))
    expect(page.url()).toBe(`${site.baseUrl}/console${path()}`)
    await expectBackLeaves(page)
    expect(visit.faults).toEqual([])
    await visit.close()
  },
)

test('the way back closes an open sheet', async () => {
  const visit = await comeTo('/keys')
  const { page } = visit
  await rowOf(page, 'laptop').press('Enter')
  await sheetOf(page).waitFor()
  await page.goBack()
  await closed(page)
  await rowOf(page, 'laptop').waitFor()
  await expectBackLeaves(page)
  await visit.close()
})

test('other calls and filters while a call is open are no steps of the way back, and the filters stay', async () => {
  const visit = await comeTo('/calls')
  const { page } = visit
  await rowOf(page, 'gpt-5').press('Enter')
  await sheetOf(page).getByRole('heading', { name: 'gpt-5' }).waitFor()
  await rowOf(page, 'deepseek-v4').press('Enter')
  await sheetOf(page).getByRole('heading', { name: 'deepseek-v4' }).waitFor()
  await page.getByRole('combobox', { name: 'Ending' }).click()
  await page.getByRole('option', { name: 'Completed' }).click()
  await page.waitForURL(/ending=complete/)
  await close(page)
  await page.waitForURL((url) => url.search === '?ending=complete')
  await expectBackLeaves(page)
  await page.goForward()
  await page.getByRole('heading', { level: 1, name: 'Calls' }).waitFor()
  expect(searchOf(page)).toEqual({ ending: 'complete' })
  expect(await sheetOf(page).count()).toBe(0)
  expect(visit.faults).toEqual([])
  await visit.close()
})

test('a call that is opened by its address is closed in place', async () => {
  const ann = await signInAs(site.baseUrl, CUSTOMER)
  const [logged] = await ann.ask<readonly { request_id: string }[]>('GET', 'user/user/logs?model=gpt-5')
  const visit = await comeTo(`/calls?call=${logged?.request_id}`)
  const { page } = visit
  await close(page)
  expect(searchOf(page)).toEqual({})
  await expectBackLeaves(page)
  await visit.close()
})

test('a sheet that was open when the page was loaded again is closed as before', async () => {
  const visit = await comeTo('/models?find=g')
  const { page } = visit
  await rowOf(page, 'gpt-5').press('Enter')
  await sheetOf(page).waitFor()
  await page.reload()
  await close(page)
  expect(searchOf(page)).toEqual({ find: 'g' })
  await expectBackLeaves(page)
  await visit.close()
})

test('a sheet that is closed twice goes back once', async () => {
  const visit = await comeTo('/keys')
  const { page } = visit
  await rowOf(page, 'laptop').press('Enter')
  await closeButton(page).focus()
  await page.evaluate('document.activeElement.click(); document.activeElement.click()')
  await closed(page)
  await visit.rest()
  await rowOf(page, 'laptop').waitFor()
  await expectBackLeaves(page)
  await visit.close()
})

test('a sheet that was opened from another one is a step of its own, and both are closed at once', async () => {
  const visit = await comeTo('/operate/accounts', ADMIN)
  const { page } = visit
  const open = async (): Promise<void> => {
    await page.getByRole('dialog', { name: 'Northwind' }).getByRole('row', { name: /Owner/ }).press('Enter')
    await page.getByRole('dialog', { name: 'ann@example.com' }).waitFor()
  }
  await rowOf(page, 'Northwind').press('Enter')
  await open()
  await page.goBack()
  await open()
  await close(page)
  await expectFocus(rowOf(page, 'Northwind'))
  expect(searchOf(page)).toEqual({})
  await expectBackLeaves(page)
  expect(visit.faults).toEqual([])
  await visit.close()
})

test('after a dialog of a menu the focus is on the button of the menu', async () => {
  const visit = await comeTo('/keys')
  const { page } = visit
  const button = page.getByRole('button', { name: 'More for laptop' })
  for (const item of ['Edit', 'Disable']) {
    await button.press('Enter')
    await page.getByRole('menuitem', { name: item }).press('Enter')
    await sheetOf(page).waitFor()
    await page.keyboard.press('Escape')
    await closed(page)
    await expectFocus(button)
  }
  await visit.close()
})
