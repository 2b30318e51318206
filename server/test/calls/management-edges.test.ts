/** What holds for every management route: its methods, its pages, its answers when nothing changed. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type AdminGateway, openAdminGateway } from '../gateway/admin-gateway.ts'
import { get, postJson, readAnswer } from '../gateway/client.ts'
import { openGateway, putChain, putModel, putVendor } from '../gateway/gateway.ts'
import { type Operation, operationsOf } from '../gateway/operations.ts'

let admin: AdminGateway
let operations: readonly Operation[]

beforeAll(async () => {
  admin = await openAdminGateway()
  operations = await operationsOf(admin.gateway)
})
afterAll(() => admin.close())

const at = (path: string) => admin.gateway.baseUrl + path

describe('a path that is asked with another method', () => {
  test.each([
    ['DELETE', '/api/v1/user/user/account', 'GET, HEAD, PATCH'],
    ['PUT', '/api/v1/admin/accounts/acc_1', 'GET, HEAD, PATCH'],
    ['GET', '/api/v1/user/user/sign-in', 'POST'],
    ['POST', '/api/v1/user/user/logs?limit=1', 'GET, HEAD'],
  ])('%s %s is 405/40500 and told what it takes', async (method, path, allow) => {
    const answer = await readAnswer(await fetch(at(path), { method, headers: admin.headers }))
    expect([answer.status, answer.body.code]).toEqual([405, 40500])
    expect(answer.headers.get('allow')).toBe(allow)
  })

  test('a path that is none is 404/40400 with any method', async () => {
    for (const method of ['GET', 'POST', 'DELETE']) {
      const answer = await readAnswer(await fetch(at('/api/v1/user/user/nothing'), { method }))
      expect([answer.status, answer.body.code]).toEqual([404, 40400])
    }
  })
})

test('requests that come at once after a start wait for the routes and are all answered', async () => {
  const gateway = await openGateway()
  try {
    const { headers } = await gateway.signIn()
    const account = () => get(`${gateway.baseUrl}/api/v1/user/user/account`, headers)
    const signIn = () =>
      postJson(`${gateway.baseUrl}/api/v1/user/user/sign-in`, { email: 'no@example.com', password: 'none' })
    const answers = await Promise.all([account(), signIn(), account(), signIn(), account()])
    expect(answers.map(({ status }) => status)).toEqual([200, 401, 200, 401, 200])
  } finally {
    await gateway.close()
  }
})

describe('every list that comes in pages', () => {
  test.each(['acc_1', '0', '%20', 'AAAAAAAAAAAAAAAA'])('refuses the made-up cursor %s', async (cursor) => {
    const pages = operations.filter(({ parameters }) => parameters.some(({ name }) => name === 'cursor'))
    expect(pages.length).toBeGreaterThan(12)
    const wrong: string[] = []
    for (const { path, access, isCall } of pages) {
      if (isCall || access === 'organisation') continue
      const url = at(`${path.replace(/\{[^}]+\}/g, admin.gateway.accountId)}?cursor=${cursor}`)
      const answer = await get(url, admin.headers)
      const { details } = (answer.body.error ?? {}) as { readonly details?: { readonly fields?: unknown } }
      const fields = JSON.stringify(details?.fields ?? null)
      const refused = answer.status === 400 && fields.includes('"path":"cursor"')
      // A list below a thing that is not there is not looked for.
      if (!refused && answer.status !== 404) wrong.push(`${path}: ${answer.status} ${fields}`)
    }
    expect(wrong).toEqual([])
  })

  test('a cursor leads to the next page, and means nothing to another list', async () => {
    await admin.gateway.newAccount()
    const first = await admin.get('/accounts?limit=1')
    const cursor = String(first.body['next_cursor'])
    expect(cursor).not.toMatch(/^acc_/)
    const second = await admin.get(`/accounts?limit=1&cursor=${cursor}`)
    expect(second.status).toBe(200)
    expect(second.body.data).not.toEqual(first.body.data)
    expect((await admin.get(`/audit?cursor=${cursor}`)).status).toBe(400)
  })
})

/** They say when they were read, so no two are alike. */
const TELL_THEIR_TIME = ['/api/v1/admin/health', '/api/v1/admin/gateway-file']

describe('what consoles poll', () => {
  test('has an ETag everywhere, and an unchanged answer is an empty 304', async () => {
    const wrong: string[] = []
    let seen = 0
    for (const { method, path, access, isCall, answers } of operations) {
      const isOurs = method === 'GET' && !isCall && answers.get('200') !== undefined
      if (!isOurs || access === 'organisation' || access === 'key' || path.includes('{')) continue
      if (!path.startsWith('/api/v1/') || TELL_THEIR_TIME.includes(path)) continue
      const first = await get(at(path), admin.headers)
      if (first.status !== 200) continue
      seen += 1
      const etag = first.headers.get('etag')
      const again = await get(at(path), { ...admin.headers, 'if-none-match': etag ?? '' })
      if (etag === null || again.status !== 304 || again.text !== '') wrong.push(`${path}: ${again.status}`)
    }
    expect(wrong).toEqual([])
    expect(seen).toBeGreaterThan(25)
  })

  test('comes compressed when it is long, to those who take it', async () => {
    const long = at('/api/v1/admin/vendor-kinds')
    const plain = await get(long, { ...admin.headers, 'accept-encoding': 'identity' })
    const compressed = await get(long, { ...admin.headers, 'accept-encoding': 'gzip, deflate, br' })
    const short = await get(at('/api/v1/user/user/organisations'), { ...admin.headers })
    const encodings = [plain, compressed, short].map(({ headers }) => headers.get('content-encoding'))
    expect(encodings).toEqual([null, 'gzip', null])
    expect(compressed.text).toBe(plain.text)
    expect(compressed.headers.get('vary')).toBe('accept-encoding')
    expect(compressed.headers.get('etag')).toBe(`W/${String(plain.headers.get('etag'))}`)
  })
})

describe('the filters of the log', () => {
  const filtersOf = (path: string) =>
    (operations.find((one) => one.path === path && one.method === 'GET')?.parameters ?? [])
      .filter((one) => one.in === 'query')
      .map(({ name }) => name)
      .sort()

  test('are the same for a customer and an admin, who may also name the account and ask for usage that cannot be', () => {
    const own = filtersOf('/api/v1/user/user/logs')
    expect(own).toContain('cost_from')
    expect(filtersOf('/api/v1/admin/logs')).toEqual([...own, 'account_id', 'usage_suspect'].sort())
    const exported = filtersOf('/api/v1/user/user/logs/export')
    expect(filtersOf('/api/v1/admin/logs/export')).toEqual(
      [...exported, 'account_id', 'usage_suspect'].sort(),
    )
  })

  test('an admin finds calls by what they cost', async () => {
    const { gateway, upstream } = admin
    await gateway.catalogue(
      ...putVendor('acme', upstream.url),
      putModel('plain'),
      putChain({ model: 'plain', vendor: 'acme' }),
    )
    await admin.call('plain')
    const { deducted } = await gateway.lastLog()
    const cost = Number(deducted) / 1_000_000
    const found = async (query: string) => {
      const { data } = (await admin.get(`/logs?${query}`)).body
      return (data as readonly unknown[]).length
    }
    expect(cost).toBeGreaterThan(0)
    expect(await found(`cost_from=${cost}&cost_to=${cost}`)).toBe(1)
    expect(await found(`cost_from=${cost + 1}`)).toBe(0)
    expect((await admin.get('/logs?cost_from=-1')).status).toBe(400)
  })
})

describe('prices that will hold later', () => {
  test('two for one model at one moment are refused, at another moment they are not', async () => {
    await admin.gateway.catalogue(putModel('later'))
    const at = Date.now() + 3_600_000
    const plan = (effectiveAt: number) =>
      admin.post('/price-changes', {
        model_id: 'later',
        effective_at: new Date(effectiveAt).toISOString(),
        pricing: { billing_modes: ['token'], input_price: 1, output_price: 2 },
      })
    const first = await plan(at)
    expect(first.status).toBe(201)
    const second = await plan(at)
    expect([second.status, second.body.code]).toEqual([409, 40900])
    const { id } = first.body.data as { readonly id: string }
    expect(second.body.message).toContain(id)
    expect((await plan(at + 1_000)).status).toBe(201)
    const both = await Promise.all([plan(at + 2_000), plan(at + 2_000)])
    expect(both.map(({ status }) => status).sort((one, two) => one - two)).toEqual([201, 409])
  })
})
