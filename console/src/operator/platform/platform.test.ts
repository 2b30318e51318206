/** What holds for everybody: settings, groups and the whole gateway file, each with what it changes before it does. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type Person, signInAs } from '../../../test/api.ts'
import { expectOpenToEverybody } from '../../../test/everybody.ts'
import { ADMIN, CUSTOMER } from '../../../test/gateway.ts'
import { JOURNEY_MS, openSite, PATIENCE_MS, type Site } from '../../../test/visit.ts'

vi.setConfig({ testTimeout: JOURNEY_MS })

let site: Site
let admin: Person
beforeAll(async () => {
  site = await openSite()
  admin = await signInAs(site.baseUrl, ADMIN)
})
afterAll(() => site.close())

test('settings are changed after a look at what will be another, refused beside their field, and remembered', async () => {
  const visit = await site.visit('/operate/settings', { as: ADMIN })
  const { page } = visit
  await page.getByText('Nothing yet.').waitFor()
  await page.getByRole('button', { name: 'Add currency' }).click()
  await page.getByRole('textbox', { name: 'Currency' }).last().fill('EUR')
  await page.getByLabel('Credits for 1 EUR').fill('0')
  await page.getByLabel('Keys begin with').fill('sk-team-')
  await page.getByRole('row', { name: /Keys begin with sk-gateway-→sk-team-/ }).waitFor()
  await page.getByRole('row', { name: /Credits for 1 EUR –→0/ }).waitFor()
  expect(await visit.barriers()).toEqual([])
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('must be above 0').waitFor()
  await page.getByLabel('Credits for 1 EUR').fill('7800')
  await page.getByLabel('At once').fill('20')
  await page
    .getByRole('row', { name: /Limits of keys/ })
    .getByText('20 at once')
    .waitFor()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Nothing yet.').waitFor()
  await page.getByRole('row', { name: /settings.change/ }).waitFor()
  expect(await admin.ask('GET', 'admin/settings')).toMatchObject({
    key_prefix: 'sk-team-',
    currencies: { CNY: 1000, USD: 7200, EUR: 7800 },
    limits: { concurrency: 20 },
  })
  expect(visit.faults).toEqual([])
  await visit.close()
})

test('a group is added, changed with a preview, and removed by name', async () => {
  const visit = await site.visit('/operate/settings?tab=groups', { as: ADMIN })
  const { page } = visit
  await page
    .getByRole('row', { name: /claude-code/ })
    .getByText('messages')
    .waitFor()
  await page.getByRole('button', { name: 'Add group' }).click()
  const add = page.getByRole('dialog', { name: 'Add group' })
  await add.getByRole('button', { name: 'Save' }).click()
  await add.getByText('Give the group a name.').waitFor()
  await add.getByText('Choose at least one model.').waitFor()
  await add.getByLabel('Name', { exact: true }).fill('writers')
  await add.getByRole('combobox', { name: 'Models' }).click()
  await page.getByRole('option', { name: 'glm-5' }).click()
  await page.keyboard.press('Tab')
  await add.getByRole('button', { name: 'Save' }).click()
  const row = page.getByRole('row', { name: /writers/ })
  await row.waitFor()
  const ann = await signInAs(site.baseUrl, CUSTOMER)
  await ann.ask('POST', 'user/user/keys', { name: 'essays', group: 'writers' })
  await row.getByText('glm-5').click()
  const edit = page.getByRole('dialog', { name: 'Group writers' })
  await edit.getByRole('row', { name: /group.create/ }).waitFor()
  await edit
    .getByRole('row', { name: /essays/ })
    .getByRole('link', { name: CUSTOMER.email })
    .waitFor()
  await edit.getByRole('combobox', { name: 'Models' }).click()
  await page.getByRole('option', { name: 'gpt-5' }).click()
  await page.keyboard.press('Tab')
  await edit.getByRole('row', { name: /Models glm-5→glm-5, gpt-5/ }).waitFor()
  expect(await visit.barriers()).toEqual([])
  await edit.getByRole('button', { name: 'Save' }).click()
  await row.getByText('glm-5, gpt-5').click()
  await edit.getByRole('button', { name: 'Remove group' }).click()
  const ask = page.getByRole('dialog', { name: 'Remove this group?' })
  await ask.getByText('writers').waitFor()
  await ask.getByRole('button', { name: 'Remove group' }).click()
  await row.waitFor({ state: 'detached' })
  expect(visit.faults).toEqual([])
  await visit.close()
})

test('a gateway file is compared, refused with its places, applied as it was looked at, and shows its keys once', async () => {
  const visit = await site.visit('/operate/settings?tab=file', { as: ADMIN })
  const { page } = visit
  const text = page.getByLabel('Text of the file')
  await page.getByRole('button', { name: 'Read what is stored' }).click()
  await vi.waitFor(async () => expect(await text.inputValue()).toContain('claude-code'), PATIENCE_MS)
  await page.getByRole('button', { name: 'Compare' }).click()
  await page.getByText('Everything is as the file says.').waitFor()
  await text.fill('settings:\n  timezone: Nowhere\n  key_prefix: 5')
  await page.getByRole('button', { name: 'Compare' }).click()
  await page.getByText(/2:13 settings.timezone must be a time zone/).waitFor()
  const account = "{email: new@example.com, password: 'a long password of new', keys: [{name: desk}]}"
  await text.fill(
    `groups:\n  - {name: claude-code, protocol: messages, models: [gpt-5]}\naccounts: [${account}]`,
  )
  await page.getByRole('button', { name: 'Compare' }).click()
  await page.getByText('Create account').waitFor()
  await page.getByText('Change group').waitFor()
  // A new row is told by its name, and whole when somebody asks.
  await page.getByRole('row', { name: /email new@example.com/ }).waitFor({ state: 'hidden' })
  await page.getByText('Create account').click()
  await page.getByRole('row', { name: /email new@example.com/ }).waitFor()
  expect(await visit.barriers()).toEqual([])
  await page.getByRole('button', { name: 'Apply 3 changes' }).click()
  await page.getByText('3 changes were applied.').waitFor()
  await page.getByText('These keys are shown now').waitFor()
  await page.getByRole('button', { name: 'Copy key' }).waitFor()
  expect(await admin.ask('GET', 'admin/groups/claude-code')).toMatchObject({ models: ['gpt-5'] })
  expect(visit.faults).toEqual([])
  await visit.close()
})

test('in Chinese, what is wrong with a file is said in Chinese, with the place and what may have been meant', async () => {
  const visit = await site.visit('/operate/settings?tab=file', { as: ADMIN, language: 'zh-CN' })
  const { page } = visit
  await page.getByLabel('文件内容').fill('settings:\n  timezone: Asia/Shanghia\n  key_prefix: 5\nplan: []')
  await page.getByRole('button', { name: '对比' }).click()
  const said = page.getByText(
    '2:13 settings.timezone：必须是时区，例如 Asia/Shanghai；是否是 Asia/Shanghai？',
  )
  await said.waitFor()
  await page.getByText('4:1 plan：是未知字段；是否是 plans？').waitFor()
  expect(visit.faults).toEqual([])
  await visit.close()
})

expectOpenToEverybody(() => site, {
  'the settings': { path: '/operate/settings', operator: true },
  'a group': {
    path: '/operate/settings?tab=groups&open=claude-code',
    operator: true,
    prepare: (page) => page.getByRole('dialog').waitFor(),
  },
  'the file': { path: '/operate/settings?tab=file', operator: true },
})
