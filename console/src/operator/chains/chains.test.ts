/** Chains in the hands of an operator: how each is and why, moved, tested, switched, edited, added. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { callModel, signInAs } from '../../../test/api.ts'
import { expectOpenToEverybody } from '../../../test/everybody.ts'
import { ADMIN, CUSTOMER, gatewayFile } from '../../../test/gateway.ts'
import { JOURNEY_MS, openSite, type Site } from '../../../test/visit.ts'

vi.setConfig({ testTimeout: JOURNEY_MS })

let site: Site

/** Nobody listens there. */
const DEAF = 'http://127.0.0.1:9/v1'
const CALLS = 8

beforeAll(async () => {
  const file = gatewayFile()
  site = await openSite({
    file: {
      ...file,
      settings: { currency: 'EUR', currencies: { EUR: 1_000 } },
      vendors: [
        ...file.vendors,
        {
          code: 'northern',
          name: 'Northern',
          kind: 'openai-compatible',
          base_url: DEAF,
          credentials: [{ name: 'first', secret: 'sk-northern' }],
        },
      ],
      models: file.models.map((model) =>
        model.model_id === 'gpt-5'
          ? {
              ...model,
              chains: [
                {
                  vendor: 'northern',
                  credential: 'first',
                  protocol: 'chat',
                  forward_model_id: 'gpt-5',
                  priority: 1,
                },
                ...model.chains.map((chain) => ({ ...chain, priority: 2 })),
              ],
            }
          : model,
      ),
    },
  })
  const ann = await signInAs(site.baseUrl, CUSTOMER)
  const { key } = await ann.ask<{ key: string }>('POST', 'user/user/keys', { name: 'laptop' })
  for (let call = 0; call < CALLS; call += 1) {
    const body = { model: 'gpt-5', messages: [{ role: 'user', content: 'Hello' }] }
    expect(await callModel(site.baseUrl, { key, body })).toBe(200)
  }
})

afterAll(() => site.close())

const chainsOf = (page: Page, model: string) => page.getByRole('table', { name: `Chains of ${model}` })
const rowOf = (page: Page, vendor: string) =>
  chainsOf(page, 'gpt-5').getByRole('row', { name: new RegExp(`^.*Priority.*${vendor}`) })

const act = async (page: Page, vendor: string, name: string): Promise<void> => {
  await rowOf(page, vendor).getByRole('button', { name: /^More/ }).click()
  await page.getByRole('menuitem', { name, exact: true }).click()
}

async function capabilitiesOf(vendor: string): Promise<unknown> {
  const admin = await signInAs(site.baseUrl, ADMIN)
  const chains = await admin.ask<readonly { vendor: string; priority: number; capabilities: unknown }[]>(
    'GET',
    'admin/chains',
  )
  return chains.find((chain) => chain.vendor === vendor && chain.priority < 9)?.capabilities
}

test('a chain that cools says until when and why, in the vendor’s words, and is reset', async () => {
  const visit = await site.visit('/operate/chains?model=gpt-5', { as: ADMIN })
  const { page } = visit
  await rowOf(page, 'northern')
    .getByText(/Cooling until/)
    .waitFor()
  await page.getByText('It failed too often').waitFor()
  await page
    .getByText(/ECONNREFUSED|refused|connect/)
    .first()
    .waitFor()
  await page.getByText('served by 1 of 2').waitFor()
  await rowOf(page, 'sandbox').getByText('100').first().waitFor()
  await page.getByRole('button', { name: 'Reset' }).click()
  await rowOf(page, 'northern')
    .getByText(/Cooling until/)
    .waitFor({ state: 'detached' })
  expect(visit.faults).toEqual([])
  await visit.close()
})

test('priorities are moved by keyboard and by the mouse', async () => {
  const visit = await site.visit('/operate/chains?model=gpt-5', { as: ADMIN })
  const { page } = visit
  const first = () => chainsOf(page, 'gpt-5').getByRole('row').nth(1)
  await first().getByText('northern · first').waitFor()
  await page.getByRole('button', { name: /Priority 2 of sandbox/ }).focus()
  await page.keyboard.press('ArrowUp')
  await first().getByText('sandbox · main').waitFor()
  await page.getByRole('button', { name: /Priority 1 of sandbox/ }).waitFor()
  const admin = await signInAs(site.baseUrl, ADMIN)
  const orderOf = async () => {
    const chains = await admin.ask<readonly { model_id: string; vendor: string; priority: number }[]>(
      'GET',
      'admin/chains',
    )
    const own = chains.filter(({ model_id: model }) => model === 'gpt-5')
    return own.sort((one, other) => one.priority - other.priority).map(({ vendor }) => vendor)
  }
  await vi.waitFor(async () => expect(await orderOf()).toEqual(['sandbox', 'northern']), 60_000)
  await page
    .getByRole('button', { name: /Priority \d of northern/ })
    .dragTo(page.getByRole('button', { name: /Priority 1 of sandbox/ }))
  await first().getByText('northern · first').waitFor()
  await vi.waitFor(async () => expect(await orderOf()).toEqual(['northern', 'sandbox']), 60_000)
  expect(visit.faults).toEqual([])
  await visit.close()
})

test('a chain is tested, drained, disabled and enabled', async () => {
  const visit = await site.visit('/operate/chains?model=gpt-5', { as: ADMIN })
  const { page } = visit
  await act(page, 'sandbox', 'Test')
  await page.getByText(/The test call was answered in/).waitFor()
  await act(page, 'northern', 'Test')
  await page.getByText('The test call failed.').waitFor()
  await act(page, 'northern', 'Drain')
  await page.getByRole('dialog').getByRole('button', { name: 'Drain' }).click()
  await rowOf(page, 'northern').getByText('Draining').waitFor()
  await act(page, 'northern', 'Disable')
  await page.getByRole('dialog').getByText('No call of gpt-5 goes over').waitFor()
  expect(await visit.barriers()).toEqual([])
  await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click()
  await rowOf(page, 'northern').getByText('Disabled').waitFor()
  await act(page, 'northern', 'Enable')
  await rowOf(page, 'northern').getByText('Disabled').waitFor({ state: 'detached' })
  expect(visit.faults).toEqual([])
  await visit.close()
})

test('all chains that calls may take are tested at once, and each row tells of its own', async () => {
  const visit = await site.visit('/operate/chains', { as: ADMIN })
  const { page } = visit
  await page.getByRole('button', { name: 'Test all' }).click()
  const ask = page.getByRole('dialog', { name: 'Test every chain?' })
  await ask.getByText('7 chains').waitFor()
  await ask.getByRole('button', { name: 'Test all' }).click()
  await page.getByText('7 of 7 tested, 6 answered').waitFor()
  expect(await page.getByText(/The test call was answered in/).count()).toBe(6)
  await page.getByText('The test call failed.').waitFor()
  expect(visit.faults).toEqual([])
  await visit.close()
})

test('a chain is edited, its costs in the gateway’s own currency at first, and another one added', async () => {
  const visit = await site.visit('/operate/chains?model=gpt-5', { as: ADMIN })
  const { page } = visit
  await act(page, 'northern', 'Edit')
  const edit = page.getByRole('dialog', { name: 'Edit northern for gpt-5' })
  await edit.getByLabel('Forwarded model id').fill('gpt-5-turbo')
  await edit.getByRole('switch', { name: /The vendor’s price/ }).check({ force: true })
  expect(await edit.getByLabel('Currency').inputValue()).toBe('EUR')
  await edit.getByLabel('Input, per million', { exact: true }).fill('7.25')
  await edit.getByLabel('Output, per million', { exact: true }).fill('60')
  await edit.getByRole('combobox', { name: 'Reasoning' }).click()
  await page.getByRole('option', { name: 'By effort' }).click()
  await edit.getByRole('combobox', { name: 'Tools' }).click()
  await page.getByRole('option', { name: 'Refused' }).click()
  await edit.getByLabel('Stop sequences').fill('4')
  await edit.getByRole('button', { name: 'Save' }).click()
  await edit.waitFor({ state: 'detached' })
  expect(await capabilitiesOf('northern')).toEqual({ reasoning: 'effort', tools: false, max_stop: 4 })
  await rowOf(page, 'northern').getByText('gpt-5-turbo').waitFor()
  await page.getByRole('button', { name: 'Add chain to gpt-5' }).click()
  const add = page.getByRole('dialog', { name: 'Add chain' })
  await add.getByRole('button', { name: 'Add chain' }).click()
  await add.getByText('Choose a vendor.').waitFor()
  await add.getByRole('combobox', { name: 'Vendor' }).click()
  await page.getByRole('option', { name: 'Northern' }).click()
  await add.getByRole('combobox', { name: 'Credential' }).click()
  await page.getByRole('option', { name: 'first' }).click()
  await add.getByLabel('Forwarded model id').fill('gpt-5-mini')
  await add.getByLabel('Priority').fill('9')
  await add.getByRole('button', { name: 'Add chain' }).click()
  await add.waitFor({ state: 'detached' })
  await chainsOf(page, 'gpt-5').getByText('gpt-5-mini').waitFor()
  await act(page, 'gpt-5-turbo', 'Edit')
  await edit.getByRole('combobox', { name: 'Tools' }).click()
  await page.getByRole('option', { name: 'Default' }).click()
  await edit.getByRole('button', { name: 'Save' }).click()
  await edit.waitFor({ state: 'detached' })
  expect(await capabilitiesOf('northern')).toEqual({ reasoning: 'effort', max_stop: 4 })
  expect(visit.faults).toEqual([])
  await visit.close()
})

expectOpenToEverybody(() => site, {
  'the chains': { path: '/operate/chains', operator: true },
  'the form of one': {
    path: '/operate/chains?open=new:gpt-5',
    operator: true,
    prepare: (page) => page.getByRole('dialog').waitFor(),
  },
})
