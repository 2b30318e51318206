/** Names that people choose are words and nothing else: none runs, none reverses what stands beside it, none pushes a page apart. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { callModel, type Person, signInAs } from './api.ts'
import { expectFits } from './everybody.ts'
import { ADMIN, CUSTOMER, gatewayFile } from './gateway.ts'
import { JOURNEY_MS, openSite, type Site, type Visit } from './visit.ts'

vi.setConfig({ testTimeout: JOURNEY_MS })

const MARKUP = '<img src=x onerror="window.hurt=1"><b>bold</b> {{name}} $t(copy)'
const REVERSED = 'before \u202egnp.drows\u202c \u05e9\u05dc\u05d5\u05dd after'
const LONG = 'W'.repeat(100)
const FACES = '👩‍👩‍👧‍👦🏴‍☠️'.repeat(5)
const NAMES = [MARKUP, REVERSED, LONG, FACES]
/** Others read it in mails, where the gateway lets no mark reverse anything. */
const ORGANISATION_NAMES = [MARKUP, '\u05e9\u05dc\u05d5\u05dd (Acme) 1', LONG, FACES]
const BOB = { email: 'bob@example.com', password: 'a long password of bob' }

let site: Site
/** Ids by the name of the organisation. */
const organisations = new Map<string, string>()

beforeAll(async () => {
  const file = gatewayFile()
  const [first, ...others] = file.models
  site = await openSite({
    file: {
      ...file,
      models: [
        { ...first, name: MARKUP },
        ...others.slice(0, 3).map((model, index) => ({ ...model, name: NAMES[index + 1] })),
        ...others.slice(3),
      ],
      accounts: [...file.accounts, BOB],
    },
  })
  const ann = await signInAs(site.baseUrl, CUSTOMER)
  const bob = await signInAs(site.baseUrl, BOB)
  const operator = await signInAs(site.baseUrl, ADMIN)
  await ann.ask('PATCH', 'user/user/account', { name: MARKUP })
  await bob.ask('PATCH', 'user/user/account', { name: LONG })
  await operator.ask('POST', 'admin/announcements', { title: LONG, body: MARKUP, level: 'warning' })
  for (const name of NAMES) {
    const { key } = await ann.ask<{ key: string }>('POST', 'user/user/keys', { name })
    await callModel(site.baseUrl, {
      key,
      body: {
        model: 'claude-opus-4.8',
        user: name,
        messages: [{ role: 'user', content: 'Which region was slowest? '.repeat(50) }],
      },
    })
  }
  for (const name of ORGANISATION_NAMES) organisations.set(name, await foundAs(ann, bob, name))
})

afterAll(() => site.close())

/** An organisation of Ann’s, with Bob in it; resolves to its id. */
async function foundAs(ann: Person, bob: Person, name: string): Promise<string> {
  const { id } = await ann.ask<{ id: string }>('POST', 'user/user/organisations', { name })
  await ann.ask('POST', `user/user/organisations/${id}/invitations`, { email: BOB.email })
  const [, token = ''] = /#invitation=(\S+)/.exec((await site.mailbox.next(BOB.email)).text ?? '') ?? []
  await bob.ask('POST', 'user/user/organisations/invitations/accept', { token })
  return id
}

const orgOf = (name: string): string => organisations.get(name) ?? ''

interface Place {
  readonly path: () => string
  /** What has to be there as it was written. */
  readonly shows: readonly string[]
  readonly prepare?: (page: Page) => Promise<unknown>
}

const PLACES: Readonly<Record<string, Place>> = {
  'the overview': { path: () => '/', shows: [...NAMES] },
  'the keys': { path: () => '/keys', shows: NAMES },
  'the form of a key': {
    path: () => '/keys',
    shows: [MARKUP],
    prepare: (page) => page.getByRole('row').filter({ hasText: MARKUP }).getByText(MARKUP).click(),
  },
  'the question before a key is deleted': {
    path: () => '/keys',
    shows: [MARKUP],
    prepare: async (page) => {
      await page.getByRole('row').filter({ hasText: MARKUP }).getByRole('button').last().click()
      await page.getByRole('menuitem', { name: 'Delete' }).click()
    },
  },
  'the calls': { path: () => '/calls', shows: NAMES },
  'one call': {
    path: () => '/calls',
    shows: [MARKUP],
    prepare: (page) => page.getByRole('row').filter({ hasText: MARKUP }).click(),
  },
  'the usage by key': { path: () => '/usage?by=key', shows: NAMES },
  'the usage by member': {
    path: () => `/usage?by=member&org=${orgOf(MARKUP)}`,
    shows: [MARKUP],
  },
  'the models': { path: () => '/models', shows: NAMES },
  'one model': { path: () => '/models?model=claude-opus-4.8', shows: [MARKUP] },
  'models side by side': { path: () => '/models?compare=claude-opus-4.8,claude-sonnet-4.6', shows: [MARKUP] },
  'the playground': { path: () => '/playground?model=claude-sonnet-4.6', shows: [MARKUP] },
  'the wallet': { path: () => '/wallet', shows: [MARKUP] },
  'one’s organisations': { path: () => '/organisation', shows: ORGANISATION_NAMES },
  'an organisation': { path: () => `/organisation?org=${orgOf(MARKUP)}`, shows: [MARKUP, LONG] },
  'a member of it': {
    path: () => `/organisation?org=${orgOf(LONG)}`,
    shows: [LONG],
    prepare: (page) => page.getByRole('row').filter({ hasText: BOB.email }).getByText(BOB.email).click(),
  },
  'one’s settings': { path: () => '/settings', shows: [MARKUP] },
  'what the search finds': {
    path: () => '/wallet',
    shows: [MARKUP],
    prepare: async (page) => {
      await page.keyboard.press('Control+k')
      await page.getByRole('dialog').getByRole('textbox').fill('<img')
      await page.getByRole('dialog').getByText('sk-').first().waitFor()
    },
  },
}

test('a question names what it is about letter by letter, also where a name looks like a mark of its sentence', async () => {
  const visit = await site.visit('/keys', { as: CUSTOMER })
  const { page } = visit
  await page.getByRole('row').filter({ hasText: MARKUP }).getByRole('button').last().click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  const named = page.getByRole('dialog').locator('b')
  await named.waitFor()
  expect((await named.innerText()).replaceAll('\u2060', '')).toBe(MARKUP)
  await visit.close()
})

describe.each(['phone', 'wide'] as const)('on a %s screen names are words', (size) => {
  test.each(Object.entries(PLACES))('of %s', async (_, { path, shows, prepare }) => {
    const visit = await site.visit(path(), { as: CUSTOMER, size })
    await prepare?.(visit.page)
    await visit.rest()
    await expectHarmless(visit, shows)
    await visit.close()
  })
})

async function expectHarmless({ page, faults }: Visit, shows: readonly string[]): Promise<void> {
  // A name may stand in a field, or in a place that this size does not show: it is in the page as it was written.
  const written = `document.documentElement.textContent + [...document.querySelectorAll('input')].map((field) => field.value)`
  for (const name of shows) await expect.poll(() => page.evaluate<string>(written)).toContain(name)
  expect(await page.evaluate('window.hurt')).toBeUndefined()
  expect(await page.locator('img[src="x"]').count()).toBe(0)
  await expectFits(page)
  expect(faults).toEqual([])
}
