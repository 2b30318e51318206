/**
 * Who may ask what: every route there is × everybody there is, for themselves and for an organisation. The rows are the
 * routes themselves: one without a rule of access, or of the least right with which it is used for an organisation, does
 * not compile (`RouteWords.access`, `ForWord`), and one that is not defined with a rule stops the start (`api.ts`).
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { type AdminGateway, openAdminGateway } from '../../../../test/gateway/admin-gateway.ts'
import { type Answer, readAnswer } from '../../../../test/gateway/client.ts'
import { type Operation, operationsOf } from '../../../../test/gateway/operations.ts'
import { openTeam, type Team } from '../../../../test/gateway/team.ts'
import { defineRoute } from '../define-route.ts'
import type { ApiContext, Api } from '../api-context.ts'

type Caller = 'anonymous' | 'user' | 'impersonator' | 'key' | 'admin'

/** Rule of a route → who is let in; everybody else gets 401, or 403 where they said who they are. */
const LET_IN: Readonly<Record<string, readonly Caller[]>> = {
  anonymous: ['anonymous', 'user', 'impersonator', 'key', 'admin'],
  optional: ['anonymous', 'user', 'impersonator', 'key', 'admin'],
  account: ['user', 'impersonator', 'key', 'admin'],
  session: ['user', 'impersonator', 'admin'],
  // None of them is in any.
  organisation: [],
  key: ['key'],
  admin: ['admin'],
}
const CALLERS = ['anonymous', 'user', 'impersonator', 'key', 'admin'] as const

let admin: AdminGateway
let operations: readonly Operation[]

beforeAll(async () => {
  admin = await openAdminGateway()
  operations = await operationsOf(admin.gateway)
})

afterAll(() => admin.close())

type Headers = Record<string, string>

/** Some routes end the session that they are asked with, or the account: whoever only reads asks with the same one again. */
function keptForReads<Who>(make: (who: Who) => Promise<Headers>) {
  const kept = new Map<Who, Headers>()
  return async ({ method }: Operation, who: Who): Promise<Headers> => {
    const headers = (method === 'GET' ? kept.get(who) : undefined) ?? (await make(who))
    kept.set(who, headers)
    if (method !== 'GET') kept.delete(who)
    return headers
  }
}

const headersFor = keptForReads(headersOf)

async function headersOf(caller: Caller): Promise<Headers> {
  const { gateway } = admin
  switch (caller) {
    case 'anonymous':
      return {}
    case 'key':
      return { authorization: `Bearer ${gateway.key}` }
    case 'user':
      return (await gateway.signIn()).headers
    case 'admin':
      return (await gateway.signIn(await admin.freshAdmin())).headers
    case 'impersonator':
      return impersonating(gateway.accountId)
  }
}

async function impersonating(account: string): Promise<Record<string, string>> {
  const answer = await admin.post(`/accounts/${account}/impersonate`, { reason: 'a test' })
  const { token } = answer.body.data as { token: string }
  return { authorization: `Bearer ${token}` }
}

async function ask(operation: Operation, headers: Record<string, string>, organisation = '1') {
  const path = operation.path.replace('{organisation}', organisation).replace(/\{[^}]+\}/g, '1')
  const hasBody = operation.method !== 'GET' && operation.method !== 'DELETE'
  return readAnswer(
    await fetch(admin.gateway.baseUrl + path, {
      method: operation.method,
      headers: { ...(hasBody ? { 'content-type': 'application/json' } : {}), ...headers },
      ...(hasBody ? { body: '{}' } : {}),
    }),
  )
}

const CROSS_SITE = { 'sec-fetch-site': 'cross-site', 'x-sluice-csrf': '1' }
const OPENED_BY_SESSIONS: ReadonlySet<string> = new Set(['account', 'session', 'organisation', 'admin'])

describe('the authorisation matrix', () => {
  test('every route has its rule, and the management API is for admins alone [D-accounts-115]', () => {
    expect(operations.length).toBeGreaterThan(80)
    for (const { path, method, access, right } of operations) {
      expect(Object.keys(LET_IN), `${method} ${path}`).toContain(access)
      const isAsked = ['optional', 'account', 'session', 'organisation'].includes(access)
      expect(right !== undefined, `${method} ${path}`).toBe(isAsked)
      if (path.startsWith('/api/v1/admin/')) expect(access, `${method} ${path}`).toBe('admin')
    }
  })

  test.each(CALLERS)('holds for %s on every route [D-accounts-114] [D-accounts-115]', async (caller) => {
    const wrong: string[] = []
    for (const operation of operations) {
      // Calls are shown row by row elsewhere; here they would only be refused for their bodies.
      if (operation.isCall) continue
      const answer = await ask(operation, await headersFor(operation, caller))
      const { status, body } = answer
      const kept = caller === 'impersonator' && operation.impersonator === 'refused'
      const expected = LET_IN[operation.access]?.includes(caller) === true && !kept
      const holds = expected
        ? !isRefused(answer) || isOwnRefusal(body.code) || isKeptOut(caller, operation, body.code)
        : caller === 'anonymous'
          ? status === 401
          : isRefused(answer)
      if (!holds || status >= 500)
        wrong.push(`${operation.method} ${operation.path}: ${status} ${body.code ?? ''}`)
    }
    expect(wrong).toEqual([])
  })
})

describe('a request that another site makes a browser send', () => {
  test.each([
    ['with the cookie alone', {}],
    ['from another origin', { origin: 'https://evil.example' }],
    ['from another site by the browser’s word, whatever its headers', CROSS_SITE],
  ])('%s changes nothing on any route that sessions open [D-accounts-17]', async (_how, headers) => {
    const session = await headersOf('admin')
    const cookie = `sluice_session=${session['authorization']?.replace('Bearer ', '') ?? ''}`
    const changing = operations.filter(
      ({ method, access, isCall }) => !isCall && method !== 'GET' && OPENED_BY_SESSIONS.has(access),
    )
    expect(changing.length).toBeGreaterThan(60)
    const wrong: string[] = []
    for (const operation of changing) {
      const { status, body } = await ask(operation, { cookie, ...headers })
      if (status !== 403 || body.code !== 40305)
        wrong.push(`${operation.method} ${operation.path}: ${status} ${body.code ?? ''}`)
    }
    expect(wrong).toEqual([])
  })
})

function isRefused({ status, body }: Answer): boolean {
  return status === 401 || (status === 403 && body.code !== 40305)
}

/** How an account is opened is its owner's own affair: an admin who impersonates it is refused here. */
const OWN_ACCESS = /^\/api\/v1\/user\/user\/(second-factors|linked-services|password|sessions|email|phone)\b/

function isKeptOut(caller: Caller, { path }: Operation, code: number | undefined): boolean {
  return caller === 'impersonator' && code === 40304 && OWN_ACCESS.test(path)
}

/** Routes that begin a session refuse a wrong proof; that says nothing about who may call them. */
function isOwnRefusal(code: number | undefined): boolean {
  return code === 40104
}

/** Everybody who might ask for an organisation. */
const FOR_ORGANISATION = [
  'anonymous',
  'another user',
  'member',
  'org admin',
  'owner',
  'suspended owner',
  'impersonator of the owner',
  'key of a member',
  'key of the organisation',
  'admin',
] as const
type ForOrganisation = (typeof FOR_ORGANISATION)[number]

const RIGHTS = ['member', 'admin', 'owner']
const RANK: Readonly<Partial<Record<ForOrganisation, number>>> = { member: 0, 'org admin': 1, owner: 2 }

/** Whether this caller is let in, asking for an organisation (by the path, else by the header). */
function letsIn({ access, right = 'person' }: Operation, caller: ForOrganisation): boolean {
  const isKey = caller.startsWith('key')
  const rank = RANK[caller]
  switch (access) {
    case 'anonymous':
      return true
    case 'optional':
      if (caller === 'anonymous') return true
      break
    case 'key':
      return isKey
    case 'account':
      break
    case 'session':
    case 'organisation':
      if (isKey) return false
      break
    default:
      // An admin's own routes are asked for nobody.
      return false
  }
  // A member's key sees what is any member's; routes for a person alone refuse the header, which keys need not send.
  if (caller === 'key of the organisation') return true
  if (caller === 'key of a member') return right === 'member' || right === 'person'
  return rank !== undefined && right !== 'person' && rank >= RIGHTS.indexOf(right)
}

describe('the authorisation matrix of an organisation', () => {
  let team: Team | undefined

  async function headersFor(caller: ForOrganisation, of: Team): Promise<Record<string, string>> {
    const { gateway } = admin
    const signIn = async (id: Team['id']) => (await gateway.signIn(id)).headers
    switch (caller) {
      case 'anonymous':
        return {}
      case 'another user':
        return signIn(gateway.accountId)
      case 'admin':
        return signIn(await admin.freshAdmin())
      case 'impersonator of the owner':
        return impersonating(of.owner.id)
      case 'member':
        return signIn(of.member.id)
      case 'org admin':
        return signIn(of.admin.id)
      case 'owner':
        return signIn(of.owner.id)
      case 'suspended owner': {
        const { id, member } = await of.join('owner')
        await gateway.storage.organisations.patchMember(member, { status: 'suspended' })
        return signIn(id)
      }
      case 'key of a member': {
        const { key } = await gateway.newKey(of.id, { memberId: of.member.member })
        return { authorization: `Bearer ${key}` }
      }
      case 'key of the organisation':
        return { authorization: `Bearer ${(await gateway.newKey(of.id)).key}` }
    }
  }

  test.each(FOR_ORGANISATION)('holds for %s on every route [D-accounts-115]', async (caller) => {
    const wrong: string[] = []
    for (const operation of operations) {
      if (operation.isCall) continue
      team ??= await openTeam(admin.gateway)
      const named: Record<string, string> =
        operation.access === 'organisation' ? {} : { 'gw-organisation': team.id }
      const answer = await ask(operation, { ...(await headersFor(caller, team)), ...named }, team.id)
      // Somebody left, or all is closed.
      if (operation.access === 'organisation' && operation.method !== 'GET' && answer.status < 300)
        team = undefined
      const { status, body } = answer
      const holds = letsIn(operation, caller)
        ? !isRefused(answer) || isOwnRefusal(body.code)
        : caller === 'anonymous'
          ? status === 401
          : isRefused(answer)
      if (!holds || status >= 500)
        wrong.push(
          `${operation.method} ${operation.path} (${operation.right ?? '-'}): ${status} ${body.code ?? ''}`,
        )
    }
    expect(wrong).toEqual([])
  })
})

/** Never run: the build fails when one of these compiles. */
export function routesThatSayTooLittle(app: Api, context: ApiContext): void {
  const words = { method: 'GET', path: '/', tag: 'Keys', summary: 'x', data: z.object({}) } as const
  const handle = () => ({})
  // @ts-expect-error whoever is asked who they are may ask for an organisation: with which right?
  defineRoute(app, context, { ...words, access: 'session', handle })
  // @ts-expect-error the same with a key
  defineRoute(app, context, { ...words, access: 'account', handle })
  // @ts-expect-error the same where nobody has to be
  defineRoute(app, context, { ...words, access: 'optional', handle })
  // @ts-expect-error a route for members is no person's
  defineRoute(app, context, { ...words, access: 'organisation', for: 'person', handle })
  // @ts-expect-error nobody asks an admin's routes for an organisation
  defineRoute(app, context, { ...words, access: 'admin', for: 'admin', handle })
  defineRoute(app, context, { ...words, access: 'session', for: 'owner', handle })
}
