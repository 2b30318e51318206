/** What calls used: by model, key, application and member, as a chart, a table and a file. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { callModel, type Person, signInAs } from '../../test/api.ts'
import { expectOpenToEverybody } from '../../test/everybody.ts'
import { ADMIN, CUSTOMER } from '../../test/gateway.ts'
import { JOURNEY_MS, openSite, type Site, textOf } from '../../test/visit.ts'

vi.setConfig({ testTimeout: JOURNEY_MS })

let site: Site
let ann: Person
let organisation: string

beforeAll(async () => {
  site = await openSite()
  ann = await signInAs(site.baseUrl, CUSTOMER)
  const makeKey = async (name: string, headers: Readonly<Record<string, string>> = {}) =>
    (await ann.ask<{ key: string }>('POST', 'user/user/keys', { name }, headers)).key
  const laptop = await makeKey('laptop')
  const runner = await makeKey('ci-runner')
  await call(laptop, 'claude-opus-4.8')
  await call(laptop, 'gpt-5')
  await call(runner, 'gpt-5')
  await call(runner, 'no-such-model')
  organisation = (await ann.ask<{ id: string }>('POST', 'user/user/organisations', { name: 'Acme' })).id
  await ann.ask(
    'POST',
    `user/user/organisations/${organisation}/fund`,
    { credits: 10_000 },
    { 'idempotency-key': 'once' },
  )
  const acting = { 'gw-organisation': organisation }
  await ann.ask('PATCH', 'user/user/account', { api_deduction: true }, acting)
  await call(await makeKey('shared', acting), 'gpt-5')
})

afterAll(() => site.close())

const call = (key: string, model: string) =>
  callModel(site.baseUrl, {
    key,
    body: { model, messages: [{ role: 'user', content: 'Which region was slowest? '.repeat(200) }] },
  })

test('usage is split by what one asks for, and leads to its calls', async () => {
  const visit = await site.visit('/usage', { as: CUSTOMER })
  const { page } = visit
  await page.getByRole('img', { name: 'Credits by Model, 30 days, as stacked bars' }).waitFor()
  const row = (name: RegExp) => page.getByRole('row', { name })
  await row(/gpt-5/).getByRole('cell').nth(2).getByText('2', { exact: true }).waitFor()
  await page.getByText('1 failed, 25 %').waitFor()

  await page.getByRole('radiogroup', { name: 'Measure' }).getByText('Calls').click()
  await page.getByRole('img', { name: /^Calls by Model/ }).waitFor()
  await page.getByRole('combobox', { name: 'Split by' }).click()
  await page.getByRole('option', { name: 'By key' }).click()
  await row(/laptop/)
    .getByRole('img', { name: '50 % of all' })
    .waitFor()
  await page.getByRole('combobox', { name: 'Period' }).click()
  await page.getByRole('option', { name: '7 days' }).click()
  await page.getByRole('combobox', { name: 'Step' }).click()
  await page.getByRole('option', { name: 'By hour' }).click()
  const { searchParams } = new URL(page.url())
  expect(Object.fromEntries(searchParams)).toEqual({
    measure: 'calls',
    by: 'key',
    period: '7d',
    interval: 'hour',
  })

  await row(/laptop/)
    .getByText('laptop')
    .click()
  await page.getByRole('heading', { name: 'Calls' }).waitFor()
  await page.getByRole('row', { name: /claude-opus-4.8/ }).waitFor()
  expect(new URL(page.url()).searchParams.get('period')).toBe('7d')
  expect(await page.getByRole('row', { name: /no-such-model/ }).count()).toBe(0)
  expect(visit.faults).toEqual([])
  await visit.close()
})

test('what the page shows is saved as a file', async () => {
  const visit = await site.visit('/usage?by=model', { as: CUSTOMER })
  const { page } = visit
  await page.getByRole('button', { name: 'Export' }).click()
  const saving = page.waitForEvent('download')
  await page.getByRole('menuitem', { name: /CSV/ }).click()
  const [head, ...lines] = (await textOf(await saving)).trimEnd().split('\r\n')
  expect(head).toMatch(/^at,model,/)
  expect(lines.filter((line) => line.includes(',gpt-5,'))).toHaveLength(1)
  expect(visit.faults).toEqual([])
  await visit.close()
})

test('who has used nothing is led further back, and then to the first call', async () => {
  const visit = await site.visit('/usage', { as: ADMIN })
  const { page } = visit
  await page.getByRole('button', { name: '90 days' }).click()
  await page.getByRole('link', { name: 'To the overview' }).click()
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  expect(visit.faults).toEqual([])
  await visit.close()
})

test('an organisation sees which member used what', async () => {
  const visit = await site.visit(`/usage?org=${organisation}&by=member`, { as: CUSTOMER })
  const { page } = visit
  await page.getByRole('row', { name: /the organisation’s own keys/ }).waitFor()
  expect(visit.faults).toEqual([])
  await visit.close()
})

expectOpenToEverybody(() => site, { 'the usage': { path: '/usage' } })
