/** The audit log with before and after, the proof of the books, and requests to be verified. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type Person, signInAs } from '../../../test/api.ts'
import { expectOpenToEverybody } from '../../../test/everybody.ts'
import { ADMIN, CUSTOMER } from '../../../test/gateway.ts'
import { JOURNEY_MS, openSite, type Site, textOf } from '../../../test/visit.ts'

vi.setConfig({ testTimeout: JOURNEY_MS })

let site: Site
beforeAll(async () => {
  site = await openSite()
  const admin = await signInAs(site.baseUrl, ADMIN)
  await admin.ask('PATCH', `admin/accounts/${CUSTOMER.email}`, { user_rate: 80 })
})
afterAll(() => site.close())

test('an act is read with what was before and after it, the books are verified, the log is saved', async () => {
  const visit = await site.visit('/operate/trust', { as: ADMIN })
  const { page } = visit
  await page
    .getByRole('row', { name: /user_rate/ })
    .first()
    .click()
  const sheet = page.getByRole('dialog', { name: /Entry \d+: / })
  await sheet.getByRole('row', { name: /user_rate 100 80/ }).waitFor()
  expect(await visit.barriers()).toEqual([])
  await sheet.getByRole('button', { name: 'All of its entries' }).click()
  await sheet.waitFor({ state: 'detached' })
  expect(new URL(page.url()).searchParams.get('find')).toMatch(/^acc_/)
  await page.getByRole('row', { name: /file.apply/ }).waitFor({ state: 'detached' })
  await page.getByRole('combobox', { name: 'Act' }).click()
  await page.getByRole('option', { name: 'account.change', exact: true }).click()
  await page.getByRole('row', { name: /account.create/ }).waitFor({ state: 'detached' })
  await page.getByRole('row', { name: /account.change.*user_rate/ }).waitFor()
  await page.getByRole('textbox', { name: /^Subject/ }).fill('nobody')
  await page.getByText('No matching entries').waitFor()
  await page.getByRole('textbox', { name: /^Subject/ }).fill('')
  await page.getByRole('button', { name: 'Verify' }).click()
  await page.getByText('Everything is consistent').waitFor()
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Export the log' }).click(),
  ])
  expect(await textOf(file)).toContain('user_rate')
  await page.getByText('No requests.').waitFor()
  expect(visit.faults).toEqual([])
  await visit.close()
})

async function askToBeVerified(): Promise<Person> {
  const ann = await signInAs(site.baseUrl, CUSTOMER)
  const form = new FormData()
  form.set('kind', 'personal')
  form.set('legal_name', 'Ann Lindqvist')
  form.set('id_number', '110101199003070000')
  form.set('documents', new Blob(['%PDF-1.4\n%%EOF'], { type: 'application/pdf' }), 'passport.pdf')
  const asked = await fetch(`${site.baseUrl}/api/v1/user/user/verification`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ann.token}` },
    body: form,
  })
  expect(asked.status, await asked.text()).toBeLessThan(300)
  return ann
}

test('a request is read with its documents, and rejected with a reason; the next one is approved', async () => {
  const ann = await askToBeVerified()
  const visit = await site.visit('/operate/trust', { as: ADMIN })
  const { page } = visit
  await page.getByText('Ann Lindqvist').waitFor()
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'passport.pdf' }).click(),
  ])
  expect(await textOf(file)).toContain('%PDF')
  await page.getByRole('button', { name: 'Reject' }).click()
  const ask = page.getByRole('dialog', { name: 'Reject this request?' })
  expect(await visit.barriers()).toEqual([])
  await ask.getByLabel('Reason').fill('not readable')
  await ask.getByRole('button', { name: 'Reject' }).click()
  await page.getByText('No requests.').waitFor()
  expect(await ann.ask('GET', 'user/user/verification')).toMatchObject({
    requests: [{ status: 'rejected', reason: 'not readable' }],
  })
  await askToBeVerified()
  await page.reload()
  await page.getByRole('button', { name: 'Approve' }).click()
  const approve = page.getByRole('dialog', { name: 'Approve this request?' })
  await approve.getByRole('button', { name: 'Approve' }).click()
  await page.getByText('No requests.').waitFor()
  expect(await ann.ask('GET', 'user/user/account')).toMatchObject({ verification: 'personal' })
  expect(visit.faults).toEqual([])
  await visit.close()
})

expectOpenToEverybody(() => site, { 'what was done': { path: '/operate/trust', operator: true } })
