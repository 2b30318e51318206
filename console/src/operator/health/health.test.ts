/** How the gateway is, for whoever runs it: what goes through, what is in trouble, what waits, and what to do. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { callModel, signInAs } from '../../../test/api.ts'
import { expectOpenToEverybody } from '../../../test/everybody.ts'
import { ADMIN, CUSTOMER, gatewayFile } from '../../../test/gateway.ts'
import { JOURNEY_MS, openSite, PATIENCE_MS, type Site } from '../../../test/visit.ts'

vi.setConfig({ testTimeout: JOURNEY_MS })

let site: Site

/** Nobody listens there. */
const DEAF = 'http://127.0.0.1:9/v1'

beforeAll(async () => {
  const file = gatewayFile()
  const chain = { vendor: 'northern', credential: 'first', protocol: 'chat', forward_model_id: 'n-1' }
  site = await openSite({
    file: {
      ...file,
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
      models: [
        ...file.models,
        { model_id: 'northern-1', pricing: { input_price: 1, output_price: 2 }, chains: [chain] },
      ],
    },
  })
  const ann = await signInAs(site.baseUrl, CUSTOMER)
  const { key } = await ann.ask<{ key: string }>('POST', 'user/user/keys', { name: 'laptop' })
  for (const [model, status] of [
    ['gpt-5', 200],
    ['northern-1', 502],
    ['northern-1', 502],
  ] as const) {
    const body = { model, messages: [{ role: 'user', content: 'Hello' }] }
    expect(await callModel(site.baseUrl, { key, body })).toBe(status)
  }
  await vi.waitFor(async () => expect(await ann.ask('GET', 'user/user/logs')).toHaveLength(3), PATIENCE_MS)
})

afterAll(() => site.close())

test('what goes through now, what is in trouble and what waits are seen at a look, each one click away', async () => {
  const visit = await site.visit('/operate/health', { as: ADMIN })
  const { page } = visit
  await page.getByText('2 failed within 1 min').waitFor()
  await page.getByText('66.7').waitFor()
  const instances = page.getByRole('table', { name: 'Instances' })
  await instances.getByText('Running').waitFor()
  await page.getByText('It failed too often').waitFor()
  await page
    .getByText(/ECONNREFUSED|refused|connect/)
    .first()
    .waitFor()
  const findings = page.getByRole('table', { name: 'Checks' })
  await findings.getByRole('row', { name: /Mail/ }).getByText('OK', { exact: true }).waitFor()
  await findings
    .getByRole('row', { name: /Phone messages/ })
    .getByText('SLUICE_SMS_URL')
    .waitFor()
  await page.getByRole('button', { name: 'Reset' }).click()
  await page.getByText('It failed too often').waitFor({ state: 'detached' })
  await page.getByRole('link', { name: /impossible usage/ }).click()
  await page.getByText('No matching calls').waitFor()
  expect(visit.faults).toEqual([])
  await visit.close()
})

test('what it stands on is told in the language of the page, with the way to where it is mended', async () => {
  const visit = await site.visit('/operate/health', { as: ADMIN, language: 'zh-CN' })
  const findings = visit.page.getByRole('table', { name: '运行环境' })
  await findings.getByRole('row', { name: /短信 未配置 如需手机号登录，请设置 SLUICE_SMS_URL/ }).waitFor()
  await findings.getByRole('row', { name: /货币 以 CNY 定价的模型：8 个；1 CNY = 1000 Credits/ }).waitFor()
  const words = await findings.locator('tbody').textContent()
  expect(words).not.toMatch(/configured|cannot|priced|written|None/)
  await findings
    .getByRole('link', { name: /“始终向供应商请求”/ })
    .first()
    .click()
  await visit.page.getByRole('heading', { name: 'claude-opus-4.8' }).waitFor()
  expect(visit.faults).toEqual([])
  await visit.close()
})

expectOpenToEverybody(() => site, {
  'the health of the gateway': { path: '/operate/health', operator: true },
})
