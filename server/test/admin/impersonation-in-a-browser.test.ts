/** An admin impersonates a customer in a browser, and is themselves again afterwards. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AdminGateway, openAdminGateway } from '../gateway/admin-gateway.ts'
import { get } from '../gateway/client.ts'
import { type Customer, openCustomer } from '../gateway/customer.ts'

let admin: AdminGateway
let customer: Customer

beforeAll(async () => {
  admin = await openAdminGateway()
  customer = await openCustomer(admin.gateway, { balanceYuan: 10 })
})
afterAll(() => admin.close())

/** What a browser keeps of the cookies it is told. */
class Cookies {
  readonly #kept = new Map<string, string>()
  constructor(session: string) {
    this.#kept.set('sluice_session', session)
  }
  get header(): string {
    return [...this.#kept].map(([name, value]) => `${name}=${value}`).join('; ')
  }
  take(response: Response): void {
    for (const line of response.headers.getSetCookie()) {
      expect(line).toMatch(/HttpOnly.*SameSite=Lax/)
      const [pair = ''] = line.split(';')
      const [name = '', value = ''] = pair.split('=')
      if (/Max-Age=0/.test(line)) this.#kept.delete(name)
      else this.#kept.set(name, value)
    }
  }
}

const tokenOf = (headers: Readonly<Record<string, string>>): string =>
  (headers['authorization'] ?? '').replace('Bearer ', '')

const send = async (path: string, headers: Record<string, string>, body: object = {}): Promise<Response> => {
  const response = await fetch(`${admin.gateway.baseUrl}/api/v1${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: admin.gateway.baseUrl, ...headers },
    body: JSON.stringify(body),
  })
  expect(response.status).toBeLessThan(300)
  return response
}

const whoIs = async (cookie: string) => {
  const { body } = await get(`${admin.gateway.baseUrl}/api/v1/user/user/account`, { cookie })
  return body.data as { readonly id: string; readonly impersonation: { readonly ends_at: string } | null }
}

const look = (headers: Record<string, string>) =>
  send(`/admin/accounts/${customer.id}/impersonate`, headers, { reason: 'ticket 9' })

test('the browser is the customer’s until the impersonation ends, and the admin’s again then', async () => {
  const cookies = new Cookies(tokenOf(admin.headers))
  cookies.take(await look({ cookie: cookies.header }))
  const seen = await whoIs(cookies.header)
  expect(seen.id).toBe(customer.id)
  expect(seen.impersonation?.ends_at).toMatch(/^\d{4}-/)
  cookies.take(await send('/user/user/sign-out', { cookie: cookies.header }))
  expect(await whoIs(cookies.header)).toMatchObject({ id: admin.adminId, impersonation: null })
  expect(cookies.header).not.toContain('sluice_operator')
})

test('nobody becomes another one than the admin who looks', async () => {
  const cookies = new Cookies(tokenOf(admin.headers))
  cookies.take(await look({ cookie: cookies.header }))
  const [own = ''] = cookies.header.split('; ').filter((pair) => pair.startsWith('sluice_session='))
  const other = await admin.gateway.newAdmin()
  const planted = `${own}; sluice_operator=${tokenOf(other.headers)}`
  cookies.take(await send('/user/user/sign-out', { cookie: planted }))
  expect(cookies.header).toBe('')
})

test('a program that looks keeps its tokens itself', async () => {
  expect((await look(admin.headers)).headers.getSetCookie()).toEqual([])
})

const looksOf = async (headers: Record<string, string>): Promise<Record<string, string>> => {
  const { data } = (await (await look(headers)).json()) as { readonly data: { readonly token: string } }
  return { authorization: `Bearer ${data.token}` }
}

const isIn = async (headers: Record<string, string>): Promise<boolean> =>
  (await get(`${admin.gateway.baseUrl}/api/v1/user/user/account`, headers)).status === 200

type Leave = (headers: Record<string, string>) => Promise<Response>

const signOut: Leave = (headers) => send('/user/user/sign-out', headers)

const setPassword: Leave = async (headers) => {
  const response = await fetch(`${admin.gateway.baseUrl}/api/v1/user/user/password`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ password: 'correct horse battery staple' }),
  })
  expect(response.status).toBe(200)
  return response
}

test.each([
  ['signs out of the session it was opened from', signOut],
  ['sets another password', setPassword],
])('a look ends when its admin %s, and no other look does', async (_what, leave) => {
  const other = await admin.gateway.newAdmin()
  const theirs = await looksOf(other.headers)
  const mine = await looksOf(admin.headers)
  expect([await isIn(theirs), await isIn(mine)]).toEqual([true, true])
  await leave({ ...other.headers })
  expect([await isIn(theirs), await isIn(mine)]).toEqual([false, true])
})
