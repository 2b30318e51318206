/** Vendors that the gateway knows by itself: shown with their list prices, and added without overwriting anything. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AdminGateway, openAdminGateway } from '../gateway/admin-gateway.ts'
import type { Answer } from '../gateway/client.ts'

let admin: AdminGateway
beforeAll(async () => {
  admin = await openAdminGateway({ environment: { MISTRAL_API_KEY: 'sk-of-the-environment' } })
})
afterAll(() => admin.close())

type Fields = Readonly<Record<string, unknown>>
interface Preset extends Fields {
  readonly models: readonly Fields[]
}
const presetsOf = (answer: Answer) => answer.body.data as readonly Preset[]
const presetOf = (answer: Answer) => answer.body.data as Preset
const faultsOf = ({ body }: Answer) =>
  (body.error as { readonly details?: { readonly fields: readonly Fields[] } }).details?.fields

async function secretOf(vendor: string): Promise<string | undefined> {
  const { credentials } = await admin.gateway.storage.catalogue.read()
  return [...credentials.values()].find(({ vendorCode }) => vendorCode === vendor)?.secret.secret?.unwrap()
}

test('every preset is listed with its list prices, and says whether its key is there', async () => {
  const listed = presetsOf(await admin.get('/presets'))
  expect(listed.map(({ code, has_key }) => [code, has_key])).toEqual(
    expect.arrayContaining([
      ['openai', false],
      ['mistral', true],
      ['sandbox', true],
    ]),
  )
  const one = presetOf(await admin.get('/presets/deepseek'))
  expect(one).toMatchObject({ code: 'deepseek', variable: 'DEEPSEEK_API_KEY', in_catalogue: false })
  expect(listed).toContainEqual(one)
  expect(one.models[0]).toMatchObject({
    in_catalogue: false,
    price: { currency: expect.any(String), source: expect.stringContaining('http'), video_second: null },
  })
  expect((await admin.get('/presets/nobody')).body.code).toBe(40403)
})

test('chosen models are added with the vendor and a key, and the rest later, once', async () => {
  const { models } = presetOf(await admin.get('/presets/deepseek'))
  const [first, ...others] = models.map(({ model_id }) => String(model_id))
  const added = await admin.post('/presets/deepseek/add', { models: [first], key: 'sk-deep' })
  expect(added.body.data).toMatchObject({ vendor: true, credential: true, models: [first] })
  expect(added.text).not.toContain('sk-deep')
  expect(await secretOf('deepseek')).toBe('sk-deep')
  const after = presetOf(await admin.get('/presets/deepseek'))
  expect(after.models.filter(({ in_catalogue }) => in_catalogue === true)).toHaveLength(1)
  const rest = await admin.post('/presets/deepseek/add')
  expect(rest.body.data).toMatchObject({ vendor: false, credential: false, models: others })
  const again = await admin.post('/presets/deepseek/add')
  expect(again.body.data).toEqual({ vendor: false, credential: false, models: [], chains: 0 })
  const [entry] = (await admin.get('/audit?limit=1')).body.data as readonly Fields[]
  expect(entry).toMatchObject({ action: 'vendor.add-preset', subject: 'deepseek' })
  expect(JSON.stringify(entry)).not.toContain('sk-deep')
})

test('the key of the environment is taken where the request brings none', async () => {
  expect((await admin.post('/presets/mistral/add')).status).toBe(200)
  expect(await secretOf('mistral')).toBe('sk-of-the-environment')
})

test.each([
  ['a key that is nowhere', 'openai', {}, 'key', 'OPENAI_API_KEY'],
  [
    'a key for a vendor that has one',
    'mistral',
    { key: 'sk-other' },
    'key',
    'already has the credential main',
  ],
  ['a key for a vendor that needs none', 'sandbox', { key: 'sk-other' }, 'key', 'needs none'],
  ['a model of another vendor', 'sandbox', { models: ['gpt-nothing'] }, 'models[0]', 'gpt-nothing'],
])('%s is refused with its path', async (_what, vendor, body, path, words) => {
  const refused = await admin.post(`/presets/${vendor}/add`, body)
  expect(refused.status).toBe(400)
  expect(faultsOf(refused)).toMatchObject([{ path, message: expect.stringContaining(words) }])
})
