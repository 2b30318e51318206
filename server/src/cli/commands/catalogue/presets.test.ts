/** A vendor whose key is set after the first start: the doctor mentions it, one command adds it, nothing is overwritten. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { environmentVendors } from '../../../providers/catalogue/index.ts'
import { type CommandLine, openCommandLine } from '../../../../test/cli/command-line.ts'

let line: CommandLine
beforeEach(async () => {
  line = await openCommandLine()
})
afterEach(() => line.remove())

const KEY = { DEEPSEEK_API_KEY: 'sk-of-the-vendor' }
const begin = (settings = '') => line.sluice(['apply', '-f', '-'], { input: `vendors: []\n${settings}` })

test('the doctor offers what the environment holds, and a command adds it once', async () => {
  await begin()
  for (const flags of [[], ['--no-credentials']]) {
    const offered = await line.sluice(['doctor', '--json', ...flags], { environment: KEY, now: Date.now })
    expect(JSON.parse(offered.out)).toContainEqual(
      expect.objectContaining({ check: 'vendors', state: 'warning', fix: 'sluice vendors add deepseek' }),
    )
  }
  const added = await line.sluice(['vendors', 'add', 'deepseek'], { environment: KEY })
  expect(added).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^DeepSeek.*: \d+ models and \d+ chains added\n/),
  })
  const { out: file } = await line.sluice(['export'])
  expect(file).toContain('code: deepseek')
  expect(file).not.toContain('sk-of-the-vendor')
  const again = await line.sluice(['vendors', 'add', 'deepseek'], { environment: KEY })
  expect(again.out).toMatch(/has all of DeepSeek.* already/)
})

test('what is there stays as it is, and only what is missing is added', async () => {
  await line.sluice(['apply', '-f', '-'], {
    input: `
vendors: [{code: deepseek, kind: deepseek, credentials: [{name: mine, secret: my-own}]}]
models: [{model_id: deepseek-flash, name: Mine, pricing: {input_price: 7, output_price: 9}, chains: [{vendor: deepseek, protocol: chat}]}]
`,
  })
  await line.sluice(['vendors', 'add', 'deepseek'], { environment: KEY })
  const { out } = await line.sluice(['export', '--json'])
  expect(JSON.parse(out)).toMatchObject({
    vendors: [{ code: 'deepseek', credentials: [{ name: 'mine' }] }],
    models: expect.arrayContaining([
      expect.objectContaining({ model_id: 'deepseek-flash', name: 'Mine' }),
      expect.objectContaining({
        model_id: 'deepseek-v4-pro',
        chains: expect.arrayContaining([expect.objectContaining({ vendor: 'deepseek', credential: 'mine' })]),
      }),
    ]),
  })
})

test('without its key or by an unknown name it says what to change', async () => {
  await begin()
  expect(await line.sluice(['vendors', 'add', 'deepseek'])).toMatchObject({
    code: 3,
    err: expect.stringContaining('DEEPSEEK_API_KEY is not set'),
  })
  expect(await line.sluice(['vendors', 'add', 'nobody'])).toMatchObject({
    code: 3,
    err: expect.stringContaining('sluice models presets'),
  })
})

test('whatever the platform’s own currency is, list prices are added as the vendor publishes them', async () => {
  await begin('settings: {currency: USD}')
  await line.sluice(['vendors', 'add', 'deepseek'], { environment: KEY })
  await line.sluice(['vendors', 'add', 'openai'], { environment: { OPENAI_API_KEY: 'sk-openai' } })
  const { out } = await line.sluice(['export', '--json'])
  const { models, settings } = JSON.parse(out) as {
    settings: object
    models: readonly { model_id: string; pricing: { currency: string; output_price: number | null } }[]
  }
  expect(settings).toMatchObject({ currency: 'USD', currencies: { CNY: 1000, USD: 7200 } })
  const presets = environmentVendors.filter(({ code }) => code === 'deepseek' || code === 'openai')
  const listed = presets.toReversed().flatMap((vendor) => vendor.models)
  expect(models.map(({ model_id: id, pricing }) => [id, pricing.currency, pricing.output_price])).toEqual(
    listed.map(({ modelId, price }) => [
      modelId,
      price.currency,
      'output' in price ? Number(price.output) : null,
    ]),
  )
  const { out: told } = await line.sluice(['doctor', '--json'], { now: Date.now })
  expect(JSON.parse(told)).toContainEqual(
    expect.objectContaining({
      check: 'currencies',
      found: expect.stringMatching(/^models priced in USD: \d+, at 7200 Credits for one USD$/),
    }),
  )
})

test('an account is made with a key that is shown once; a second one under its address is refused', async () => {
  await begin()
  const made = await line.sluice([
    'accounts',
    'create',
    'new@example.com',
    '--key',
    'laptop',
    '--credits',
    '5',
  ])
  expect(made).toMatchObject({ code: 0, out: expect.stringMatching(/^acc_\S+\nsk-gateway-\S+\n$/) })
  expect((await line.sluice(['accounts', 'list'])).out).toMatch(/new@example\.com .* 5 /)
  expect(await line.sluice(['accounts', 'create', 'new@example.com'])).toMatchObject({
    code: 3,
    err: expect.stringContaining('email'),
  })
  expect(await line.sluice(['accounts', 'create', '@'])).toMatchObject({ code: 3 })
})
