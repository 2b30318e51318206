/** What holds for every management route: its methods, its pages, its answers when nothing changed. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type AdminHouse, openAdminHouse } from '../../test/house/admin-house.ts'
import { get, readAnswer } from '../../test/house/client.ts'
import { type Operation, operationsOf } from '../../test/house/operations.ts'

let admin: AdminHouse
let operations: readonly Operation[]

beforeAll(async () => {
  admin = await openAdminHouse()
  operations = await operationsOf(admin.house)
})
afterAll(() => admin.close())

const at = (path: string) => admin.house.baseUrl + path

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

describe('every list that comes in pages', () => {
  test.each(['acc_1', '0', '%20', 'AAAAAAAAAAAAAAAA'])('refuses the made-up cursor %s', async (cursor) => {
    const pages = operations.filter(({ parameters }) => parameters.some(({ name }) => name === 'cursor'))
    expect(pages.length).toBeGreaterThan(12)
    const wrong: string[] = []
    for (const { path, access, isCall } of pages) {
      if (isCall || access === 'organisation') continue
      const url = at(`${path.replace(/\{[^}]+\}/g, admin.house.accountId)}?cursor=${cursor}`)
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
    await admin.house.newAccount()
    const first = await admin.get('/accounts?limit=1')
    const cursor = String(first.body['next_cursor'])
    expect(cursor).not.toMatch(/^acc_/)
    const second = await admin.get(`/accounts?limit=1&cursor=${cursor}`)
    expect(second.status).toBe(200)
    expect(second.body.data).not.toEqual(first.body.data)
    expect((await admin.get(`/audit?cursor=${cursor}`)).status).toBe(400)
  })
})

describe('what consoles poll', () => {
  /** Answers that tell of the moment they are asked in. */
  const OF_THE_MOMENT = /\/(usage|limits|statistics|margin|statements)$/

  test('has an ETag everywhere, and an unchanged answer is an empty 304', async () => {
    const wrong: string[] = []
    let seen = 0
    for (const { method, path, access, isCall, answers } of operations) {
      const isOurs = method === 'GET' && !isCall && answers.get('200') !== undefined
      if (!isOurs || access === 'organisation' || access === 'key' || path.includes('{')) continue
      if (!path.startsWith('/api/v1/') || OF_THE_MOMENT.test(path)) continue
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
})
