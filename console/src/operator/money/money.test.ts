/** Money in the hands of an operator: what came in and is left, and what is sold: codes, plans, packages. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { callModel, type Person, signInAs } from '../../../test/api.ts'
import { expectOpenToEverybody } from '../../../test/everybody.ts'
import { ADMIN, gatewayFile } from '../../../test/gateway.ts'
import { JOURNEY_MS, openSite, PATIENCE_MS, type Site } from '../../../test/visit.ts'

vi.setConfig({ testTimeout: JOURNEY_MS })

let site: Site
let admin: Person

beforeAll(async () => {
  site = await openSite({
    file: { ...gatewayFile(), settings: { currency: 'EUR', currencies: { EUR: 1_000 } } },
  })
  admin = await signInAs(site.baseUrl, ADMIN)
  const chains = await admin.ask<readonly { id: number; model_id: string }[]>('GET', 'admin/chains')
  const chain = chains.find(({ model_id: id }) => id === 'gpt-5')
  await admin.ask('PATCH', `admin/chains/${chain?.id ?? ''}`, {
    cost: { input_price: 3, output_price: 24 },
  })
  const { key } = await admin.ask<{ key: string }>('POST', 'user/user/keys', { name: 'laptop' })
  for (const words of [4_000, 1]) {
    const body = { model: 'gpt-5', messages: [{ role: 'user', content: 'Say hello. '.repeat(words) }] }
    expect(await callModel(site.baseUrl, { key, body })).toBe(200)
  }
  await vi.waitFor(async () => {
    expect((await admin.ask<{ calls: number }>('GET', 'admin/margin')).calls).toBe(2)
  }, PATIENCE_MS)
})

afterAll(() => site.close())

test('what came in and is left of it is told by model, by vendor, by account and by day', async () => {
  const visit = await site.visit('/operate/money', { as: ADMIN })
  const { page } = visit
  await page
    .getByRole('table', { name: 'By model' })
    .getByRole('row', { name: /gpt-5 2/ })
    .waitFor()
  await page
    .getByRole('table', { name: 'By vendor' })
    .getByRole('row', { name: /sandbox 2/ })
    .waitFor()
  const account = page.getByRole('table', { name: 'By account' }).getByRole('row', { name: /owner@example/ })
  expect((await account.getByRole('cell').allTextContents()).slice(0, 3)).toEqual([ADMIN.email, '2', '0'])
  await page
    .getByRole('table', { name: /By day/ })
    .getByText('66.7')
    .waitFor()
  await page.getByRole('img', { name: 'Revenue by day' }).waitFor()
  await page.getByRole('radiogroup').getByText('Free calls', { exact: true }).click()
  await page.getByRole('table', { name: 'Free calls' }).or(page.getByText('No free calls')).waitFor()
  await page.getByText('Top-ups', { exact: true }).click()
  await page.getByText('No matching top-ups').waitFor()
  expect(visit.faults).toEqual([])
  await visit.close()
})

test('codes are made, shown once, and voided', async () => {
  const visit = await site.visit('/operate/money?tab=codes', { as: ADMIN })
  const { page } = visit
  await page.getByRole('button', { name: 'Make codes' }).click()
  const form = page.getByRole('dialog', { name: 'Make codes' })
  await form.getByRole('button', { name: 'Make codes' }).click()
  await form.getByText('Enter an amount.').waitFor()
  await form.getByLabel('Worth of each').fill('50')
  await form.getByLabel('How many').fill('3')
  await form.getByLabel('Note').fill('spring')
  await form.getByRole('button', { name: 'Make codes' }).click()
  await form.getByText('These codes are shown only once.').waitFor()
  expect((await form.getByLabel('Codes').inputValue()).split('\n')).toHaveLength(3)
  expect(await visit.barriers()).toEqual([])
  await form.getByRole('button', { name: 'I have saved them' }).click()
  const row = page.getByRole('row', { name: /spring/ })
  await row.getByText('spring').click()
  const batch = page.getByRole('dialog', { name: 'spring' })
  await batch.getByRole('button', { name: 'Void' }).nth(2).waitFor()
  await batch.getByRole('button', { name: 'Void' }).first().click()
  const one = page.getByRole('dialog', { name: 'Void this code?' })
  await one.getByRole('button', { name: 'Void' }).click()
  await batch.getByText('Void', { exact: true }).and(page.locator('td *')).first().waitFor()
  await batch.getByRole('button', { name: 'Void' }).nth(2).waitFor({ state: 'detached' })
  expect(await visit.barriers()).toEqual([])
  await batch.getByRole('button', { name: 'Close' }).click()
  await row.getByRole('button', { name: 'Void' }).click()
  await page.getByText('2 codes that nobody has redeemed').waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Void' }).click()
  await row.getByRole('button', { name: 'Void' }).waitFor({ state: 'detached' })
  expect(visit.faults).toEqual([])
  await visit.close()
})

test('plans and packages are put on sale, in the gateway’s own currency at first, changed and removed', async () => {
  const visit = await site.visit('/operate/money?tab=plans', { as: ADMIN })
  const { page } = visit
  await page.getByRole('button', { name: 'Add plan' }).click()
  const add = page.getByRole('dialog', { name: 'Add plan' })
  await add.getByLabel('Code').fill('MAX')
  expect(await add.getByLabel('Currency').inputValue()).toBe('EUR')
  await add.getByLabel('Price').fill('399')
  await add.getByRole('button', { name: 'Add a quota' }).click()
  await add.getByLabel('Credits').fill('2000000')
  await add.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('row', { name: /MAX/ }).getByText('2,000,000 Credits in 30 d').waitFor()
  await page.getByRole('row', { name: /MAX/ }).click()
  const edit = page.getByRole('dialog', { name: 'Edit MAX' })
  await edit.getByLabel('Price').fill('349')
  await edit.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('row', { name: /MAX/ }).getByText('€349').waitFor()
  await page.getByRole('button', { name: 'Remove MAX' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  await page.getByRole('row', { name: /MAX/ }).waitFor({ state: 'detached' })
  await page.getByText('Packages', { exact: true }).click()
  await page.getByRole('button', { name: 'Add package' }).click()
  const pack = page.getByRole('dialog', { name: 'Add package' })
  await pack.getByLabel('Code').fill('small')
  await pack.getByLabel('Name').fill('Small')
  await pack.getByRole('textbox', { name: 'Worth' }).fill('10000')
  await pack.getByLabel('Price').fill('10')
  await pack.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('row', { name: /Small/ }).getByText('On sale').waitFor()
  await page.getByRole('button', { name: 'Remove Small' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  await page.getByText('No packages').waitFor()
  expect(visit.faults).toEqual([])
  await visit.close()
})

test('on a phone, what can be done with a plan or a batch of codes is in sight', async () => {
  await admin.ask('POST', 'admin/code-batches', { yuan: '50', count: 1, note: 'in its note' })
  for (const [tab, name] of [
    ['plans', 'Remove PLUS'],
    ['codes', 'Void'],
  ] as const) {
    const visit = await site.visit(`/operate/money?tab=${tab}`, { as: ADMIN, size: 'phone' })
    const act = visit.page.locator('table').getByRole('button', { name }).first()
    await act.waitFor()
    const place = await act.boundingBox()
    expect((place?.x ?? 0) + (place?.width ?? Number.POSITIVE_INFINITY), tab).toBeLessThanOrEqual(390)
    await visit.close()
  }
})

expectOpenToEverybody(() => site, {
  'what came in': { path: '/operate/money?period=today', operator: true },
  'the plans on sale': { path: '/operate/money?tab=plans', operator: true },
})
