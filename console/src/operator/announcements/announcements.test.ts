/** What everybody is told: written with a preview, changed, removed. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { expectOpenToEverybody } from '../../../test/everybody.ts'
import { ADMIN, CUSTOMER } from '../../../test/gateway.ts'
import { JOURNEY_MS, openSite, type Site } from '../../../test/visit.ts'

vi.setConfig({ testTimeout: JOURNEY_MS })

let site: Site
beforeAll(async () => {
  site = await openSite()
})
afterAll(() => site.close())

test('an announcement is written with a preview, seen by customers, changed and removed', async () => {
  const visit = await site.visit('/operate/announcements', { as: ADMIN })
  const { page } = visit
  await page.getByText('Nothing is announced').waitFor()
  await page.getByRole('button', { name: 'Announce' }).first().click()
  const form = page.getByRole('dialog', { name: 'Announce' })
  await form.getByRole('button', { name: 'Save' }).click()
  await form.getByText('Give it a title.').waitFor()
  await form.getByLabel('Title').fill('Prices change')
  await form.getByRole('textbox', { name: 'Text' }).fill('From 1 December')
  await form.getByRole('paragraph').filter({ hasText: 'From 1 December' }).waitFor()
  expect(await visit.barriers()).toEqual([])
  await form.getByRole('button', { name: 'Save' }).click()
  const row = page.getByRole('row', { name: /Prices change/ })
  await row.getByText('Shown now').waitFor()
  const customer = await site.visit('/', { as: CUSTOMER })
  await customer.page.getByText('Prices change').waitFor()
  await customer.close()
  await row.getByText('Prices change').click()
  const edit = page.getByRole('dialog', { name: 'Edit the announcement' })
  await edit.getByLabel('Until').fill('2020-01-01')
  await edit.getByLabel('From').fill('2019-12-01')
  await edit.getByRole('button', { name: 'Save' }).click()
  await row.getByText('Past').waitFor()
  await row.getByRole('button', { name: /^Remove/ }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  await page.getByText('Nothing is announced').waitFor()
  expect(visit.faults).toEqual([])
  await visit.close()
})

expectOpenToEverybody(() => site, {
  'the announcements': { path: '/operate/announcements', operator: true },
  'one to be': {
    path: '/operate/announcements?open=new',
    operator: true,
    prepare: (page) => page.getByRole('dialog').waitFor(),
  },
})
