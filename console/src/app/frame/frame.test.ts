/** The bars around every page: what is loaded when it is first wanted is used as if it had been there. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { signInAs } from '../../../test/api.ts'
import { expectOpenToEverybody } from '../../../test/everybody.ts'
import { ADMIN, CUSTOMER } from '../../../test/gateway.ts'
import { JOURNEY_MS, openSite, PATIENCE_MS, type Site } from '../../../test/visit.ts'

vi.setConfig({ testTimeout: JOURNEY_MS })

let site: Site

beforeAll(async () => {
  site = await openSite()
  const ann = await signInAs(site.baseUrl, CUSTOMER)
  await ann.ask('POST', 'user/user/organisations', { name: 'Harbour Labs' })
})

afterAll(() => site.close())

test.each([
  ['Account', 'Sign out'],
  ['Language', '简体中文'],
  [/^Acting for/, 'Harbour Labs'],
])('the menu %s opens with Enter and gives the focus back to its button', async (name, last) => {
  const visit = await site.visit('/', { as: CUSTOMER })
  const { page } = visit
  const button = page.getByRole('button', { name })
  const state = () => Promise.all(['aria-haspopup', 'aria-expanded'].map((each) => button.getAttribute(each)))
  expect(await state()).toEqual(['menu', 'false'])
  await button.focus()
  await page.evaluate('window.first = document.activeElement')

  for (const _time of ['while it is loaded', 'when it is there']) {
    await button.focus()
    await page.keyboard.press('Enter')
    const menu = page.getByRole('menu', { name })
    await menu.waitFor()
    expect(await state()).toEqual(['menu', 'true'])
    await menu.locator(':focus').waitFor({ state: 'attached' })
    expect(await visit.barriers()).toEqual([])
    await page.keyboard.press('ArrowUp')
    await menu.locator(':focus').getByText(last).waitFor()
    await page.keyboard.press('Escape')
    await menu.waitFor({ state: 'hidden' })
    await vi.waitFor(
      async () => expect(await page.evaluate('document.activeElement === window.first')).toBe(true),
      PATIENCE_MS,
    )
    expect(await state()).toEqual(['menu', 'false'])
  }

  await button.click()
  await page.getByRole('menu', { name }).waitFor()
  await button.click()
  await page.getByRole('menu', { name }).waitFor({ state: 'hidden' })
  expect(visit.faults).toEqual([])
  await visit.close()
})

test('words stand beside what the mouse rests on, until it leaves or Escape is pressed', async () => {
  const visit = await site.visit('/', { as: CUSTOMER })
  const { page } = visit
  const live = page.getByRole('status').filter({ hasText: 'Live' })
  const words = page.getByRole('tooltip')
  for (const leave of [() => page.mouse.move(0, 0), () => page.keyboard.press('Escape')]) {
    await live.hover()
    await words.waitFor()
    expect(await live.getAttribute('aria-describedby')).toBe(await words.getAttribute('id'))
    await leave()
    await words.waitFor({ state: 'hidden' })
    expect(await live.getAttribute('aria-describedby')).toBeNull()
  }
  expect(visit.faults).toEqual([])
  await visit.close()
})

test('the pages of operators fit a laptop’s window', async () => {
  const visit = await site.visit('/operate/settings', { as: ADMIN })
  const { page } = visit
  for (const height of [860, 720]) {
    await page.setViewportSize({ width: 1280, height })
    const isCut = await page.evaluate<boolean>(
      `[...document.querySelectorAll('aside nav, nav')].some(({ scrollHeight, clientHeight }) => scrollHeight > clientHeight)`,
    )
    expect([height, isCut]).toEqual([height, false])
  }
  await visit.close()
})

test('a page opened in Chinese is Chinese from the first, and follows what is chosen in another tab, with a dialog open', async () => {
  const visit = await site.visit('/keys?key=new', { as: CUSTOMER, language: 'zh-CN' })
  const { page } = visit
  const language = () => page.evaluate('document.documentElement.lang')
  expect([await language(), await page.title()]).toEqual(['zh-CN', '密钥 · Sluice'])
  const form = page.getByRole('dialog')
  await form.getByRole('textbox').first().fill('laptop')
  // A tab of its own speaks the browser's language, which is English.
  const other = await visit.context.newPage()
  await other.goto(`${site.baseUrl}/console/`)
  await other.getByRole('button', { name: 'Language' }).click()
  await other.getByRole('menuitem', { name: 'English' }).click()
  await form.getByRole('heading', { name: 'Create key' }).waitFor()
  expect([await language(), await page.title()]).toEqual(['en', 'Keys · Sluice'])
  expect(await form.getByRole('textbox').first().inputValue()).toBe('laptop')
  expect(visit.faults).toEqual([])
  await visit.close()
})

expectOpenToEverybody(() => site, { 'an address that leads nowhere': { path: '/nowhere' } })
