/** Keys in the hands of whoever calls with them: made, limited, rotated, switched, deleted. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { callModel, signInAs } from '../../test/api.ts'
import { expectOpenToEverybody } from '../../test/everybody.ts'
import { CUSTOMER } from '../../test/gateway.ts'
import { JOURNEY_MS, openSite, type Site } from '../../test/visit.ts'
import { copiedText } from '../../test/windows.ts'

vi.setConfig({ testTimeout: JOURNEY_MS })

let site: Site

beforeAll(async () => {
  site = await openSite()
  const ann = await signInAs(site.baseUrl, CUSTOMER)
  await ann.ask('POST', 'user/user/keys', {
    name: 'ci-runner',
    group: 'claude-code',
    expires_at: new Date(Date.now() + 86_400_000).toISOString(),
    policy: { concurrency: 3, windows: [{ dimension: 'requests', limit: 9, seconds: 60 }] },
  })
})

afterAll(() => site.close())

const hello = (key: string) =>
  callModel(site.baseUrl, { key, body: { model: 'gpt-5', messages: [{ role: 'user', content: 'Hello' }] } })

const rowOf = (page: Page, name: string) => page.getByRole('row', { name: new RegExp(name) })

/** The secret that the open dialog shows. */
const secretOf = async (page: Page): Promise<string> =>
  (await page.getByRole('dialog').locator('code').first().textContent()) ?? ''

test('a form that opens beside a short page moves nothing of it', async () => {
  const visit = await site.visit('/keys', { as: CUSTOMER })
  const width = () => visit.page.evaluate<number>('document.body.clientWidth')
  const before = await width()
  await visit.page.getByRole('button', { name: 'Create key' }).first().click()
  await visit.page.getByRole('dialog', { name: 'Create key' }).waitFor()
  expect(await width()).toBe(before)
  await visit.close()
})

test('a key is made with limits of its own, shown once, and its first call and its limits move by themselves', async () => {
  const visit = await site.visit('/keys', { as: CUSTOMER })
  const { page } = visit
  await page.getByRole('button', { name: 'Create key' }).first().click()
  const form = page.getByRole('dialog', { name: 'Create key' })
  await form.getByRole('button', { name: 'Create key' }).click()
  await form.getByText('Give it a name.').waitFor()
  await form.getByLabel('Name').fill('laptop')
  await form.getByLabel('Addresses').fill('300.0.0.1')
  await page.keyboard.press('Enter')
  await form.getByText('Own limits').click()
  await form.getByRole('button', { name: 'Add a limit' }).click()
  await form.getByRole('combobox', { name: 'What is counted' }).click()
  await page.getByRole('option', { name: 'Requests' }).click()
  await form.getByText('Calls of models, whether they succeed or not.').waitFor()
  await form.getByRole('textbox', { name: 'At most' }).fill('2')
  await form.getByRole('button', { name: 'Create key' }).click()
  await form.getByText('must be a CIDR range').waitFor()
  expect(await visit.barriers()).toEqual([])
  await form.getByLabel('Addresses').focus()
  await page.keyboard.press('Backspace')
  await form.getByRole('button', { name: 'Create key' }).click()

  const ready = page.getByRole('dialog', { name: 'Key “laptop” is ready' })
  await ready.getByText('Waiting for its first call').waitFor()
  await ready.getByText('Requests: 2 in 30 d').waitFor()
  const secret = await secretOf(page)
  await ready.getByRole('button', { name: 'Copy key' }).click()
  await ready.getByRole('button', { name: 'Copied' }).waitFor()
  expect(await copiedText(page)).toBe(secret)
  expect(await ready.getByRole('region', { name: 'curl' }).innerText()).toContain(secret)
  expect(await visit.barriers()).toEqual([])
  expect(await hello(secret)).toBe(200)
  await ready.getByText('Its first call has arrived').waitFor()
  await ready.getByRole('button', { name: 'I have saved it' }).click()
  await ready.waitFor({ state: 'hidden' })

  const row = rowOf(page, 'laptop')
  await row.getByText('1 / 2').waitFor()
  await row.getByRole('img', { name: /Requests, 30 d: 1 of 2 left until/ }).waitFor()
  expect(await hello(secret)).toBe(200)
  await row.getByText('limit reached').waitFor()
  expect(await hello(secret)).toBe(429)
  expect(await page.content()).not.toContain(secret)
  expect(visit.faults).toEqual([])
  await visit.close()
})

test('in Chinese, what is wrong with a field is said beside it in Chinese', async () => {
  const visit = await site.visit('/keys?key=new', { as: CUSTOMER, language: 'zh-CN' })
  const form = visit.page.getByRole('dialog')
  await form.getByLabel('名称').fill('x'.repeat(101))
  await form.getByLabel('来源地址').fill('everywhere')
  await form.getByLabel('来源地址').press('Enter')
  await form.getByRole('button', { name: '创建密钥' }).click()
  await form.getByText('最多 100 个字符').waitFor()
  await form.getByText('必须是 CIDR 网段（如 10.0.0.0/8）或地址，而不是 everywhere').waitFor()
  expect(visit.faults).toEqual([])
  await visit.close()
})

test('a key is changed, and what was not touched stays', async () => {
  const visit = await site.visit('/keys', { as: CUSTOMER })
  const { page } = visit
  const ann = await signInAs(site.baseUrl, CUSTOMER)
  const read = async () => {
    const keys = await ann.ask<readonly { name: string; expires_at: string; policy: object }[]>(
      'GET',
      'user/user/keys',
    )
    return keys.find(({ name }) => name.startsWith('ci-runner'))
  }
  const before = await read()
  await rowOf(page, 'ci-runner').getByText('ci-runner').click()
  const form = page.getByRole('dialog', { name: 'Edit “ci-runner”' })
  expect(new URL(page.url()).searchParams.get('key')).toMatch(/^key/)
  await form.getByRole('textbox', { name: 'At once' }).fill('7')
  await form.getByRole('button', { name: 'Save' }).click()
  await form.waitFor({ state: 'hidden' })
  await rowOf(page, 'ci-runner').getByText('0 / 7').waitFor()
  expect(await read()).toEqual({
    ...before,
    policy: { concurrency: 7, windows: [{ dimension: 'requests', limit: 9, seconds: 60 }] },
  })
  expect(visit.faults).toEqual([])
  await visit.close()
})

test('a key is rotated with time to change over, disabled, enabled and deleted', async () => {
  const ann = await signInAs(site.baseUrl, CUSTOMER)
  const { key } = await ann.ask<{ key: string }>('POST', 'user/user/keys', { name: 'backend' })
  const visit = await site.visit('/keys', { as: CUSTOMER })
  const { page } = visit
  const act = async (name: string): Promise<void> => {
    await page.getByRole('button', { name: 'More for backend' }).click()
    await page.getByRole('menuitem', { name, exact: true }).click()
  }
  await act('Rotate')
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click()
  await page.getByRole('dialog', { name: 'Key “backend” is ready' }).waitFor()
  const rotated = await secretOf(page)
  await page.getByRole('button', { name: 'I have saved it' }).click()
  await rowOf(page, 'backend').getByText('former secret works until').waitFor()
  expect([await hello(key), await hello(rotated)]).toEqual([200, 200])

  await page.getByRole('button', { name: 'More for ci-runner' }).click()
  await page.getByRole('menuitem', { name: 'Rotate', exact: true }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click()
  const bound = page.getByRole('dialog', { name: 'Key “ci-runner” is ready' })
  await bound.getByRole('tab', { name: 'Anthropic' }).waitFor()
  expect(await bound.getByRole('tab').allInnerTexts()).toEqual(['curl', 'Anthropic', 'Claude Code'])
  await page.getByRole('button', { name: 'I have saved it' }).click()

  await act('Disable')
  await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click()
  await rowOf(page, 'backend').getByText('disabled').waitFor()
  expect(await hello(rotated)).toBe(401)
  await act('Enable')
  await rowOf(page, 'backend').getByText('disabled').waitFor({ state: 'detached' })
  expect(await hello(rotated)).toBe(200)

  await act('Delete')
  await page.getByRole('dialog').getByText('is deleted for good').waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await rowOf(page, 'backend').waitFor({ state: 'detached' })
  expect(await hello(rotated)).toBe(401)
  expect(visit.faults).toEqual([])
  await visit.close()
})

test('a key that cannot be enabled says why, and is enabled at the next try', async () => {
  const ann = await signInAs(site.baseUrl, CUSTOMER)
  await ann.ask('POST', 'user/user/keys', { name: 'resting', status: 'disabled' })
  const visit = await site.visit('/keys', { as: CUSTOMER })
  const { page, context } = visit
  const enable = async (): Promise<void> => {
    await page.getByRole('button', { name: 'More for resting' }).click()
    await page.getByRole('menuitem', { name: 'Enable' }).click()
  }
  const row = rowOf(page, 'resting')
  await row.getByText('disabled').waitFor()
  await context.setOffline(true)
  await enable()
  await row.getByRole('alert').getByText('The gateway cannot be reached').waitFor()
  await context.setOffline(false)
  await enable()
  await row.getByText('disabled').waitFor({ state: 'detached' })
  await visit.close()
})

test('a click beside a form that was begun loses nothing of it', async () => {
  const visit = await site.visit('/keys?key=new', { as: CUSTOMER })
  const { page } = visit
  const name = page.getByRole('dialog').getByLabel('Name', { exact: true })
  await name.waitFor()
  await name.fill('half a name')
  await page.mouse.click(300, 400)
  await visit.rest()
  expect(await name.inputValue()).toBe('half a name')
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Create key' }).click()
  await name.waitFor()
  await page.mouse.click(300, 400)
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await visit.close()
})

test('by keyboard: rows are walked and opened, and filters stand in the address', async () => {
  const visit = await site.visit('/keys?group=claude-code', { as: CUSTOMER })
  const { page } = visit
  await page.getByText(/\d keys?, \d in use/).waitFor()
  expect(await page.getByRole('row').count()).toBe(2)
  await page.getByRole('combobox', { name: 'Group' }).focus()
  await page.keyboard.press('Backspace')
  await page.goto(`${site.baseUrl}/console/keys`)
  await rowOf(page, 'ci-runner').focus()
  await page.keyboard.press('Enter')
  await page.getByRole('dialog', { name: /Edit/ }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await visit.close()
})

expectOpenToEverybody(() => site, {
  'the keys': { path: '/keys' },
  'a form of a key': { path: '/keys?key=new', prepare: (page) => page.getByRole('dialog').waitFor() },
})
