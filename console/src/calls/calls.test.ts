/** The log of one's calls: found, followed, read one by one, taken along. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { callModel, signInAs } from '../../test/api.ts'
import { expectOpenToEverybody } from '../../test/everybody.ts'
import { ADMIN, CUSTOMER, gatewayFile } from '../../test/gateway.ts'
import { JOURNEY_MS, openSite, type Site, textOf } from '../../test/visit.ts'
import { copiedText } from '../../test/windows.ts'

vi.setConfig({ testTimeout: JOURNEY_MS })

let site: Site
let key: string

beforeAll(async () => {
  const file = gatewayFile()
  const painter = {
    model_id: 'painter',
    support_features: ['image'],
    pricing: { billing_modes: ['image'], image_price: 0.01 },
    chains: [
      { vendor: 'sandbox', credential: 'main', protocol: 'images', forward_model_id: 'sandbox-image' },
    ],
  }
  site = await openSite({ file: { ...file, models: [...file.models, painter] } })
  const ann = await signInAs(site.baseUrl, CUSTOMER)
  key = (await ann.ask<{ key: string }>('POST', 'user/user/keys', { name: 'laptop' })).key
  expect(await say('gpt-5', 400)).toBe(200)
  expect(await say('no-such-model', 1)).toBe(502)
  expect(await say('deepseek-v4', 2)).toBe(200)
  await vi.waitFor(async () => {
    expect(await ann.ask('GET', 'user/user/logs')).toHaveLength(3)
  }, 60_000)
})

afterAll(() => site.close())

const say = (model: string, words: number, more: object = {}) =>
  callModel(site.baseUrl, {
    key,
    body: { model, messages: [{ role: 'user', content: 'Say hello. '.repeat(words) }], ...more },
  })

const rowOf = (page: Page, name: string) => page.getByRole('row', { name: new RegExp(name) })
/** Of the filter: what stands above its name. */
const totalOf = (page: Page, name: string) =>
  page
    .locator('dl')
    .first()
    .locator('div', { has: page.getByText(name, { exact: true }) })

test('filters narrow the list and its totals, and stand in the address', async () => {
  const visit = await site.visit('/calls', { as: CUSTOMER })
  const { page } = visit
  await rowOf(page, 'deepseek-v4').getByText('Completed').waitFor()
  await totalOf(page, 'calls').getByText('3', { exact: true }).waitFor()
  await page.getByRole('combobox', { name: 'Ending' }).click()
  await page.getByRole('option', { name: 'Failed' }).click()
  await rowOf(page, 'deepseek-v4').waitFor({ state: 'detached' })
  await rowOf(page, 'no-such-model').waitFor()
  await totalOf(page, 'calls').getByText('1', { exact: true }).waitFor()
  expect(new URL(page.url()).searchParams.get('ending')).toBe('failed')
  await page.reload()
  await rowOf(page, 'no-such-model').waitFor()
  expect(await page.getByRole('row').count()).toBe(2)
  await page.getByRole('button', { name: 'More filters' }).click()
  await page.getByLabel('User').fill('nobody')
  await page.getByRole('button', { name: 'Apply' }).click()
  await page.getByText('No matching calls').waitFor()
  await page.getByRole('button', { name: 'Clear the filters' }).click()
  await rowOf(page, 'deepseek-v4').waitFor()
  expect(visit.faults).toEqual([])
  await visit.close()
})

test('a list keeps its place while a call is open and when it is closed, also by the way back', async () => {
  const visit = await site.visit('/calls', { as: CUSTOMER })
  const { page } = visit
  const sheet = page.getByRole('dialog')
  const place = () => page.evaluate<number>('window.scrollY')
  await page.setViewportSize({ width: 1280, height: 320 })
  const row = page.getByRole('row').last()
  await row.scrollIntoViewIfNeeded()
  const before = await place()
  expect(before).toBeGreaterThan(0)
  await row.click({ position: { x: 5, y: 5 } })
  await sheet.waitFor()
  await visit.rest()
  expect(await place()).toBe(before)
  await page.goBack()
  await sheet.waitFor({ state: 'detached' })
  await row.click({ position: { x: 5, y: 5 } })
  await sheet.waitFor()
  await page.evaluate('scrollTo(0, 0)')
  await page.keyboard.press('Escape')
  await sheet.waitFor({ state: 'detached' })
  await visit.rest()
  expect(await place()).toBe(0)
  await visit.close()
})

test('who has made no call is led further back, and then to the first one', async () => {
  const visit = await site.visit('/calls', { as: ADMIN })
  const { page } = visit
  await page.getByText('No matching calls').waitFor()
  await page.getByRole('button', { name: 'Any time' }).click()
  await page.getByText('No calls yet').waitFor()
  expect(await visit.barriers()).toEqual([])
  await page.getByRole('link', { name: 'To the overview' }).click()
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  expect(visit.faults).toEqual([])
  await visit.close()
})

test('one call is read whole: attempts, the price line by line, and the same call now', async () => {
  const visit = await site.visit('/calls', { as: CUSTOMER })
  const { page } = visit
  await rowOf(page, 'gpt-5').getByText('gpt-5').click()
  const call = page.getByRole('dialog')
  await call.getByRole('heading', { name: 'gpt-5' }).waitFor()
  await call.getByRole('img', { name: /sandbox: Completed after/ }).waitFor()
  const price = call.getByRole('table', { name: 'Price' })
  await price.getByText('Input, not cached').waitFor()
  const ann = await signInAs(site.baseUrl, CUSTOMER)
  const [logged] = await ann.ask<readonly { amount: string; request_id: string }[]>(
    'GET',
    'user/user/logs?model=gpt-5',
  )
  const sum = await price.getByRole('row', { name: /^Sum/ }).innerText()
  expect(sum.replace(/[^\d.]/g, '')).toBe(Number(logged?.amount).toFixed(6))
  await call.getByRole('button', { name: 'Explain again' }).click()
  await call.getByText('Credits would pay').or(call.getByText('The plan would pay')).waitFor()
  await call.getByText('sandbox · sandbox-chat').waitFor()
  await call.getByRole('button', { name: 'Copy as curl' }).click()
  await call.getByRole('button', { name: 'Copied' }).waitFor()
  expect(await copiedText(page)).toContain('/v1/chat/completions')
  expect(await visit.barriers()).toEqual([])

  await call.getByRole('button', { name: 'The call before' }).click()
  await call.getByText('No vendor was asked.').waitFor()
  await page.goto(`${site.baseUrl}/console/calls?model=deepseek-v4&call=${logged?.request_id}`)
  await page.getByRole('dialog').getByRole('heading', { name: 'gpt-5' }).waitFor()
  expect(visit.faults).toEqual([])
  await visit.close()
})

test('by keyboard: rows are walked, and what is open goes along', async () => {
  const visit = await site.visit('/calls?period=all', { as: CUSTOMER })
  const { page } = visit
  await page.getByRole('row').nth(1).focus()
  await page.keyboard.press('Enter')
  const call = page.getByRole('dialog')
  await call.getByRole('heading', { name: 'deepseek-v4' }).waitFor()
  await page.getByRole('row').nth(1).focus()
  await page.keyboard.press('ArrowDown')
  await call.getByRole('heading', { name: 'no-such-model' }).waitFor()
  await visit.close()
})

test('the tail shows a call as it ends, and a file holds what is shown', async () => {
  const visit = await site.visit('/calls?model=glm-5', { as: CUSTOMER })
  const { page } = visit
  await page.getByText('No matching calls').waitFor()
  await page.getByRole('button', { name: 'Tail' }).click()
  expect(await say('glm-5', 3)).toBe(200)
  await rowOf(page, 'glm-5').waitFor()
  await page.getByRole('button', { name: 'Export' }).click()
  const waiting = page.waitForEvent('download')
  await page.getByRole('menuitem', { name: /CSV/ }).click()
  const file = await waiting
  expect(file.suggestedFilename()).toBe('calls.csv')
  const lines = (await textOf(file)).trim().split('\n')
  expect(lines).toHaveLength(2)
  expect(lines[1]).toContain('glm-5')
  expect(visit.faults).toEqual([])
  await visit.close()
})

test('what was said is there as long as it is kept, and nothing of a call of which nothing is', async () => {
  const ask = (body: object) => callModel(site.baseUrl, { key, path: '/v1/responses', body })
  expect(await ask({ model: 'gemini-3-pro', input: 'Which <b>gate</b> is open?' })).toBe(200)
  expect(await ask({ model: 'claude-sonnet-4.6', input: 'Keep nothing.', store: false })).toBe(200)
  const visit = await site.visit('/calls', { as: CUSTOMER })
  const { page } = visit
  const call = page.getByRole('dialog')
  await rowOf(page, 'gemini-3-pro').getByText('gemini-3-pro').click()
  await call.getByText('Show what was said').click()
  await call.getByText('Which <b>gate</b> is open?', { exact: true }).waitFor()
  await call.getByText('You wrote: "Which <b>gate</b> is open?"').waitFor()
  expect(await visit.barriers()).toEqual([])
  await call.getByRole('button', { name: 'Copy the conversation' }).click()
  await call.getByRole('button', { name: 'Copied' }).waitFor()
  expect(await copiedText(page)).toContain('"role": "user"')
  const answered = page.waitForResponse(/\/conversation$/)
  await rowOf(page, 'claude-sonnet-4.6').getByText('claude-sonnet-4.6').click()
  await answered
  await call.getByRole('heading', { name: 'claude-sonnet-4.6' }).waitFor()
  await visit.rest()
  expect(await call.getByText('Show what was said').count()).toBe(0)
  expect(visit.faults).toEqual([])
  await visit.close()
})

test('of a call that made pictures, too, one sees what would become of it now', async () => {
  const body = { model: 'painter', prompt: 'A gate' }
  expect(await callModel(site.baseUrl, { key, path: '/v1/images/generations', body })).toBe(200)
  const visit = await site.visit('/calls', { as: CUSTOMER })
  const { page } = visit
  await rowOf(page, 'painter').getByText('painter').click()
  const call = page.getByRole('dialog')
  await call.getByRole('button', { name: 'Explain again' }).click()
  await call.getByText('sandbox · sandbox-image').waitFor()
  await call.getByRole('button', { name: 'Copy as curl' }).click()
  await call.getByRole('button', { name: 'Copied' }).waitFor()
  expect(await copiedText(page)).toContain('"prompt": ')
  expect(visit.faults).toEqual([])
  await visit.close()
})

test('a row that moves down the list when a call arrives is the same row, and keeps the focus', async () => {
  // With the one of the beginning, as many as are rendered first.
  const calls = Array.from({ length: 23 }, () => say('no-such-model', 1))
  expect(new Set(await Promise.all(calls))).toEqual(new Set([502]))
  const visit = await site.visit('/calls?model=no-such-model&tail=true', { as: CUSTOMER })
  const { page } = visit
  const rows = rowOf(page, 'no-such-model')
  await rows.nth(23).waitFor()
  await rows.nth(23).focus()
  await page.evaluate("document.activeElement.setAttribute('data-seen', '')")
  expect(await say('no-such-model', 1)).toBe(502)
  await rows.nth(24).waitFor()
  await rows.nth(24).and(page.locator('[data-seen]:focus')).waitFor()
  await visit.close()
})

expectOpenToEverybody(() => site, {
  'the calls': { path: '/calls' },
  'one call': {
    path: '/calls?model=gpt-5',
    prepare: async (page) => {
      await page.locator('tbody tr').first().click()
      await page.getByRole('dialog').waitFor()
    },
  },
})
