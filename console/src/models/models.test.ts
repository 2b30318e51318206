/** The catalogue: what a person may call, at what price, and whether it answers. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { callModel, signInAs } from '../../test/api.ts'
import { expectOpenToEverybody } from '../../test/everybody.ts'
import { CUSTOMER, gatewayFile } from '../../test/gateway.ts'
import { JOURNEY_MS, openSite, type Site } from '../../test/visit.ts'
import { copiedText } from '../../test/windows.ts'

vi.setConfig({ testTimeout: JOURNEY_MS })

let site: Site

beforeAll(async () => {
  const file = gatewayFile()
  site = await openSite({
    file: {
      ...file,
      models: file.models.map((model) =>
        model.model_id === 'glm-5' ? { ...model, required_verification: 2, required_plan: 1 } : model,
      ),
      accounts: file.accounts.map((account) =>
        account.email === CUSTOMER.email ? { ...account, user_rate: 90, subscription: null } : account,
      ),
    },
  })
})

afterAll(() => site.close())

test('models are found, shown at the person’s own price, and what is missing is said', async () => {
  const visit = await site.visit('/models', { as: CUSTOMER })
  const { page } = visit
  const row = (name: string) => page.getByRole('row', { name: new RegExp(name) })
  await row('glm-5').getByText('needs enterprise verification').waitFor()
  await row('glm-5').getByText('needs the plan PLUS or a higher one').waitFor()
  await row('gpt-5').getByText('Open to you').waitFor()
  await row('gpt-5').getByText('Answers').waitFor()
  // 9 and 72 yuan at 90 %.
  await row('gpt-5').getByText('¥8.1', { exact: true }).waitFor()
  await row('gpt-5').getByText('¥64.8', { exact: true }).waitFor()
  await row('kling-v3').getByText('¥0.72', { exact: true }).waitFor()
  await row('kling-v3').getByText('a second of video').waitFor()
  await page.getByRole('columnheader', { name: /Output per 1 M tokens/ }).waitFor()
  await page.getByRole('switch', { name: 'Open to me' }).check({ force: true })
  await row('glm-5').waitFor({ state: 'detached' })
  await page.getByRole('textbox', { name: 'Find a model' }).fill('opus')
  await row('gpt-5').waitFor({ state: 'detached' })
  expect(new URL(page.url()).searchParams.get('find')).toBe('opus')
  await row('opus').getByRole('button', { name: 'Copy claude-opus-4.8' }).click()
  await page.getByRole('button', { name: 'Copied' }).waitFor()
  expect(await copiedText(page)).toBe('claude-opus-4.8')
  await page.getByRole('textbox', { name: 'Find a model' }).fill('nothing of that name')
  await page.getByRole('button', { name: 'Clear the filters' }).click()
  await row('glm-5').waitFor()
  expect(visit.faults).toEqual([])
  await visit.close()
})

test('models are compared side by side, and one is read whole', async () => {
  const visit = await site.visit('/models', { as: CUSTOMER })
  const { page } = visit
  await page.getByRole('checkbox', { name: 'Compare gpt-5' }).check()
  await page.getByRole('checkbox', { name: 'Compare kling-v3' }).check()
  const table = page.getByRole('table', { name: 'Side by side' })
  await table.getByRole('row', { name: /Video ?a second of video – ¥0.72/ }).waitFor()
  await page.getByRole('button', { name: 'Clear' }).click()
  await table.waitFor({ state: 'detached' })
  await page.getByText('GPT-5', { exact: true }).click()
  const sheet = page.getByRole('dialog', { name: 'GPT-5' })
  await sheet.getByText('200,000').waitFor()
  await sheet.getByText(/your rate/).waitFor()
  await sheet.getByRole('region', { name: 'curl' }).getByText('gpt-5').waitFor()
  expect(await sheet.getByRole('link', { name: 'Choose a plan' }).count()).toBe(0)
  await sheet.getByRole('button', { name: 'Close' }).click()
  await page.getByText('GLM-5', { exact: true }).click()
  const closed = page.getByRole('dialog', { name: 'GLM-5' })
  await closed.getByRole('link', { name: 'Request verification' }).waitFor()
  await closed.getByRole('link', { name: 'Choose a plan' }).click()
  await page.getByRole('dialog', { name: 'Plans' }).waitFor()
  expect(visit.faults).toEqual([])
  await visit.close()
})

test('by keyboard: pages, models, keys and calls are found by what one types', async () => {
  const ann = await signInAs(site.baseUrl, CUSTOMER)
  const { key } = await ann.ask<{ key: string }>('POST', 'user/user/keys', { name: 'night-batch' })
  await callModel(site.baseUrl, {
    key,
    body: { model: 'gpt-5', messages: [{ role: 'user', content: 'Hi' }] },
  })
  const [call] = await ann.ask<readonly { request_id: string }[]>('GET', 'user/user/logs')
  const visit = await site.visit('/', { as: CUSTOMER })
  const { page } = visit
  const find = async (text: string, name: string | RegExp): Promise<void> => {
    await page.keyboard.press('/')
    const field = page.getByRole('textbox', { name: 'Search pages, keys, models, call ids' })
    await field.fill(text)
    await page.getByRole('button', { name }).waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await field.waitFor({ state: 'detached' })
  }
  await find('night', /night-batch/)
  await page.getByRole('dialog', { name: 'Edit “night-batch”' }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await find('opus', /Claude Opus/)
  await page.getByRole('dialog', { name: 'Claude Opus 4.8' }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await find(call?.request_id ?? '', new RegExp(call?.request_id ?? ''))
  await page.getByRole('dialog').waitFor()
  expect(new URL(page.url()).searchParams.get('call')).toBe(call?.request_id)
  expect(visit.faults).toEqual([])
  await visit.close()
})

expectOpenToEverybody(() => site, {
  'the models': { path: '/models' },
  'a comparison': { path: '/models?compare=gpt-5,kling-v3' },
  'one model': { path: '/models?model=glm-5', prepare: (page) => page.getByRole('dialog').waitFor() },
})
