/** The gateway file over HTTP: what `sluice apply` does, looked at before it is done. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type AdminGateway, openAdminGateway } from '../gateway/admin-gateway.ts'
import type { Answer } from '../gateway/client.ts'

interface Review {
  readonly mode: string
  readonly review: string
  readonly differences: readonly { readonly what: string; readonly name: string; readonly action: string }[]
  readonly new_keys: readonly { readonly account: string; readonly name: string; readonly key: string }[]
}

let admin: AdminGateway
beforeAll(async () => {
  admin = await openAdminGateway()
})
afterAll(() => admin.close())

const send = (body: object): Promise<Answer> => admin.post('/gateway-file', body)
const reviewOf = async (body: object): Promise<Review> => {
  const answer = await send(body)
  expect(answer.status, answer.text).toBe(200)
  return answer.body.data as Review
}
const groups = async (): Promise<unknown> => (await admin.get('/groups')).body.data

const VENDOR = { code: 'acme', kind: 'sandbox', credentials: [{ name: 'main', secret: 'sk-upstream-9' }] }
const FILE = JSON.stringify({
  vendors: [VENDOR],
  models: [
    {
      model_id: 'plain',
      pricing: { input_price: 1, output_price: 2 },
      chains: [{ vendor: 'acme', protocol: 'chat', forward_model_id: 'sandbox-chat' }],
    },
  ],
  groups: [{ name: 'team', protocol: 'chat', models: ['plain'] }],
  accounts: [{ email: 'bo@example.com', password: 'a long password of bo', keys: [{ name: 'laptop' }] }],
})

describe('a gateway file that is sent', () => {
  test('changes nothing while it is looked at, and shows no secret', async () => {
    const answer = await send({ file: FILE })
    expect(answer.body.data).toMatchObject({
      mode: 'dry-run',
      differences: [
        { action: 'create', what: 'vendor', name: 'acme' },
        { action: 'create', what: 'credential', name: 'acme / main' },
        { action: 'create', what: 'model', name: 'plain' },
        { action: 'create', what: 'chain' },
        { action: 'create', what: 'group', name: 'team' },
        { action: 'create', what: 'account', name: 'bo@example.com' },
        { action: 'create', what: 'key' },
      ],
      new_keys: [],
    })
    for (const secret of ['sk-upstream-9', 'a long password of bo']) expect(answer.text).not.toContain(secret)
    expect(await groups()).toEqual([])
  })

  test('is applied as it was looked at, with its keys shown once, and holds at once', async () => {
    const { review } = await reviewOf({ file: FILE })
    const applied = await reviewOf({ file: FILE, review })
    expect(applied).toMatchObject({
      mode: 'applied',
      new_keys: [{ account: 'bo@example.com', name: 'laptop' }],
    })
    expect((await admin.call('plain', applied.new_keys[0]?.key)).body.code).toBe(40202)
    expect(await groups()).toMatchObject([{ name: 'team', protocol: 'chat', models: ['plain'] }])
    const entries = (await admin.get('/audit?action=file.apply')).text
    expect(entries).toContain('vendor acme')
    expect(entries).not.toContain('sk-upstream-9')
    expect(await reviewOf({ file: FILE })).toMatchObject({ differences: [] })
  })

  test.each([
    ['the file is another one', { file: JSON.stringify({ groups: [{ name: 'team', models: [] }] }) }],
    ['what it leaves out is to go', { missing: 'prune' }],
    ['something changed meanwhile', {}],
  ])('is refused when %s than was looked at', async (_, other) => {
    const file = JSON.stringify({ groups: [{ name: 'team', protocol: 'messages', models: ['plain'] }] })
    const { review } = await reviewOf({ file })
    const before = { protocol: 'responses' }
    if (Object.keys(other).length === 0) await admin.patch('/groups/team', before)
    const kept = await groups()
    expect((await send({ file, review, ...other })).body.code).toBe(40900)
    expect(await groups()).toEqual(kept)
  })

  test('reports every error with its place, and what would be switched off', async () => {
    const file = 'settings:\n  timezone: Nowhere\ngroups:\n  - {name: team, models: 5}\n'
    const answer = await send({ file })
    expect(answer.status).toBe(400)
    expect(answer.text).toContain('file:2:13 settings.timezone')
    expect(answer.text).toContain('file:4:')
    const pruned = await reviewOf({ file: '{"groups": []}', missing: 'prune' })
    expect(pruned.differences).toMatchObject([{ action: 'remove', what: 'group', name: 'team' }])
  })

  test('reads nothing of the environment of the process', async () => {
    const file = 'vendors: [{code: spy, kind: sandbox, name: "${PATH}"}]'
    const answer = await send({ file })
    expect(answer.status).toBe(400)
    expect(answer.text).toContain('PATH')
    expect(answer.text).not.toContain(process.env['PATH'])
  })
})
