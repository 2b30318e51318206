/** Where one is reached, changed by oneself. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { codeIn } from '../../../../server/test/notify/mailbox.ts'
import { signInAs } from '../../../test/api.ts'
import { CUSTOMER } from '../../../test/gateway.ts'
import { JOURNEY_MS, openSite, type Site } from '../../../test/visit.ts'

vi.setConfig({ testTimeout: JOURNEY_MS })

let site: Site
beforeAll(async () => {
  site = await openSite()
})
afterAll(() => site.close())

test('an e-mail address is changed with the code that was sent to the new one', async () => {
  const visit = await site.visit('/settings', { as: CUSTOMER })
  const { page } = visit
  const address = 'ann.lindqvist@example.com'
  await page.getByRole('button', { name: 'Change the e-mail address' }).click()
  const dialog = page.getByRole('dialog', { name: 'Change the e-mail address' })
  await dialog.getByRole('button', { name: 'Change', exact: true }).click()
  await dialog
    .getByText(/address/)
    .nth(1)
    .waitFor()
  await dialog.getByLabel('New e-mail address').fill(address)
  await dialog.getByRole('button', { name: 'Send code' }).click()
  const code = codeIn((await site.mailbox.next(address)).text)
  await dialog.getByLabel('Code', { exact: true }).fill(code === '000000' ? '000001' : '000000')
  await dialog.getByRole('button', { name: 'Change', exact: true }).click()
  await dialog.getByText('This code is not right').waitFor()
  await dialog.getByLabel('Code', { exact: true }).fill(code)
  expect(await visit.barriers()).toEqual([])
  await dialog.getByRole('button', { name: 'Change', exact: true }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.getByText(address).first().waitFor()
  const { token } = await signInAs(site.baseUrl, { ...CUSTOMER, email: address })
  expect(token).not.toBe('')
  expect(visit.faults).toEqual([])
  await visit.close()
})
