/** `kill -9` in the middle of video tasks: another process ends each of them, once, and a repeated POST gets it. */
import { mkdtempSync, rmSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Answer, postJson } from '../gateway/client.ts'
import { openGateway, putChain, putModel, putVendor } from '../gateway/gateway.ts'
import {
  openScriptedUpstream,
  type ReceivedRequest,
  type ScriptedUpstream,
} from '../gateway/scripted-upstream.ts'
import { creates, eventually, sampleVideo, VIDEO_PRICES } from '../gateway/videos.ts'
import { createMigratedDatabase } from '../postgres/fresh-database.ts'
import { buildPrograms } from '../processes/programs.ts'
import { taskGateways } from '../processes/task-gateway.ts'

const VIDEO = sampleVideo(1)
/** Leases of the killed process have run out by then. */
const AHEAD_MS = 60_000
/** Where each task stands when the process is killed. */
const STEPS = ['ordering', 'polled', 'fetching', 'half-fetched', 'finished'] as const

/** Four processes start one after the other. */
const PATIENT = { timeout: 300_000 }

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

test('SQLite: every step of a task survives [D-video-12] [D-video-13] [D-video-14]', PATIENT, () =>
  expectSurvival(undefined),
)

test(
  'PostgreSQL: every step of a task survives [D-video-12] [D-video-13] [D-video-14]',
  PATIENT,
  async () => {
    const database = await createMigratedDatabase()
    await expectSurvival(database.url)
    await database.drop()
  },
)

async function expectSurvival(databaseUrl: string | undefined): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-video-crash-'))
  const environment = {
    SLUICE_DATA_DIR: directory,
    ...(databaseUrl === undefined ? {} : { SLUICE_DATABASE_URL: databaseUrl }),
  }
  const gateway = await openGateway({ environment })
  await gateway.catalogue(
    ...putVendor('sora', vendor.url, {
      kind: 'openai-compatible',
      timeouts: { firstByteMs: 60_000, idleMs: 60_000 },
    }),
    putModel('sora-2', { supportFeatures: ['video'], pricing: VIDEO_PRICES }),
    putChain({ model: 'sora-2', vendor: 'sora', protocol: 'video', forward: 'sora-2' }),
  )
  const { key, accountId } = gateway
  const before = (await gateway.account()).credits
  await gateway.close()

  vendor.requests.length = 0
  const held = holdAtSteps()
  const first = await gateways.open(environment)
  const lost = STEPS.map((step) => order(first.url, key, step).catch((error: unknown) => error))
  await eventually(() => held.size === STEPS.length - 1)
  await lost.at(-1)
  await first.kill()
  await Promise.all(lost)

  held.clear()
  playToTheEnd()
  const second = await gateways.open({ ...environment, AHEAD_MS: String(AHEAD_MS) })
  const again = await Promise.all(
    STEPS.map((step) => order(second.url, key, step, { 'x-stainless-retry-count': '1' })),
  )
  expect(again.map(({ status }) => status)).toEqual([504, 200, 200, 200, 200])
  for (const { body } of again.slice(1)) expect(body).toMatchObject({ status: 'completed' })
  for (const step of STEPS)
    expect(creates(vendor).filter((create) => promptOf(create) === step)).toHaveLength(1)
  await second.kill()

  const witness = await openGateway({
    environment,
    owner: 'witness@example.com',
    now: () => Date.now() + AHEAD_MS,
  })
  await witness.videosEnded()
  expect(before - (await witness.account(accountId)).credits).toBe(4n * 2_000_000_000n)
  await witness.close()
  rmSync(directory, { recursive: true })
}

function order(
  url: string,
  key: string,
  prompt: string,
  headers: Record<string, string> = {},
): Promise<Answer> {
  return postJson(
    `${url}/v1/videos`,
    { model: 'sora-2', prompt, seconds: '4' },
    { authorization: `Bearer ${key}`, ...headers },
  )
}

function promptOf(request: ReceivedRequest): string {
  return (request.json() as { prompt: string }).prompt
}

/** Answers each task up to its step and keeps it waiting there; gives the steps that were reached. */
function holdAtSteps(): Set<string> {
  const held = new Set<string>()
  vendor.answer((request, response) => {
    if (request.method === 'POST') {
      const prompt = promptOf(request)
      if (prompt === 'ordering') held.add(prompt)
      else answerTask(response, `up-${prompt}`, 'queued')
      return
    }
    const [, step = '', content] = /^\/videos\/up-([^/]+)(\/content)?$/.exec(request.path) ?? []
    if (step === 'polled') held.add(step)
    else if (content === undefined) answerTask(response, `up-${step}`, 'completed')
    else if (step === 'finished') answerVideo(response)
    else {
      if (step === 'half-fetched') {
        response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': VIDEO.byteLength })
        response.write(VIDEO.subarray(0, VIDEO.byteLength / 2))
      }
      held.add(step)
    }
  })
  return held
}

function playToTheEnd(): void {
  vendor.answer((request, response) => {
    const [, step = '', content] = /^\/videos\/up-([^/]+)(\/content)?$/.exec(request.path) ?? []
    if (request.method === 'POST') answerTask(response, `up-${promptOf(request)}`, 'queued')
    else if (content === undefined) answerTask(response, `up-${step}`, 'completed')
    else answerVideo(response)
  })
}

function answerTask(response: ServerResponse, id: string, status: string): void {
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ id, object: 'video', status }))
}

function answerVideo(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'video/mp4' })
  response.end(VIDEO)
}
