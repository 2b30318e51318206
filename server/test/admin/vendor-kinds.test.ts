/** What each kind of vendor needs, as forms are made from it. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AdminGateway, openAdminGateway } from '../gateway/admin-gateway.ts'

let admin: AdminGateway
beforeAll(async () => {
  admin = await openAdminGateway()
})
afterAll(() => admin.close())

const kinds = async () => {
  const { body } = await admin.get('/vendor-kinds')
  return new Map((body.data as readonly { readonly kind: string }[]).map((kind) => [kind.kind, kind]))
}

test.each([
  ['openai', { base_url: 'https://api.openai.com/v1', secret: { need: 'needed', form: 'key' }, fields: [] }],
  ['openai-compatible', { base_url: null }],
  ['ollama', { secret: { need: 'optional', form: 'key' } }],
  ['sandbox', { secret: { need: 'none', form: 'key' }, fields: [] }],
  ['vertex', { secret: { need: 'needed', form: 'service-account' } }],
  [
    'bedrock',
    {
      secret: { need: 'optional', form: 'key' },
      fields: [
        { name: 'access_key', secret: true, optional: true },
        { name: 'secret_key', secret: true, optional: true },
        { name: 'session_token', secret: true, optional: true },
        { name: 'region', secret: false, optional: false },
      ],
    },
  ],
  [
    'jimeng',
    {
      secret: { need: 'none', form: 'key' },
      fields: [
        { name: 'access_key', secret: true, optional: false },
        { name: 'secret_key', secret: true, optional: false },
      ],
    },
  ],
])('%s says what its credentials hold', async (kind, told) => {
  expect((await kinds()).get(kind)).toMatchObject(told)
})
