/**
 * Whose things are whose: every operation with an id in its path is asked for a real thing of somebody else's. A thing is
 * made by the table below; an operation whose thing has no maker fails, so that none is forgotten.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type AdminGateway, openAdminGateway } from '../../../../test/gateway/admin-gateway.ts'
import { type Answer, postJson, readAnswer } from '../../../../test/gateway/client.ts'
import { type Customer, openCustomer } from '../../../../test/gateway/customer.ts'
import { putChain, putModel, putVendor } from '../../../../test/gateway/gateway.ts'
import { type Operation, operationsOf } from '../../../../test/gateway/operations.ts'
import { openScriptedUpstream, type ScriptedUpstream } from '../../../../test/gateway/scripted-upstream.ts'
import { openTeam, type Team } from '../../../../test/gateway/team.ts'
import { ARK, playArk, VIDEO_PRICES } from '../../../../test/gateway/videos.ts'
import { vendorCode } from '../../../core/ids.ts'
import { microCredits } from '../../../core/money.ts'
import { Secret } from '../../../core/secret.ts'

/** Everything API keys may be used for beside calls. A route that is opened to them has to be written here too. */
const FOR_KEYS = [
  'GET /api/v1/user/user/account',
  'POST /api/v1/user/user/explain',
  'GET /api/v1/user/user/key',
  'GET /api/v1/user/user/logs',
  'GET /api/v1/user/user/logs/export',
  'GET /api/v1/user/user/logs/totals',
  'GET /api/v1/user/user/pricing',
  'GET /api/v1/user/user/subscription',
  'GET /api/v1/user/user/usage',
  'POST /api/v1/user/user/verification-codes',
]

let admin: AdminGateway
let ark: ScriptedUpstream
let operations: readonly Operation[]
let owner: Customer
let other: Customer
let owners: Team
let others: Team

beforeAll(async () => {
  admin = await openAdminGateway()
  ark = await openScriptedUpstream()
  playArk(ark, { polls: [ARK.done('https://videos.example/one.mp4')] })
  const { gateway } = admin
  await gateway.catalogue(
    ...putVendor('acme', admin.upstream.url),
    putModel('plain'),
    putChain({ model: 'plain', vendor: 'acme' }),
    ...putVendor('ark', ark.url, { kind: 'ark' }),
    putModel('video', { supportFeatures: ['video'], pricing: VIDEO_PRICES }),
    putChain({ model: 'video', vendor: 'ark', protocol: 'video', forward: 'video' }),
  )
  operations = await operationsOf(gateway)
  owner = await openCustomer(gateway)
  other = await openCustomer(gateway)
  owners = await openTeam(gateway)
  others = await openTeam(gateway)
})

afterAll(async () => {
  await admin.close()
  await ark.close()
})

/** Names that stand in a path; `{number}` counts within another. */
type Things = Readonly<Record<string, string>>

let made = 0
/** A new one each time: asking must not have taken the last. */
const fresh = () => `${(made += 1)}`

const NOW = Date.now()
const bearerOf = (key: string) => ({ authorization: `Bearer ${key}` })
const idOf = ({ body }: Answer) => String(body['id'])

/** By the beginning of the path: makes a thing of the owner's and says how it is named. */
const MAKERS: readonly (readonly [prefix: string, make: () => Promise<Things>])[] = [
  ['/api/v1/user/user/keys/', async () => ({ id: (await admin.gateway.newKey(owner.id)).keyId })],
  ['/api/v1/user/user/sessions/', async () => ({ id: (await admin.gateway.signIn(owner.id)).sessionId })],
  [
    '/api/v1/user/user/second-factors/passkeys/',
    async () => {
      const id = `passkey${fresh()}`
      await admin.gateway.storage.identity.factors.addPasskey({
        id,
        accountId: owner.id,
        name: 'laptop',
        publicKey: 'x',
        counter: 0,
        transports: [],
        backedUp: false,
        createdAt: NOW,
        usedAt: undefined,
      })
      return { id }
    },
  ],
  [
    '/api/v1/user/user/top-ups/',
    async () => {
      const id = `top_${fresh()}`
      const topUp = { id, accountId: owner.id, driver: 'card', currency: 'cny', priceMinor: 1_000 }
      const worth = { pool: 'credits', amount: microCredits(1n), package: undefined } as const
      await admin.gateway.storage.topUps.payments.begin({ ...topUp, ...worth, createdAt: NOW }, undefined)
      return { id }
    },
  ],
  [
    '/api/v1/user/user/verification/',
    async () => {
      const { verifications } = admin.gateway.storage.customers
      const known = await verifications.list({
        accountId: owner.id,
        status: 'pending',
        limit: 1,
        after: undefined,
      })
      const id = known[0]?.id ?? `ver_${fresh()}`
      if (known.length > 0) return { id, number: '1' }
      const blobKey = `verifications/${owner.id}/${id}/0`
      const bytes = Buffer.from('%PDF-1.7')
      const options = { mediaType: 'application/pdf', maxBytes: 100 }
      const stored = await admin.gateway.running.pipeline.blobs.put(blobKey, piecesOf(bytes), options)
      const decision = { decidedAt: undefined, decidedBy: undefined, reason: undefined }
      const file = { name: 'a.pdf', blobKey, mediaType: options.mediaType, ...stored }
      const request = { id, accountId: owner.id, kind: 'personal', status: 'pending', ...decision } as const
      await verifications.submit({ ...request, submittedAt: NOW, statement: {}, documents: [file] })
      return { id, number: '1' }
    },
  ],
  [
    '/api/v1/user/user/logs/',
    async () => {
      const url = `${admin.gateway.baseUrl}/v1/responses`
      const answer = await postJson(url, { model: 'plain', input: 'hi' }, bearerOf(owner.key))
      await admin.gateway.settled()
      return { request_id: String(answer.headers.get('x-request-id')) }
    },
  ],
  [
    '/v1/responses/',
    async () => {
      const url = `${admin.gateway.baseUrl}/v1/responses`
      const answer = await postJson(url, { model: 'plain', input: 'hi' }, bearerOf(owner.key))
      return { response_id: idOf(answer) }
    },
  ],
  [
    '/v1/videos/',
    async () => {
      const order = { model: 'video', prompt: 'a cat', seconds: '5' }
      const headers = { ...bearerOf(owner.key), prefer: 'respond-async' }
      return { video_id: idOf(await postJson(`${admin.gateway.baseUrl}/v1/videos`, order, headers)) }
    },
  ],
  [
    '/api/v1/user/user/organisations/{organisation}/members/',
    async () => ({ organisation: others.id, member: (await owners.join('member')).member }),
  ],
  [
    '/api/v1/user/user/organisations/{organisation}/invitations/',
    async () => {
      const path = `organisations/${owners.id}/invitations`
      const email = `guest${fresh()}@example.com`
      const { id } = await owners.owner.ask('POST', path, { email })
      return { organisation: others.id, invitation: id }
    },
  ],
  ['/api/v1/user/user/organisations/{organisation}', async () => ({ organisation: owners.id })],
]

async function* piecesOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

/** Named by something that is no id of anybody's: everybody has their own there, or it is nobody's. */
const NOBODYS = [
  '/api/v1/user/user/byok/{vendor}',
  '/api/v1/user/user/linked-services/{name}',
  '/api/v1/user/user/sign-in/services/{name}',
  '/v1/models/{path}',
  '/v1beta/models/',
  // Providers say it, and sign what they say.
  '/api/v1/payments/{provider}/webhook',
]

const BODIES: Readonly<Record<string, unknown>> = {
  'PATCH /api/v1/user/user/keys/{id}': { name: 'taken over', status: 'disabled' },
  'PATCH /api/v1/user/user/organisations/{organisation}': { name: 'taken over' },
  'POST /api/v1/user/user/organisations/{organisation}/fund': { credits: 1 },
  'POST /api/v1/user/user/organisations/{organisation}/invitations': { email: 'me@example.com' },
  'PATCH /api/v1/user/user/organisations/{organisation}/members/{member}': { status: 'suspended' },
}

/** All the owner has, as text: what asking must leave as it was. */
async function belongings(): Promise<string> {
  const { storage } = admin.gateway
  const page = { limit: 100, after: undefined }
  const everything = {
    keys: await storage.keys.list(owner.id, { ever: 'included' }),
    byok: await storage.accounts.listByok(owner.id),
    sessions: (await storage.identity.sessions.list(owner.id, Date.now())).map(({ id }) => id),
    passkeys: await storage.identity.factors.listPasskeys(owner.id),
    links: await storage.identity.links.list(owner.id),
    topUps: await storage.topUps.payments.list({ accountId: owner.id }, page),
    verifications: await storage.customers.verifications.list({ accountId: owner.id, ...page }),
    members: await storage.organisations.members(owners.id, page),
    organisation: await storage.organisations.find(owners.id),
  }
  return JSON.stringify(everything, (_name, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value,
  )
}

async function ask({ method, path }: Operation, things: Things, headers: Record<string, string>) {
  const hasBody = method !== 'GET' && method !== 'DELETE'
  const body = BODIES[`${method} ${path}`] ?? {}
  return readAnswer(
    await fetch(admin.gateway.baseUrl + path.replace(/\{(\w+)\}/g, (_, name) => things[name] ?? name), {
      method,
      headers: {
        ...(hasBody ? { 'content-type': 'application/json', 'idempotency-key': fresh() } : {}),
        ...headers,
      },
      ...(hasBody ? { body: JSON.stringify(body) } : {}),
    }),
  )
}

describe('a thing of somebody else’s', () => {
  const named = () =>
    operations.filter(
      ({ path, access }) =>
        path.includes('{') && access !== 'admin' && !NOBODYS.some((prefix) => path.startsWith(prefix)),
    )
  const makerOf = (path: string) => MAKERS.find(([prefix]) => path.startsWith(prefix))?.[1]

  test('has a maker for every operation that names one', () => {
    expect(named().length).toBeGreaterThan(30)
    const without = named().filter(({ path }) => makerOf(path) === undefined)
    expect(without.map(({ method, path }) => `${method} ${path}`)).toEqual([])
  })

  test('is not there for another user, and stays as it was', async () => {
    const wrong: string[] = []
    for (const operation of named()) {
      const make = makerOf(operation.path)
      if (make === undefined) continue
      const things = await make()
      const before = await belongings()
      const caller = operation.access === 'organisation' ? others.owner : other
      const headers = operation.access === 'key' ? bearerOf(caller.key) : caller.headers
      const answer = await ask(operation, things, headers)
      const name = `${operation.method} ${operation.path}`
      if (answer.status !== 404 && answer.status !== 403)
        wrong.push(`${name}: ${answer.status} ${answer.text.slice(0, 200)}`)
      if ((await belongings()) !== before) wrong.push(`${name} changed it`)
    }
    expect(wrong).toEqual([])
  })

  test('is there for its owner: the makers make what is asked for', async () => {
    const wrong: string[] = []
    for (const operation of named()) {
      if (operation.method !== 'GET') continue
      const things = (await makerOf(operation.path)?.()) ?? {}
      const isTeam = operation.access === 'organisation'
      const caller = isTeam ? owners.owner : owner
      const headers = operation.access === 'key' ? bearerOf(caller.key) : caller.headers
      const own = isTeam ? { ...things, organisation: owners.id } : things
      const answer = await ask(operation, own, headers)
      // What a video or an answer is like just now is its own affair, but it is there.
      if (answer.status === 404 || answer.status === 403)
        wrong.push(`${operation.path}: ${answer.status} ${answer.text.slice(0, 200)}`)
    }
    expect(wrong).toEqual([])
  })

  test('named by a vendor or a service is everybody’s own', async () => {
    await admin.gateway.storage.accounts.putByok(
      owner.id,
      vendorCode('acme'),
      { secret: new Secret('sk-owner'), fields: {} },
      { enabled: true },
    )
    const link = { service: 'github', subject: '1', label: 'ada', createdAt: NOW }
    await admin.gateway.storage.identity.links.add({ ...link, accountId: owner.id })
    const before = await belongings()
    expect((await other.send('PATCH', 'byok/acme', { enabled: false })).status).toBe(404)
    expect((await other.send('DELETE', 'byok/acme')).status).toBe(404)
    expect((await other.send('PUT', 'byok/acme', { secret: 'sk-other' })).status).toBe(200)
    expect((await other.send('DELETE', 'linked-services/github')).status).toBe(404)
    expect(await belongings()).toBe(before)
    const kept = await admin.gateway.storage.accounts.readByok(owner.id)
    expect(kept.get(vendorCode('acme'))?.secret?.unwrap()).toBe('sk-owner')
  })
})

test('API keys open what is written here and nothing else', () => {
  const open = operations
    .filter(({ access, path }) => ['account', 'key', 'optional'].includes(access) && path.startsWith('/api/'))
    .map(({ method, path }) => `${method} ${path}`)
  expect(open.sort()).toEqual([...FOR_KEYS].sort())
})
