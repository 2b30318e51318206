/**
 * Three equal instances on one PostgreSQL: what holds a member of an organisation holds them everywhere at once,
 * whichever of their keys calls and wherever it arrives.
 */
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { KeyRequest } from '../../src/management/keys/keys.ts'
import { type Answer, postJson } from '../gateway/client.ts'
import { type TestGateway, openGateway, putChain, putModel, putVendor } from '../gateway/gateway.ts'
import { answerJson, openScriptedUpstream, type ScriptedUpstream } from '../gateway/scripted-upstream.ts'
import { openTeam, type Team } from '../gateway/team.ts'
import { microCredits } from '../../src/core/money.ts'
import { createMigratedDatabase, type FreshDatabase } from '../postgres/fresh-database.ts'

/** 1000 + 500 tokens at 10 and 30 yuan a million are 25 Credits. */
const COMPLETION = {
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1000, completion_tokens: 500, total_tokens: 1500 },
}

let database: FreshDatabase
let upstream: ScriptedUpstream
let gateways: readonly TestGateway[]
let first: TestGateway
let team: Team

beforeAll(async () => {
  database = await createMigratedDatabase()
  upstream = await openScriptedUpstream()
  const environment = {
    SLUICE_DATABASE_URL: database.url,
    SLUICE_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
  }
  first = await openGateway({ environment })
  gateways = [
    first,
    await openGateway({ environment, owner: 'second@example.com' }),
    await openGateway({ environment, owner: 'third@example.com' }),
  ]
  await first.catalogue(
    ...putVendor('acme', upstream.url),
    putModel('m'),
    putChain({ model: 'm', vendor: 'acme' }),
  )
  await Promise.all(gateways.map((gateway) => gateway.running.pipeline.refreshCatalogue()))
  team = await openTeam(first)
})

afterAll(async () => {
  for (const gateway of [...gateways].reverse()) await gateway.close()
  await upstream.close()
  await database.drop()
})

const newKey = async (fields: Partial<KeyRequest>): Promise<string> =>
  (await first.newKey(team.id, fields)).key

/** The nth call goes to the nth instance in turn. */
function call(key: string, index: number): Promise<Answer> {
  const gateway = gateways[index % gateways.length] ?? first
  return postJson(
    `${gateway.baseUrl}/v1/chat/completions`,
    { model: 'm', max_tokens: 833, messages: [] },
    { authorization: `Bearer ${key}` },
  )
}

test('a member’s monthly cap lets exactly what it funds pass, over all their keys and instances', async () => {
  const { member } = await team.join('member', { monthlyCap: microCredits(7n * 46_000_000n + 5_000_000n) })
  const keys = [await newKey({ memberId: member }), await newKey({ memberId: member })]
  let release = (): void => undefined
  const released = new Promise<void>((resolve) => (release = resolve))
  upstream.answer(async (request, response) => {
    await released
    await answerJson(COMPLETION)(request, response)
  })
  let answered = 0
  const running = Promise.all(
    Array.from({ length: 60 }, async (_, index) => {
      const answer = await call(keys[index % 2] ?? '', index)
      answered += 1
      return answer
    }),
  )
  // Each is held to its worst case: 25 Credits of output, a little over 20 for all the input a vendor may count.
  // What one costs in the end is less: the first may end only when all others have been judged.
  await vi.waitFor(() => expect([upstream.requests.length, answered]).toEqual([7, 53]), 60_000)
  release()
  const answers = await running
  const refused = answers.filter(({ status }) => status !== 200)
  expect(refused).toHaveLength(53)
  expect(new Set(refused.map(({ body }) => body.code))).toEqual(new Set([42906]))
  expect(refused[0]?.body.message).toContain('your monthly consumption cap in this organisation')
  await first.settled()
  expect(await first.storage.organisations.findMember(member)).toMatchObject({
    monthSpent: microCredits(175_000_000n),
    monthHeld: 0n,
  })
  const own = await call(await newKey({}), 2)
  expect(own.status).toBe(200)
})

test('a member who is suspended on one instance is refused by the next call on every other', async () => {
  const { member } = await team.join('member')
  const key = await newKey({ memberId: member })
  upstream.answer(answerJson(COMPLETION))
  const atOnce = () => Promise.all([0, 1, 2].map((index) => call(key, index)))
  expect((await atOnce()).map(({ status }) => status)).toEqual([200, 200, 200])
  await first.storage.organisations.patchMember(member, { status: 'suspended' })
  expect((await atOnce()).map(({ body }) => body.code)).toEqual([40102, 40102, 40102])
  await first.storage.organisations.patchMember(member, { status: 'active' })
  expect((await atOnce()).map(({ status }) => status)).toEqual([200, 200, 200])
  await first.storage.organisations.removeMember(member, { keys: 'delete' })
  expect((await atOnce()).map(({ body }) => body.code)).toEqual([40101, 40101, 40101])
})
