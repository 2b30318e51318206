/**
 * `kill -9` at every step of a background response: another process goes on with it, its upstream is asked for it once, and
 * it is charged once by its own usage or not at all.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ANSWER, objectOf, type MadeResponse } from '../gateway/background.ts'
import { type Answer, get, postJson } from '../gateway/client.ts'
import { openGateway, putChain, putModel, putVendor } from '../gateway/gateway.ts'
import { openScriptedUpstream, type ScriptedUpstream } from '../gateway/scripted-upstream.ts'
import { eventually } from '../gateway/videos.ts'
import { createMigratedDatabase } from '../postgres/fresh-database.ts'
import { buildPrograms } from '../processes/programs.ts'
import { taskGateways } from '../processes/task-gateway.ts'

/** Leases of the killed process have run out by then. */
const AHEAD_MS = 60_000
/** 100 tokens in at 10 yuan a million, 1000 out at 30. */
const PRICE = 31_000_000n
const PATIENT = { timeout: 300_000 }

/**
 * Where each response stands when its process is killed, and what becomes of it. `ordering`: sent, no answer yet. `queued`:
 * the client has its id. `polled`: a poll is under way. `finished`: its upstream is done with it, and nobody has asked since.
 * `settled`: charged and read.
 */
const STEPS = {
  ordering: { charged: 0n },
  queued: { charged: PRICE },
  polled: { charged: PRICE },
  finished: { charged: PRICE },
  settled: { charged: PRICE },
} as const satisfies Record<string, { readonly charged: bigint }>
type Step = keyof typeof STEPS
const NAMES = Object.keys(STEPS) as readonly Step[]

let vendor: ScriptedUpstream
const gateways = taskGateways()

beforeAll(async () => {
  vendor = await openScriptedUpstream()
  await buildPrograms()
})
afterAll(async () => {
  gateways.killAll()
  await vendor.close()
})

describe('a background response whose process is killed at any step is ordered once and charged once', () => {
  test('on SQLite, by the next process', PATIENT, () => expectSurvival(undefined, 1))

  test('on PostgreSQL, by one of two instances', PATIENT, async () => {
    const database = await createMigratedDatabase()
    await expectSurvival(database.url, 2)
    await database.drop()
  })
})

async function expectSurvival(databaseUrl: string | undefined, instances: number): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-background-crash-'))
  const environment = {
    SLUICE_DATA_DIR: directory,
    ...(databaseUrl === undefined ? {} : { SLUICE_DATABASE_URL: databaseUrl }),
  }
  const gateway = await openGateway({ environment })
  await gateway.catalogue(
    ...putVendor('acme', vendor.url, { kind: 'openai', timeouts: { firstByteMs: 60_000, idleMs: 60_000 } }),
    putModel('native'),
    putChain({ model: 'native', vendor: 'acme', protocol: 'responses', forward: 'gpt-4.1' }),
  )
  const { key, accountId } = gateway
  const before = (await gateway.account()).credits
  await gateway.close()

  vendor.requests.length = 0
  const made = new Map<string, MadeResponse>()
  const hold = new Set<string>(['ordering', 'polled'])
  const held = new Set<string>()
  play(made, hold, held)
  const first = await gateways.open(environment)
  const lost = order(first.url, key, 'ordering').catch((error: unknown) => error)
  for (const step of NAMES.filter((name) => name !== 'ordering')) {
    const answer = await order(first.url, key, step)
    expect([answer.status, answer.body['status']]).toEqual([200, 'queued'])
  }
  await eventually(() => held.size === hold.size)
  finish(made.get('settled'))
  await eventually(async () => (await read(first.url, key, 'settled')).body['status'] === 'completed')
  finish(made.get('finished'))
  await first.kill()
  await lost

  hold.clear()
  for (const one of made.values()) finish(one)
  const next = await Promise.all(
    Array.from({ length: instances }, () => gateways.open({ ...environment, AHEAD_MS: String(AHEAD_MS) })),
  )
  const urls = next.map(({ url }) => url)
  for (const step of NAMES.filter((name) => name !== 'ordering')) {
    await eventually(async () => {
      const answers = await Promise.all(urls.map((url) => read(url, key, step)))
      return answers.every(({ body }) => body['status'] === 'completed')
    })
    expect((await read(urls[0] ?? '', key, step)).text).toContain(ANSWER)
  }
  for (const step of NAMES) expect([step, ordersOf(step)]).toEqual([step, 1])
  // The client that was told nothing gets nothing, even where it guessed the id.
  expect((await read(urls[0] ?? '', key, 'ordering')).status).toBe(404)
  await Promise.all(next.map((one) => one.kill()))

  const witness = await openGateway({
    environment,
    owner: 'witness@example.com',
    now: () => Date.now() + 2 * AHEAD_MS,
  })
  await witness.videosEnded()
  expect(await witness.storage.ledger.verify()).toEqual([])
  const rows = await witness.logs()
  const orders = rows.filter(({ endpoint }) => endpoint === '/v1/responses')
  const charged = orders.map(({ deducted }) => deducted)
  const free = Object.values(STEPS).filter((step) => step.charged === 0n).length
  expect(charged.filter((amount) => amount === 0n)).toHaveLength(free)
  expect(charged.filter((amount) => amount === PRICE)).toHaveLength(NAMES.length - free)
  const total = charged.reduce((sum, amount) => sum + amount, 0n)
  const account = await witness.account(accountId)
  expect([before - account.credits, account.held]).toEqual([total, 0n])
  await witness.close()
  rmSync(directory, { recursive: true, force: true })
}

function finish(one: MadeResponse | undefined): void {
  if (one !== undefined)
    Object.assign(one, { status: 'completed', text: ANSWER, usage: { input: 100, output: 1_000 } })
}

const idOf = (step: string): string => `resp_${step}`

function ordersOf(step: Step): number {
  return vendor.requests.filter(
    ({ method, json }) => method === 'POST' && (json() as { input?: unknown }).input === step,
  ).length
}

/** Answers orders and polls but for those of `hold`, whose names go into `held`. */
function play(made: Map<string, MadeResponse>, hold: ReadonlySet<string>, held: Set<string>): void {
  vendor.answer((request, response) => {
    const ordered = request.method === 'POST'
    const step = ordered
      ? String((request.json() as { input: unknown }).input)
      : (/\/resp_([^/]+)$/.exec(request.path)?.[1] ?? '')
    if (ordered && step !== 'ordering')
      made.set(step, {
        id: idOf(step),
        status: 'queued',
        input: step,
        usage: undefined,
        text: '',
        reads: 0,
        cancels: 0,
      })
    const one = made.get(step)
    if ((ordered ? step === 'ordering' : step === 'polled') && hold.has(step)) {
      held.add(step)
      return
    }
    response.writeHead(one === undefined ? 404 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(one === undefined ? { error: { message: 'unknown' } } : objectOf(one)))
  })
}

function order(url: string, key: string, input: Step): Promise<Answer> {
  return postJson(
    `${url}/v1/responses`,
    { model: 'native', input, background: true },
    { authorization: `Bearer ${key}` },
  )
}

function read(url: string, key: string, step: Step): Promise<Answer> {
  return get(`${url}/v1/responses/${idOf(step)}`, { authorization: `Bearer ${key}` })
}
