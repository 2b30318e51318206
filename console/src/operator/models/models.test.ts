/** Models in the hands of an operator: offered, changed and withdrawn; their prices now, later and before; what is left. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { callModel, type Person, signInAs } from '../../../test/api.ts'
import { expectOpenToEverybody } from '../../../test/everybody.ts'
import { ADMIN, CUSTOMER } from '../../../test/gateway.ts'
import { JOURNEY_MS, openSite, type Site, textOf } from '../../../test/visit.ts'

vi.setConfig({ testTimeout: JOURNEY_MS })

let site: Site
let admin: Person

beforeAll(async () => {
  site = await openSite()
  admin = await signInAs(site.baseUrl, ADMIN)
  const chains = await admin.ask<readonly { id: number; model_id: string }[]>('GET', 'admin/chains')
  const chain = chains.find(({ model_id: id }) => id === 'gpt-5')
  await admin.ask('PATCH', `admin/chains/${chain?.id ?? ''}`, { cost: { input_price: 3, output_price: 24 } })
  await admin.ask('POST', 'admin/models', {
    model_id: 'reader',
    name: 'Reader',
    support_features: ['audio'],
    pricing: { billing_modes: ['character'], character_price: 100 },
  })
  const ann = await signInAs(site.baseUrl, CUSTOMER)
  await ann.ask('PATCH', 'user/user/account', { api_deduction: true })
  const { key } = await ann.ask<{ key: string }>('POST', 'user/user/keys', { name: 'laptop' })
  const body = { messages: [{ role: 'user', content: 'Say hello. '.repeat(4_000) }] }
  for (const model of ['gpt-5', 'glm-5'])
    expect(await callModel(site.baseUrl, { key, body: { model, ...body } })).toBe(200)
  await vi.waitFor(async () => {
    expect((await admin.ask<{ calls: number }>('GET', 'admin/margin')).calls).toBe(2)
  }, 60_000)
})

afterAll(() => site.close())

test('a model’s prices are changed at once and later, and its history tells of both', async () => {
  const visit = await site.visit('/operate/models', { as: ADMIN })
  const { page } = visit
  const row = page.getByRole('row', { name: /gpt-5/ })
  await row.getByText('¥9 / ¥72').waitFor()
  await row.getByText('1 call').waitFor()
  await page
    .getByRole('row', { name: /reader/ })
    .getByText('¥100 a million characters')
    .waitFor()
  await page.getByRole('row', { name: /glm-5/ }).getByText('cost unknown').waitFor()
  await row.getByText('GPT-5', { exact: true }).click()
  const sheet = page.getByRole('dialog', { name: 'GPT-5' })
  await sheet.getByText('sandbox · sandbox-chat').waitFor()
  await sheet.getByRole('button', { name: 'Change prices' }).click()
  const form = page.getByRole('dialog', { name: 'Prices of GPT-5' })
  await form.getByText('Nothing yet.').waitFor()
  await form.getByLabel('Input, per million', { exact: true }).fill('10.5')
  await form.getByRole('row', { name: /Input, per million 9→10.5/ }).waitFor()
  expect(await visit.barriers()).toEqual([])
  await form.getByRole('button', { name: 'Change prices' }).click()
  await form.waitFor({ state: 'detached' })
  await row.getByText('¥10.5 / ¥72').waitFor()
  await sheet.getByText(/by owner@example.com/).waitFor()

  await sheet.getByRole('button', { name: 'Change prices' }).click()
  await form.getByLabel('Output, per million', { exact: true }).fill('80')
  await form.getByText('From a moment on').click()
  await form.getByRole('button', { name: 'Plan the change' }).click()
  await form.getByText('Enter a time.').waitFor()
  await form.getByLabel('From', { exact: true }).fill('2040-07-01T12:00')
  await form.getByRole('button', { name: 'Plan the change' }).click()
  await form.waitFor({ state: 'detached' })
  await sheet.getByText('From 1 Jul 2040, 12:00:00').waitFor()
  const [planned] = await admin.ask<readonly { effective_at: string }[]>('GET', 'admin/price-changes')
  expect(planned?.effective_at).toBe('2040-07-01T10:00:00.000Z')
  await sheet.getByRole('button', { name: 'Cancel the change' }).click()
  await sheet.getByText('To come').waitFor({ state: 'detached' })
  await sheet.getByRole('button', { name: 'Close' }).click()
  await page.getByText('Price changes', { exact: true }).click()
  await page.getByRole('row', { name: /gpt-5/ }).getByText('Cancelled').waitFor()
  expect(visit.faults).toEqual([])
  await visit.close()
})

test('a model is added, edited, withdrawn and offered again', async () => {
  const visit = await site.visit('/operate/models', { as: ADMIN })
  const { page } = visit
  await page.getByRole('button', { name: 'Add model' }).click()
  const add = page.getByRole('dialog', { name: 'Add model' })
  await add.getByRole('button', { name: 'Add model' }).click()
  await add.getByText('Enter the id that callers write.').waitFor()
  await add.getByLabel('Model id').fill('northern-1')
  await add.getByLabel('Name', { exact: true }).fill('Northern 1')
  await add.getByLabel('Input, per million', { exact: true }).fill('0.25')
  await add.getByLabel('Output, per million', { exact: true }).fill('1')
  await add.getByRole('button', { name: 'Add a surcharge' }).click()
  await add.getByLabel('Field', { exact: true }).fill('service_tier.priority')
  await add.getByLabel('How much').fill('1.75')
  await add.getByRole('button', { name: 'Add model' }).click()
  const sheet = page.getByRole('dialog', { name: 'Northern 1' })
  await sheet.getByText('service_tier.priority × 1.75').waitFor()
  await sheet.getByText('It has no chains').waitFor()

  await sheet.getByRole('button', { name: 'Edit', exact: true }).click()
  const edit = page.getByRole('dialog', { name: 'Edit Northern 1' })
  await edit.getByRole('combobox', { name: 'Verification' }).click()
  await page.getByRole('option', { name: 'Enterprise verification' }).click()
  await edit.getByLabel('Plan of at least level').fill('2')
  await edit.getByRole('button', { name: 'Save' }).click()
  await edit.waitFor({ state: 'detached' })
  const row = page.getByRole('row', { name: /northern-1/ })
  await row.getByText('Enterprise verification, plan of level 2').waitFor()

  await sheet.getByRole('button', { name: 'Withdraw' }).click()
  const ask = page.getByRole('dialog', { name: 'Withdraw this model?' })
  await ask.getByRole('button', { name: 'Withdraw' }).click()
  await row.getByText('Withdrawn').waitFor()
  await sheet.getByRole('button', { name: 'Offer again' }).click()
  await row.getByText('Offered').waitFor()
  expect(visit.faults).toEqual([])
  await visit.close()
})

test('prices are taken over from a file after a look at what differs, and everything goes out as one', async () => {
  const visit = await site.visit('/operate/models', { as: ADMIN })
  const { page } = visit
  await page.getByRole('button', { name: 'Files' }).click()
  const waiting = page.waitForEvent('download')
  await page.getByRole('menuitem', { name: /YAML/ }).click()
  const file = await waiting
  expect(file.suggestedFilename()).toBe('gateway.yaml')
  const text = await textOf(file)
  expect(text).toContain('model_id: deepseek-v4')

  await page.getByRole('button', { name: 'Files' }).click()
  await page.getByRole('menuitem', { name: 'Import prices' }).click()
  const sheet = page.getByRole('dialog', { name: 'Import prices' })
  await sheet
    .getByLabel('Its text')
    .fill('models: [{model_id: nobody, pricing: {input_price: 1, output_price: 1}}]')
  await sheet.getByRole('button', { name: 'Compare' }).click()
  await sheet.getByText(/refers to an unknown model: nobody/).waitFor()
  await sheet.locator('input[type=file]').setInputFiles({
    name: 'gateway.yaml',
    mimeType: 'application/yaml',
    buffer: Buffer.from(text.replace(/(model_id: deepseek-v4[^]*?input_price: )2/, '$12.5')),
  })
  await sheet.getByRole('button', { name: 'Compare' }).click()
  await sheet.getByRole('row', { name: /Input, per million 2→2.5/ }).waitFor()
  expect(await visit.barriers()).toEqual([])
  await sheet.getByRole('button', { name: 'Take over 1 model' }).click()
  await sheet.getByText('The prices of 1 model are in force now.').waitFor()
  await sheet.getByRole('button', { name: 'Close' }).last().click()
  await page
    .getByRole('row', { name: /deepseek-v4/ })
    .getByText('¥2.5 / ¥8')
    .waitFor()
  expect(visit.faults).toEqual([])
  await visit.close()
})

test('models of a known vendor are added with the prices of its list', async () => {
  const visit = await site.visit('/operate/models?tab=presets', { as: ADMIN })
  const { page } = visit
  await page.getByRole('textbox', { name: /Find a vendor/ }).fill('anthropic')
  await page
    .getByRole('row', { name: /Anthropic/ })
    .first()
    .click()
  const sheet = page.getByRole('dialog', { name: 'Anthropic' })
  await sheet.getByRole('button', { name: /^Add 0/ }).click()
  await sheet.getByText('Choose at least one model.').waitFor()
  const all = sheet.getByRole('checkbox', { name: 'Choose all' })
  await all.check()
  const count = (await sheet.getByRole('checkbox').count()) - 1
  await sheet.getByRole('button', { name: `Add ${count} models` }).waitFor()
  await all.uncheck()
  await sheet.getByRole('checkbox').nth(1).check()
  await sheet.getByRole('button', { name: 'Add 1 model' }).click()
  await sheet.getByText(/is missing/).waitFor()
  await sheet.getByLabel('Key', { exact: true }).fill('sk-ant-1')
  await sheet.getByRole('button', { name: 'Add 1 model' }).click()
  await sheet.waitFor({ state: 'detached' })
  await page
    .getByRole('row', { name: /Anthropic/ })
    .getByText('Added', { exact: true })
    .waitFor()
  const vendors = await admin.ask<readonly { code: string; chains: number }[]>('GET', 'admin/vendors')
  expect(vendors.find(({ code }) => code === 'anthropic')?.chains).toBeGreaterThan(0)
  expect(visit.faults).toEqual([])
  await visit.close()
})

expectOpenToEverybody(() => site, {
  'a model beside the others': {
    path: '/operate/models?open=gpt-5',
    operator: true,
    prepare: (page) => page.getByRole('dialog').getByText('sandbox · sandbox-chat').waitFor(),
  },
  'a known vendor beside the others': {
    path: '/operate/models?tab=presets&open=anthropic',
    operator: true,
    prepare: (page) => page.getByRole('dialog').waitFor(),
  },
  'the form of one to be': {
    path: '/operate/models?open=%2Bnew',
    operator: true,
    prepare: (page) => page.getByRole('dialog').waitFor(),
  },
})
