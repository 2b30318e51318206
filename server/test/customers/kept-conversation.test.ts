/** What was said in a call whose response is kept: read in the log by whoever the key belongs to, and by nobody else. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type AdminGateway, openAdminGateway } from '../gateway/admin-gateway.ts'
import { type Answer, postJson } from '../gateway/client.ts'
import { type Customer, openCustomer } from '../gateway/customer.ts'
import { putChain, putModel, putVendor } from '../gateway/gateway.ts'
import { openTeam } from '../gateway/team.ts'

const DAY_MS = 86_400_000

let admin: AdminGateway
let customer: Customer
/** How far the gateway's clock is ahead. */
let ahead = 0

beforeAll(async () => {
  admin = await openAdminGateway({ now: () => Date.now() + ahead })
  await admin.gateway.catalogue(
    ...putVendor('acme', admin.upstream.url),
    putModel('plain'),
    putChain({ model: 'plain', vendor: 'acme' }),
  )
})
beforeEach(async () => {
  customer = await openCustomer(admin.gateway)
})
afterAll(() => admin.close())

interface Said {
  /** Of the response. */
  readonly id: string
  /** Where its words are read. */
  readonly path: string
}

async function say(key: string, body: object): Promise<Said> {
  const headers = { authorization: `Bearer ${key}` }
  const answer = await postJson(`${admin.gateway.baseUrl}/v1/responses`, { model: 'plain', ...body }, headers)
  expect(answer.status).toBe(200)
  await admin.gateway.settled()
  return {
    id: String(answer.body['id']),
    path: `logs/${String(answer.headers.get('x-request-id'))}/conversation`,
  }
}

/** Responses are written down a little after their calls. */
const soon = (path: string) => expect.poll(() => customer.ask<object>('GET', path), { timeout: 30_000 })

const codeOf = ({ body }: Answer): unknown => body.code

describe('what was said in a call', () => {
  test('is read with all that it continued, oldest first', async () => {
    const first = await say(customer.key, { input: 'Which gate is open?' })
    const second = await say(customer.key, { input: 'And now?', previous_response_id: first.id })
    const answer = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'ok' }] }
    const begun = [{ role: 'user', content: 'Which gate is open?' }, answer]
    await soon(first.path).toMatchObject({ kept: true, complete: true, items: begun })
    await soon(second.path).toMatchObject({
      kept: true,
      complete: true,
      items: [...begun, { role: 'user', content: 'And now?' }, answer],
    })
  })

  test('is said to be no whole where its beginning was deleted', async () => {
    const first = await say(customer.key, { input: 'one' })
    const second = await say(customer.key, { input: 'two', previous_response_id: first.id })
    await fetch(`${admin.gateway.baseUrl}/v1/responses/${first.id}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${customer.key}` },
    })
    expect(await customer.ask('GET', first.path)).toEqual({ kept: false, complete: true, items: [] })
    await soon(second.path).toMatchObject({
      kept: true,
      complete: false,
      items: [{ content: 'two' }, { type: 'message' }],
    })
  })

  test('is left out where it is too long to be shown', async () => {
    const { path } = await say(customer.key, { input: 'long '.repeat(300_000) })
    await soon(path).toEqual({ kept: true, complete: false, items: [] })
  })

  test('is not there where store was false, nor a day after its last use', async () => {
    const nothing = { kept: false, complete: true, items: [] }
    const { path } = await say(customer.key, { input: 'hi', store: false })
    expect(await customer.ask('GET', path)).toEqual(nothing)
    const late = await say(customer.key, { input: 'hi' })
    await soon(late.path).toMatchObject({ kept: true })
    ahead += DAY_MS + 1
    expect(await customer.ask('GET', late.path)).toEqual(nothing)
  })
})

describe('it cannot be read by others', () => {
  test('not another account, not an API key, not an administrator who impersonates the person', async () => {
    const { path } = await say(customer.key, { input: 'hi' })
    const other = await openCustomer(admin.gateway)
    expect(codeOf(await other.send('GET', path))).toBe(40403)
    expect(
      codeOf(await customer.send('GET', path, undefined, { authorization: `Bearer ${customer.key}` })),
    ).toBe(40304)
    const looking = await admin.post(`/accounts/${customer.id}/impersonate`, { reason: 'ticket 9' })
    const { token } = looking.body.data as { readonly token: string }
    const impersonating = { authorization: `Bearer ${token}` }
    expect(codeOf(await customer.send('GET', path, undefined, impersonating))).toBe(40304)
  })

  test('in an organisation the member, and neither its owner nor its administrators', async () => {
    const team = await openTeam(admin.gateway)
    const made = await team.member.act('POST', 'keys', { name: 'laptop' })
    const { key } = made.body.data as { readonly key: string }
    const { path } = await say(key, { input: 'hi' })
    const seen = async () => (await team.member.act('GET', path)).body.data
    await expect.poll(seen, { timeout: 30_000 }).toMatchObject({ kept: true })
    for (const person of [team.owner, team.admin, await team.join('member')])
      expect(codeOf(await person.act('GET', path))).toBe(40403)
  })
})
