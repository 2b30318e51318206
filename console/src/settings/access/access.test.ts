/** Other services one may sign in through, and what is asked for again in a session that has lasted. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import {
  type IdentityProvider,
  openIdentityProvider,
} from '../../../../server/test/identity/identity-provider.ts'
import { signInAs } from '../../../test/api.ts'
import { ADMIN, CUSTOMER } from '../../../test/gateway.ts'
import { JOURNEY_MS, openSite, type Visit } from '../../../test/visit.ts'

vi.setConfig({ testTimeout: JOURNEY_MS })

const SECURITY = '/settings?tab=security'
/** Longer than a session counts as one that has just begun. */
const OLD_MS = 16 * 60_000

let provider: IdentityProvider
let environment: Readonly<Record<string, string>>
beforeAll(async () => {
  provider = await openIdentityProvider()
  const client = `${encodeURIComponent(provider.clientId)}:${encodeURIComponent(provider.clientSecret)}`
  environment = {
    SLUICE_SIGN_IN: `oidc+http://${client}@${new URL(provider.url).host}?name=corp&label=Example`,
  }
})
afterAll(() => provider.close())

/** The way to the service's own page is wanted. */
const faultsOf = ({ faults }: Visit): readonly string[] =>
  faults.filter((fault) => !fault.startsWith(`foreign request: ${provider.url}/authorize`))

test('a service is linked and unlinked, and one that belongs to another account is not', async () => {
  const site = await openSite({ environment })
  provider.visitor = { sub: 'ann', name: 'Ann over there' }
  const visit = await site.visit(SECURITY, { as: CUSTOMER })
  const { page } = visit
  await page.getByRole('button', { name: 'Link Example' }).click()
  const unlink = page.getByRole('button', { name: 'Unlink Example' })
  await unlink.waitFor()
  await page.getByText('Ann over there').waitFor()
  expect(await visit.barriers()).toEqual([])

  const other = await site.visit(SECURITY, { as: ADMIN })
  await other.page.getByRole('button', { name: 'Link Example' }).click()
  await other.page.getByText('This identity belongs to another account here.').waitFor()
  expect(faultsOf(other)).toEqual([])
  await other.close()

  await unlink.click()
  await page.getByRole('dialog', { name: 'Unlink Example' }).getByRole('button', { name: 'Remove' }).click()
  await page.getByRole('button', { name: 'Link Example' }).waitFor()
  const ann = await signInAs(site.baseUrl, CUSTOMER)
  expect(await ann.ask('GET', 'user/user/linked-services')).toEqual([])
  expect(faultsOf(visit)).toEqual([])
  await visit.close()
  await site.close()
})

test('in an old session the person is asked for again, and goes on where they were', async () => {
  const site = await openSite({ environment, sessionAgeMs: OLD_MS })
  const visit = await site.visit(SECURITY, { as: CUSTOMER })
  const { page } = visit
  await page.getByRole('button', { name: 'Set up an app' }).click()
  const again = page.getByRole('dialog', { name: 'Please confirm that it is you' })
  await again.getByRole('textbox', { name: 'E-mail or phone' }).fill(CUSTOMER.email)
  await again.getByLabel('Password', { exact: true }).fill('not this one')
  await again.getByRole('button', { name: 'Sign in', exact: true }).click()
  await again.getByText('The account and the password or code do not match.').waitFor()
  await again.getByLabel('Password', { exact: true }).fill(CUSTOMER.password)
  expect(await visit.barriers()).toEqual([])
  await again.getByRole('button', { name: 'Sign in', exact: true }).click()
  await again.waitFor({ state: 'detached' })
  await page
    .getByRole('dialog', { name: 'Set up an app' })
    .getByRole('img', { name: 'QR code of the secret' })
    .waitFor()
  expect(visit.faults).toEqual([])
  await visit.close()
  await site.close()
})

test('who does not want to sign in again leaves it, and nothing has changed', async () => {
  const site = await openSite({ environment, sessionAgeMs: OLD_MS })
  const visit = await site.visit(SECURITY, { as: CUSTOMER })
  const { page } = visit
  await page.getByRole('button', { name: 'Link Example' }).click()
  const again = page.getByRole('dialog', { name: 'Please confirm that it is you' })
  await again.getByRole('button', { name: 'Close' }).click()
  await again.waitFor({ state: 'detached' })
  await page.getByText('This needs a session that has just begun. Sign in again.').waitFor()
  expect(visit.faults).toEqual([])
  await visit.close()
  await site.close()
})
