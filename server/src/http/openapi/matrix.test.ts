/**
 * Who may ask what: every route there is × everybody there is. The rows are the routes themselves: one without a rule of
 * access does not compile (`RouteWords.access`), and one that is not defined with a rule stops the start (`api.ts`).
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type AdminHouse, openAdminHouse } from '../../../test/house/admin-house.ts'
import { readAnswer } from '../../../test/house/client.ts'
import { type Operation, operationsOf } from '../../../test/house/operations.ts'

type Caller = 'anonymous' | 'user' | 'impersonator' | 'key' | 'admin'

/** Rule of a route → who is let in; everybody else gets 401, or 403 where they said who they are. */
const LET_IN: Readonly<Record<string, readonly Caller[]>> = {
  anonymous: ['anonymous', 'user', 'impersonator', 'key', 'admin'],
  optional: ['anonymous', 'user', 'impersonator', 'key', 'admin'],
  account: ['user', 'impersonator', 'key', 'admin'],
  session: ['user', 'impersonator', 'admin'],
  key: ['key'],
  admin: ['admin'],
}
const CALLERS = ['anonymous', 'user', 'impersonator', 'key', 'admin'] as const

let admin: AdminHouse
let operations: readonly Operation[]

beforeAll(async () => {
  admin = await openAdminHouse()
  operations = await operationsOf(admin.house)
})

afterAll(() => admin.close())

/** A new session for every request: some routes end the one they are asked with. */
async function headersOf(caller: Caller): Promise<Record<string, string>> {
  const { house } = admin
  switch (caller) {
    case 'anonymous':
      return {}
    case 'key':
      return { authorization: `Bearer ${house.key}` }
    case 'user':
      return (await house.signIn()).headers
    case 'admin':
      return (await house.signIn(await admin.freshAdmin())).headers
    case 'impersonator': {
      const answer = await admin.post(`/accounts/${house.accountId}/impersonate`, { reason: 'a test' })
      const { token } = answer.body.data as { token: string }
      return { authorization: `Bearer ${token}` }
    }
  }
}

async function ask(operation: Operation, caller: Caller) {
  const path = operation.path.replace(/\{[^}]+\}/g, '1')
  const hasBody = operation.method !== 'GET' && operation.method !== 'DELETE'
  return readAnswer(
    await fetch(admin.house.baseUrl + path, {
      method: operation.method,
      headers: { ...(hasBody ? { 'content-type': 'application/json' } : {}), ...(await headersOf(caller)) },
      ...(hasBody ? { body: '{}' } : {}),
    }),
  )
}

describe('the authorisation matrix', () => {
  test('[D-accounts-115] every route has its rule, and the back office is for admins alone', () => {
    expect(operations.length).toBeGreaterThan(80)
    for (const { path, method, access } of operations) {
      expect(Object.keys(LET_IN), `${method} ${path}`).toContain(access)
      if (path.startsWith('/api/v1/admin/')) expect(access, `${method} ${path}`).toBe('admin')
    }
  })

  test.each(CALLERS)('[D-accounts-114] [D-accounts-115] holds for %s on every route', async (caller) => {
    const wrong: string[] = []
    for (const operation of operations) {
      // Calls are shown row by row elsewhere; here they would only be refused for their bodies.
      if (operation.isCall) continue
      const { status, body } = await ask(operation, caller)
      const expected = LET_IN[operation.access]?.includes(caller) === true
      const isRefused = status === 401 || (status === 403 && body.code !== 40305)
      const isRightRefusal = caller === 'anonymous' ? status === 401 : isRefused
      const holds = expected
        ? !isRefused || isOwnRefusal(body.code) || isKeptOut(caller, operation, body.code)
        : isRightRefusal
      if (!holds || status >= 500)
        wrong.push(`${operation.method} ${operation.path}: ${status} ${body.code ?? ''}`)
    }
    expect(wrong).toEqual([])
  })
})

/** How an account is opened is its owner's own affair: an admin who looks through its eyes is kept out of these. */
const OWN_ACCESS = /^\/api\/v1\/user\/user\/(second-factors|linked-services|password|sessions|email|phone)\b/

function isKeptOut(caller: Caller, { path }: Operation, code: number | undefined): boolean {
  return caller === 'impersonator' && code === 40304 && OWN_ACCESS.test(path)
}

/** Routes that open doors refuse what opens none; that says nothing of who may knock. */
function isOwnRefusal(code: number | undefined): boolean {
  return code === 40104
}
