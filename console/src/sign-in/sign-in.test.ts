/** Coming in: every way that is switched on, each to its end, with the error beside its field. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { eventually } from '../../../server/test/processes/launch.ts'
import { ADMIN, CUSTOMER, openGateway } from '../../test/gateway.ts'
import { JOURNEY_MS, openSite, type Site, type Visit } from '../../test/visit.ts'

vi.setConfig({ testTimeout: JOURNEY_MS })

let site: Site

beforeAll(async () => {
  site = await openSite()
})

afterAll(() => site.close())

/** The six digits of the next code sent there; other mails are passed over. */
async function codeFor(address: string): Promise<string> {
  for (;;) {
    const mail = await site.mailbox.next(address)
    const [code] = /\b\d{6}\b/.exec(mail.text ?? '') ?? []
    if (code !== undefined) return code
  }
}

async function expectOverview({ page, faults }: Visit): Promise<void> {
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  expect(new URL(page.url()).pathname).toMatch(/^\/console\/?$/)
  expect(faults).toEqual([])
}

test('somebody who is not signed in comes to the page for signing in, and from there to the page they wanted', async () => {
  const visit = await site.visit('/?period=30d')
  const { page } = visit
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  expect(visit.faults).toEqual([])
  await page.getByLabel('E-mail or phone').fill(CUSTOMER.email)
  await page.getByLabel('Password', { exact: true }).fill('not the password')
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  const field = page.getByLabel('Password', { exact: true })
  await page.getByText('The account and the password or code do not match').waitFor()
  expect(await field.getAttribute('aria-invalid')).toBe('true')
  await field.fill(CUSTOMER.password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await expectOverview(visit)
  expect(new URL(page.url()).search).toBe('?period=30d')
  await visit.close()
})

test.each([
  [
    'the page that was asked for, with its filters',
    '/console/keys?state=enabled',
    '/console/keys?state=enabled',
  ],
  ['no other site', 'https://evil.example/console/', '/console/'],
  ['no other site whose protocol is left out', '//evil.example/console/', '/console/'],
  ['no other site behind a path of ours', '/console/..//evil.example/', '/console/'],
  ['no other site behind a backslash', '/console/..\\\\evil.example/', '/console/'],
  ['no part of this site that is not the console', '/console/../v1/models', '/console/'],
  ['no script', 'javascript:window.hurt=1', '/console/'],
])('after signing in one comes to %s', async (_, next, address) => {
  const visit = await site.visit(`/sign-in?next=${encodeURIComponent(next)}`)
  const { page } = visit
  await page.getByLabel('E-mail or phone').fill(CUSTOMER.email)
  await page.getByLabel('Password', { exact: true }).fill(CUSTOMER.password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByRole('navigation').first().waitFor()
  expect(page.url()).toBe(`${site.baseUrl}${address}`)
  expect(await page.evaluate('window.hurt')).toBeUndefined()
  expect(visit.faults).toEqual([])
  await visit.close()
})

test('by keyboard alone, from an empty page to the overview and out again', async () => {
  const visit = await site.visit('/')
  const { page } = visit
  await page.getByLabel('E-mail or phone').focus()
  await page.keyboard.type(ADMIN.email)
  await page.keyboard.press('Tab')
  await page.keyboard.type(ADMIN.password)
  await page.keyboard.press('Enter')
  await expectOverview(visit)
  await page.keyboard.press('/')
  await page.getByRole('dialog').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Account', exact: true }).focus()
  await page.keyboard.press('Enter')
  await page.getByRole('menuitem', { name: 'Sign out' }).focus()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  const cookies = await visit.cookies.cookies()
  expect(cookies.filter(({ name }) => name === 'sluice_session')).toEqual([])
  await page.goBack()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  expect(await page.getByRole('navigation').count()).toBe(0)
  await visit.close()
})

test('registers with a code by mail', async () => {
  const visit = await site.visit('/register')
  const { page } = visit
  const address = 'new@example.com'
  await page.getByRole('button', { name: 'Send code' }).click()
  await page.getByText('Enter an e-mail address').waitFor()
  await page.getByLabel(/E-mail/).fill(address)
  await page.getByRole('button', { name: 'Send code' }).click()
  await page.getByText('An address that has an account already gets none.').waitFor()
  const code = await codeFor(address)
  await page.getByLabel('New password', { exact: true }).fill('short')
  await page.getByLabel('Code', { exact: true }).fill('000000')
  await page.getByRole('button', { name: 'Create account' }).click()
  await page.getByText('Use at least 8 characters').waitFor()
  await page.getByLabel('New password', { exact: true }).fill('a password of mine')
  await page.getByRole('button', { name: 'Create account' }).click()
  await page.getByText('This code is not right').waitFor()
  await page.getByLabel('Code', { exact: true }).fill(code)
  await page.getByRole('button', { name: 'Create account' }).click()
  await expectOverview(visit)
  await visit.close()
})

test('resets a forgotten password and signs in with a code', async () => {
  const visit = await site.visit('/sign-in')
  const { page } = visit
  await page.getByRole('link', { name: 'Reset password' }).click()
  await page.getByRole('heading', { name: 'Reset your password' }).waitFor()
  await page.getByLabel(/E-mail/).fill(ADMIN.email)
  await page.getByRole('button', { name: 'Send code' }).click()
  await page.getByLabel('Code', { exact: true }).fill(await codeFor(ADMIN.email))
  await page.getByLabel('New password', { exact: true }).fill('another password')
  await page.getByRole('button', { name: 'Set the password' }).click()
  await expectOverview(visit)
  await visit.close()

  const again = await site.visit('/sign-in')
  await again.page.getByLabel(/E-mail/).fill(ADMIN.email)
  await again.page.getByRole('button', { name: 'Sign in with a code instead' }).click()
  expect(await again.page.getByLabel(/E-mail/).inputValue()).toBe(ADMIN.email)
  await again.page.getByRole('button', { name: 'Send code' }).click()
  await again.page.getByLabel('Code', { exact: true }).fill(await codeFor(ADMIN.email))
  await again.page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await expectOverview(again)
  await again.close()
})

test('a session that ends under an open page is begun anew over it', async () => {
  const visit = await site.visit('/', { as: CUSTOMER })
  const { page } = visit
  await expectOverview(visit)
  await visit.cookies.clearCookies()
  await page.getByText('30 days', { exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Your session has ended' })
  await dialog.getByLabel('E-mail or phone').fill(CUSTOMER.email)
  await dialog.getByLabel('Password', { exact: true }).fill(CUSTOMER.password)
  await dialog.getByRole('button', { name: 'Sign in', exact: true }).click()
  await dialog.waitFor({ state: 'hidden' })
  await expectOverview(visit)
  expect(new URL(page.url()).search).toBe('?period=30d')
  await visit.close()
})

test('the owner of a new gateway comes in by the link that its start printed, with a passkey', async () => {
  const { running, ...gateway } = await openGateway({ file: {} })
  const fresh = await openSite(gateway)
  try {
    const printed = (): string | undefined => /\/console(\/setup\?token=\S+)/.exec(running.errors())?.[1]
    await eventually('the link is printed', () => Promise.resolve(printed() !== undefined))
    const path = printed() ?? ''
    const visit = await fresh.visit(path)
    const { page } = visit
    expect(new URL(page.url()).search).toBe('')
    const debug = await visit.context.newCDPSession(page)
    await debug.send('WebAuthn.enable')
    await debug.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    })
    await page.getByRole('button', { name: 'Use a passkey' }).click()
    await page.getByText('These codes are shown only once').waitFor()
    expect(await page.getByRole('list', { name: 'Recovery codes' }).getByRole('listitem').count()).toBe(10)
    await page.getByRole('button', { name: 'I have saved them' }).click()
    await expectOverview(visit)
    await page.getByRole('button', { name: 'Account' }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByRole('button', { name: 'Continue with a passkey' }).click()
    await expectOverview(visit)
    await visit.close()

    const late = await fresh.visit(path)
    await late.page.getByLabel('New password', { exact: true }).fill('the first password')
    await late.page.getByRole('button', { name: 'Set the password' }).click()
    await late.page.getByText('This link has been used').waitFor()
    expect(await late.barriers()).toEqual([])
    await late.close()
  } finally {
    await fresh.close()
  }
})

describe.each(['en', 'zh-CN'] as const)('in %s', (language) => {
  test.each(['/sign-in', '/register', '/reset'])('nobody is kept out of %s, light or dark', async (path) => {
    const visit = await site.visit(path, { language })
    expect(await visit.page.evaluate('document.documentElement.lang')).toBe(language)
    expect(await visit.barriers()).toEqual([])
    await visit.look({ theme: 'dark' })
    expect(await visit.barriers()).toEqual([])
    expect(visit.faults).toEqual([])
    await visit.close()
  })
})
