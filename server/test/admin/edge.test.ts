/** What every management route does before its own work, and what the API says of itself. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type AdminGateway, openAdminGateway } from '../gateway/admin-gateway.ts'
import { type Answer, get, postJson, sendRaw } from '../gateway/client.ts'
import { StorageUnavailable } from '../../src/storage/failures/unavailable.ts'

let admin: AdminGateway

beforeAll(async () => {
  admin = await openAdminGateway()
})

afterAll(() => admin.close())

const MIB = 1_048_576
const url = (path: string) => admin.gateway.baseUrl + path
const pathsOf = (answer: Answer): readonly string[] =>
  ((answer.body.error as unknown as { details: { fields: { path: string }[] } }).details.fields ?? []).map(
    ({ path }) => path,
  )

describe('a request body', () => {
  test('over its bound is refused unread, 413/41301', async () => {
    const answer = await sendRaw(url('/api/v1/admin/vendors'), {
      headers: {
        ...admin.headers,
        'content-type': 'application/json',
        'content-length': String(64 * MIB),
      },
      unfinished: true,
    })
    expect(answer.status).toBe(413)
    expect(answer.body.code).toBe(41301)
    expect(answer.headers.get('connection')).toBe('close')
  })

  test('nested deeper than any meaning is refused before it is parsed', async () => {
    const deep = `{"code":${'['.repeat(200_000)}${']'.repeat(200_000)}}`
    const answer = await admin.post('/vendors', deep)
    expect(answer.status).toBe(400)
    expect(answer.body.message).toContain('nested deeper than 32')
    const quoted = JSON.stringify({ code: '[['.repeat(50), kind: 'openai' })
    expect((await admin.post('/vendors', quoted)).body.message).not.toContain('nested')
  })

  test.each([
    ['no JSON', '{"code":'],
    ['a prototype', '{"code":"x","kind":"openai","__proto__":{"status":"disabled"}}'],
    ['a list', '[]'],
    ['nothing', ''],
  ])('that is %s is 400/40000', async (_what, body) => {
    const answer = await admin.post('/vendors', body)
    expect(answer.status).toBe(400)
    expect(answer.body.code).toBe(40000)
  })

  test('all invalid paths are reported together, in the message and for programs', async () => {
    const answer = await admin.post('/models', { model_id: 5, client_visible: 'yes', extra: 1, also: 2 })
    expect(pathsOf(answer)).toEqual(['model_id', 'client_visible', 'extra', 'also'])
    expect(answer.body.message).toContain('model_id must be text')
    expect(answer.body.message).toContain('extra is an unknown field')
  })

  test('where none is wanted is refused, an empty one is not', async () => {
    const path = `/accounts/${admin.gateway.accountId}/activate`
    expect((await admin.post(path, { status: 'suspended' })).status).toBe(400)
    expect((await admin.post(path, {})).status).toBe(200)
  })

  test('a body made of mistakes is not answered with a bigger one', async () => {
    const fields = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`field_${index}`, 1]))
    const answer = await admin.post('/vendors', fields)
    expect(answer.status).toBe(400)
    expect(pathsOf(answer)).toHaveLength(100)
    expect(answer.body.message).toContain('more')
    expect(answer.text.length).toBeLessThan(30_000)
  })
})

describe('an error', () => {
  test('never shows the inside of the gateway', async () => {
    const { prices } = admin.gateway.running.pipeline.storage
    const { list } = prices
    Object.assign(prices, { list: () => Promise.reject(new Error('secret inside at /srv/app.ts:1:1')) })
    const answer = await admin.get('/price-changes')
    Object.assign(prices, { list: () => Promise.reject(new StorageUnavailable('gone')) })
    const unavailable = await admin.get('/price-changes')
    Object.assign(prices, { list })
    expect(answer.status).toBe(500)
    expect(answer.body.code).toBe(50000)
    expect(answer.text).not.toContain('secret inside')
    expect(answer.text).not.toContain('.ts')
    expect(unavailable.body.code).toBe(50301)
    expect((await admin.get('/price-changes')).status).toBe(200)
  })

  test('comes before the body is looked at when it is nobody who asks', async () => {
    const answer = await postJson(url('/api/v1/admin/vendors'), { colour: 'red' })
    expect(answer.status).toBe(401)
    expect(answer.body.code).toBe(40001)
  })

  test('says so of a cursor that no page gave', async () => {
    const answer = await admin.get('/logs?cursor=unreadable')
    expect(answer.status).toBe(400)
    expect(answer.body.code).toBe(40000)
  })
})

describe('the reference', () => {
  test('the document is OpenAPI 3.1, covers calls and routes, and is 304 while unchanged', async () => {
    const answer = await get(url('/openapi.json'))
    expect(answer.body['openapi']).toBe('3.1.0')
    const paths = Object.keys(answer.body['paths'] as object)
    for (const path of [
      '/v1/chat/completions',
      '/v1/responses',
      '/v1/messages',
      '/v1beta/models/{model}:generateContent',
      '/v1/videos/{video_id}/content',
      '/api/v1/user/user/pricing',
      '/api/v1/admin/accounts/{id}/grants',
    ]) {
      expect(paths).toContain(path)
    }
    const again = await get(url('/openapi.json'), { 'if-none-match': answer.headers.get('etag') ?? '' })
    expect(again.status).toBe(304)
  })

  test.each([
    ['/docs', '/v1/chat/completions'],
    ['/docs/operate', '/api/v1/admin/chains/{id}/reset'],
  ])('the page %s needs nothing from elsewhere and runs its own search alone', async (path, shown) => {
    const answer = await get(url(path))
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toContain('text/html')
    const policy = answer.headers.get('content-security-policy') ?? ''
    expect(policy).toContain("default-src 'none'")
    expect(policy).toMatch(/script-src 'sha256-[A-Za-z0-9+/=]+'(;|$)/)
    expect(answer.text.match(/<script/g)).toHaveLength(1)
    expect(answer.text).not.toMatch(/src=|https?:\/\//)
    expect(answer.text).toContain(shown)
  })

  test('neither is served at the gateway address', async () => {
    expect((await get(`${admin.gateway.gatewayUrl}/openapi.json`)).status).toBe(404)
    expect((await get(`${admin.gateway.gatewayUrl}/api/v1/admin/settings`, admin.headers)).status).toBe(404)
  })
})
