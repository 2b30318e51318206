/** Several people and one purse: an organisation is made, funded, joined by link, limited by member, and closed. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { callModel, type Person, signInAs } from '../../test/api.ts'
import { expectOpenToEverybody } from '../../test/everybody.ts'
import { CUSTOMER, gatewayFile } from '../../test/gateway.ts'
import { JOURNEY_MS, openSite, type Site } from '../../test/visit.ts'

vi.setConfig({ testTimeout: JOURNEY_MS })

const BOB = { email: 'bob@example.com', password: 'a long password of bob' }

let site: Site
let bob: Person

beforeAll(async () => {
  const file = gatewayFile()
  site = await openSite({ file: { ...file, accounts: [...file.accounts, BOB] } })
  bob = await signInAs(site.baseUrl, BOB)
})

afterAll(() => site.close())

test('an organisation is made and funded, somebody comes by the link of a mail, is limited and let go', async () => {
  const visit = await site.visit('/organisation', { as: CUSTOMER })
  const { page } = visit
  await page.getByRole('textbox', { name: 'Name' }).fill('Acme')
  await page.getByRole('button', { name: 'Create an organisation' }).click()
  await page.getByRole('heading', { name: 'Acme' }).waitFor()
  const organisation = new URL(page.url()).searchParams.get('org') ?? ''

  // Oneself again, and back.
  await page.getByRole('button', { name: 'Acting for Acme' }).click()
  await page.getByRole('menuitem', { name: 'ann@example.com' }).click()
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  expect(new URL(page.url()).search).toBe('')
  await page.getByRole('link', { name: 'Organisation', exact: true }).first().click()
  await page.getByRole('link', { name: 'Open Acme' }).click()

  await page.getByRole('button', { name: 'Add money' }).click()
  const funding = page.getByRole('dialog', { name: 'Add money' })
  await funding.getByText(/You have 412,806 Credits/).waitFor()
  await funding.getByRole('textbox', { name: 'Amount' }).fill('5000')
  await funding.getByRole('button', { name: 'Move it' }).click()
  await funding.waitFor({ state: 'hidden' })

  await page.getByRole('button', { name: 'Invite', exact: true }).click()
  const inviting = page.getByRole('dialog', { name: 'Invite' })
  await inviting.getByRole('textbox', { name: 'E-mail' }).fill(BOB.email)
  await inviting.getByRole('textbox', { name: 'Monthly cap' }).fill('50')
  expect(await visit.barriers()).toEqual([])
  await inviting.getByRole('button', { name: 'Send the invitation' }).click()
  await inviting.getByText('bob@example.com was invited.').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Revoke the invitation of bob@example.com' }).waitFor()

  const mail = await site.mailbox.next(BOB.email)
  const [link = ''] = /http\S+#invitation=\S+/.exec(mail.text ?? '') ?? []
  const other = await site.visit('/', { as: BOB })
  await other.page.goto(link)
  await other.page.getByText('To Acme, as Member: for the account of bob@example.com').waitFor()
  expect(other.page.url()).not.toContain('invite-')
  expect(await other.barriers()).toEqual([])
  await other.page.getByRole('button', { name: 'Join' }).click()
  await other.page.getByText('You are a member here').waitFor()
  expect(other.faults).toEqual([])
  await other.close()

  const acting = { 'gw-organisation': organisation }
  const { key } = await bob.ask<{ key: string }>('POST', 'user/user/keys', { name: 'laptop' }, acting)
  const ann = await signInAs(site.baseUrl, CUSTOMER)
  await ann.ask('PATCH', 'user/user/account', { api_deduction: true }, acting)
  const hello = () =>
    callModel(site.baseUrl, {
      key,
      body: {
        model: 'gpt-5',
        messages: [{ role: 'user', content: 'Which region was slowest? '.repeat(200) }],
      },
    })
  expect(await hello()).toBe(200)
  const row = page.getByRole('row', { name: /bob@example.com/ })
  await row
    .getByText(/of ¥50/)
    .first()
    .waitFor()
  await row.getByText('1', { exact: true }).waitFor()

  await row.getByText('bob@example.com').click()
  const sheet = page.getByRole('dialog', { name: 'bob@example.com' })
  await sheet.getByRole('combobox', { name: 'Role' }).click()
  await page.getByRole('option', { name: 'Admin' }).click()
  await sheet.getByRole('button', { name: 'Add a limit' }).click()
  await sheet.getByRole('textbox', { name: 'At most' }).fill('9000')
  await sheet.getByRole('switch', { name: 'May call' }).uncheck({ force: true })
  expect(await visit.barriers()).toEqual([])
  await sheet.getByRole('button', { name: 'Save' }).click()
  await row.getByText('Admin').waitFor()
  await row.getByText('suspended').waitFor()
  const members = await ann.ask('GET', `user/user/organisations/${organisation}/members`)
  expect(members).toContainEqual(
    expect.objectContaining({
      email: BOB.email,
      policy: { windows: [{ dimension: 'amount', limit: 9000, seconds: 2_592_000 }] },
    }),
  )
  expect(await hello()).toBeGreaterThanOrEqual(401)

  await row.getByText('bob@example.com').click()
  await sheet.getByRole('button', { name: 'Remove', exact: true }).click()
  await page
    .getByRole('dialog', { name: 'Remove this member?' })
    .getByRole('button', { name: 'Remove' })
    .click()
  await row.waitFor({ state: 'detached' })

  await page.getByRole('button', { name: 'Close for good' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Close for good' }).click()
  await page.getByRole('heading', { name: 'Create an organisation' }).waitFor()
  expect(visit.faults).toEqual([])
  await visit.close()
})

expectOpenToEverybody(() => site, { 'the organisations': { path: '/organisation' } })
