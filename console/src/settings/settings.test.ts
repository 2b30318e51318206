/** What people set for themselves: who they are, how they come in, what is done for them and told to them. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { signInAs } from '../../test/api.ts'
import { codeOf, decodeBase32 } from '../../../server/src/management/identity/factors/totp.ts'
import { expectOpenToEverybody } from '../../test/everybody.ts'
import { CUSTOMER } from '../../test/gateway.ts'
import { JOURNEY_MS, openSite, type Site } from '../../test/visit.ts'

vi.setConfig({ testTimeout: JOURNEY_MS })

let site: Site
/** Where webhooks go; each is noted. */
let receiver: Server
const received: string[] = []

beforeAll(async () => {
  receiver = createServer((request, response) => {
    received.push(String(request.headers['sluice-signature']))
    response.end('{}')
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  site = await openSite({ environment: { SLUICE_FETCH_ALLOW: '127.0.0.0/8' } })
})

afterAll(async () => {
  await site.close()
  await new Promise((resolve) => receiver.close(resolve))
})

const choose = async (page: Page, field: string, option: string): Promise<void> => {
  await page.getByRole('combobox', { name: field }).click()
  await page.getByRole('option', { name: option, exact: true }).click()
}

test('name, language and time zone are changed, and hold at once', async () => {
  const visit = await site.visit('/settings', { as: CUSTOMER })
  const { page } = visit
  await page.getByRole('textbox', { name: 'Name' }).fill('Ann Lindqvist')
  await page.getByRole('combobox', { name: 'Time zone' }).fill('Shanghai')
  await page.getByRole('option', { name: 'Asia/Shanghai' }).click()
  await choose(page, 'Language', '简体中文')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('heading', { name: '设置' }).waitFor()
  await page.getByText('Ann Lindqvist').first().waitFor()
  const ann = await signInAs(site.baseUrl, CUSTOMER)
  expect(await ann.ask('GET', 'user/user/account')).toMatchObject({
    name: 'Ann Lindqvist',
    language: 'zh-CN',
    time_zone: 'Asia/Shanghai',
  })
  await page.getByText('深色', { exact: true }).click()
  await page.locator('html[data-mantine-color-scheme="dark"]').waitFor()
  await ann.ask('PATCH', 'user/user/account', { language: 'en' })
  expect(visit.faults).toEqual([])
  await visit.close()
})

test('a password is changed with the current one, and other sessions end', async () => {
  await signInAs(site.baseUrl, CUSTOMER)
  const visit = await site.visit('/settings?tab=security', { as: CUSTOMER })
  const { page } = visit
  await page.getByText('this one').waitFor()
  const set = async (current: string, next: string): Promise<void> => {
    await page.getByLabel('Current password').fill(current)
    await page.getByLabel('New password').fill(next)
    await page.getByRole('button', { name: 'Change the password' }).click()
  }
  await set('not this one', 'another long password')
  await page.getByText('This is not your current password.').waitFor()
  await set(CUSTOMER.password, 'another long password')
  await page.getByText('The password was changed').waitFor()
  await page.getByRole('button', { name: 'End all others' }).waitFor({ state: 'detached' })
  await set('another long password', CUSTOMER.password)
  await page.getByText('The password was changed').waitFor()
  expect(visit.faults).toEqual([])
  await visit.close()
})

test('a passkey is added with recovery codes, and removed; another session is ended', async () => {
  const other = await signInAs(site.baseUrl, CUSTOMER)
  const visit = await site.visit('/settings?tab=security', { as: CUSTOMER })
  const { page } = visit
  const cdp = await visit.context.newCDPSession(page)
  await cdp.send('WebAuthn.enable')
  await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
    },
  })
  await page.getByRole('textbox', { name: 'Name of the passkey' }).fill('laptop')
  await page.getByRole('button', { name: 'Add a passkey' }).click()
  const codes = page.getByRole('dialog', { name: 'Recovery codes' })
  await codes.getByRole('button', { name: 'I have saved them' }).click()
  await page.getByText(/\d+ codes are left/).waitFor()
  await page.getByRole('button', { name: 'Remove “laptop”' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  await page.getByRole('button', { name: 'Remove “laptop”' }).waitFor({ state: 'detached' })

  await page.getByRole('button', { name: 'Set up an app' }).click()
  const app = page.getByRole('dialog', { name: 'Set up an app' })
  await app.getByLabel('Code of your authenticator app').fill('000000')
  await app.getByRole('button', { name: 'Confirm' }).click()
  await app.getByText('This is not the code that the app shows now.').waitFor()
  await app.getByRole('img', { name: 'QR code of the secret' }).waitFor()
  const secret = await app.getByText(/^([A-Z2-7]{4} )+[A-Z2-7]+$/).innerText()
  const code = codeOf(decodeBase32(secret.replaceAll(' ', '')), Math.floor(Date.now() / 30_000), 6)
  await app.getByLabel('Code of your authenticator app').fill(code)
  await app.getByRole('button', { name: 'Confirm' }).click()
  await codes.getByRole('button', { name: 'I have saved them' }).click()
  await page.getByText('An app is set up').waitFor()
  await page.getByRole('button', { name: 'Remove the app' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  await page.getByRole('button', { name: 'Set up an app' }).waitFor()

  await page.getByRole('button', { name: 'End all others' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'End' }).click()
  await page.getByRole('button', { name: 'End all others' }).waitFor({ state: 'detached' })
  await expect(other.ask('GET', 'user/user/account')).rejects.toThrow('401')
  expect(visit.faults).toEqual([])
  await visit.close()
})

test('a fallback model and an own key with a vendor are set, and the key is never shown', async () => {
  const visit = await site.visit('/settings?tab=calls', { as: CUSTOMER })
  const { page } = visit
  await choose(page, 'Fallback model', 'gpt-5')
  await page.getByRole('button', { name: 'Add a vendor key' }).click()
  const dialog = page.getByRole('dialog', { name: 'Add a vendor key' })
  await dialog.getByRole('combobox', { name: 'Vendor' }).click()
  await page.getByRole('option', { name: 'Sandbox' }).click()
  await dialog.getByLabel('Key', { exact: true }).fill('a key of my own')
  await dialog.getByRole('button', { name: 'Save' }).click()
  const disable = page.getByRole('button', { name: 'Disable the key with Sandbox' })
  await disable.waitFor()
  await visit.context.setOffline(true)
  await disable.click()
  await page.getByRole('listitem').getByText('The gateway cannot be reached').waitFor()
  await visit.context.setOffline(false)
  await disable.click()
  await page.getByRole('button', { name: 'Enable the key with Sandbox' }).waitFor()
  expect(await page.content()).not.toContain('a key of my own')
  await page.getByRole('button', { name: 'Remove the key with Sandbox' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  await page.getByText('None yet.').waitFor()
  const ann = await signInAs(site.baseUrl, CUSTOMER)
  expect(await ann.ask('GET', 'user/user/account')).toMatchObject({ fallback_model: 'gpt-5' })
  expect(visit.faults.filter((fault) => !fault.includes('ERR_INTERNET_DISCONNECTED'))).toEqual([])
  await visit.close()
})

test('alerts are set, and a test of them arrives by mail and webhook', async () => {
  const visit = await site.visit('/settings?tab=alerts', { as: CUSTOMER })
  const { page } = visit
  await page.getByRole('button', { name: 'Send a test' }).click()
  await page.getByText('There is nowhere to send it.').waitFor()
  await page.getByRole('textbox', { name: 'Credits fall below' }).fill('1000')
  await page.getByRole('switch', { name: 'Alert by mail' }).check({ force: true })
  const { port } = receiver.address() as AddressInfo
  await page.getByRole('textbox', { name: 'Webhook' }).fill(`http://127.0.0.1:${port}/hook`)
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Signed with').waitFor()
  await page.getByRole('button', { name: 'Send a test' }).click()
  await page.getByText('2 deliveries are on their way.').waitFor()
  // A round of deliveries goes out every few seconds.
  await page.getByRole('row', { name: /Test .*Mail: sent, Webhook: sent/ }).waitFor()
  expect(received).toHaveLength(1)
  expect(visit.faults).toEqual([])
  await visit.close()
})

test('verification is asked for with a document, which can be read back, and taken back', async () => {
  const visit = await site.visit('/settings?tab=verification', { as: CUSTOMER })
  const { page } = visit
  await page.getByRole('button', { name: 'Send' }).click()
  await page.getByText('This is required.').first().waitFor()
  await page.getByLabel('Full name, as on the document').fill('Ann Lindqvist')
  await page.getByLabel('Number of the document').fill('AB 12345')
  await page.locator('input[type="file"]').setInputFiles({
    name: 'passport.pdf',
    mimeType: 'application/pdf',
    buffer: Buffer.from('%PDF-1.4\n%a paper\n'),
  })
  await page.getByRole('button', { name: 'Send' }).click()
  await page.getByText('under review').waitFor()
  const saving = page.waitForEvent('download')
  await page.getByRole('button', { name: /passport\.pdf/ }).click()
  expect((await saving).suggestedFilename()).toBe('passport.pdf')
  await page.getByRole('button', { name: 'Withdraw' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Withdraw' }).click()
  await page.getByText('withdrawn').waitFor()
  expect(visit.faults).toEqual([])
  await visit.close()
})

expectOpenToEverybody(() => site, {
  'the profile': { path: '/settings' },
  'the ways in': { path: '/settings?tab=security' },
  'what is set for calls': { path: '/settings?tab=calls' },
  'the alerts': { path: '/settings?tab=alerts' },
  'the verification': { path: '/settings?tab=verification' },
})
