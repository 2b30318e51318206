/**
 * `kill -9` in the middle of calls that are no conversation: the next process ends each of them once, charges what is on
 * record, never orders anew, gives back what was held, and says so in the log.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { PassedFormId } from '../../../src/core/catalogue.ts'
import { NO_TOKEN_PRICES, openGateway, putChain, putModel, putVendor } from '../../gateway/gateway.ts'
import {
  type Answerer,
  answerJson,
  openScriptedUpstream,
  type ScriptedUpstream,
} from '../../gateway/scripted-upstream.ts'
import { eventually } from '../../gateway/videos.ts'
import { createMigratedDatabase } from '../../postgres/fresh-database.ts'
import { buildPrograms } from '../../processes/programs.ts'
import { taskGateways } from '../../processes/task-gateway.ts'
import { waveFile } from '../wave-file.ts'

/** The killed process counts as silent by then. */
const AHEAD_MS = 60_000
const PATIENT = { timeout: 300_000 }
const CREDIT = 1_000_000n
/** The store hears of a running answer once a second; all of these have been running for longer. */
const ON_RECORD_MS = 1_500

const PATHS = {
  embeddings: '/v1/embeddings',
  images: '/v1/images/generations',
  speech: '/v1/audio/speech',
  transcription: '/v1/audio/transcriptions',
} as const satisfies Partial<Record<PassedFormId, string>>

const PRICES = {
  embeddings: { billingModes: ['request' as const], requestPrice: '0.01' },
  images: { billingModes: ['image' as const], imagePrice: '0.3' },
  speech: { billingModes: ['character' as const], characterPrice: '1000' },
  transcription: { billingModes: ['audio_second' as const], audioSecondPrice: '0.01' },
} as const

interface Step {
  readonly kind: keyof typeof PATHS
  /** The client is told everything before the kill. */
  readonly whole?: true
  /** It hangs up before the kill. */
  readonly leaves?: true
  /** The vendor's part, until the kill. */
  readonly answer: Answerer
  /** Of the log row after recovery, µCr. */
  readonly charged: bigint
  readonly ending: 'complete' | 'recovered'
}

const silent: Answerer = () => undefined
/** It begins, and says nothing more. */
const begin =
  (type: string, piece: Uint8Array | string): Answerer =>
  (_request, response) => {
    response.writeHead(200, { 'content-type': type })
    response.write(piece)
  }
const TASK = answerJson({ request_id: 'r', output: { task_id: 't1', task_status: 'RUNNING' } })

/** Where each call stands when its process is killed, and what becomes of it. */
const STEPS = {
  'embeddings that are whole': {
    kind: 'embeddings',
    whole: true,
    answer: answerJson({ object: 'list', data: [{ index: 0, embedding: [0.5] }], model: 'x' }),
    charged: 10n * CREDIT,
    ending: 'complete',
  },
  'embeddings that were asked for': { kind: 'embeddings', answer: silent, charged: 0n, ending: 'recovered' },
  'a picture that was asked for': { kind: 'images', answer: silent, charged: 0n, ending: 'recovered' },
  'a picture of which half has come': {
    kind: 'images',
    answer: begin('application/json', '{"created":1,"data":[{"b64_json":"aaaa'),
    charged: 0n,
    ending: 'recovered',
  },
  'a picture that flows in more than a megabyte': {
    kind: 'images',
    answer: begin('application/json', `{"created":1,"data":[{"b64_json":"${'a'.repeat(2_000_000)}"}`),
    charged: 300n * CREDIT,
    ending: 'recovered',
  },
  'a picture that is made as a task': { kind: 'images', answer: TASK, charged: 0n, ending: 'recovered' },
  'a task that its client has left': {
    kind: 'images',
    leaves: true,
    answer: TASK,
    charged: 0n,
    ending: 'recovered',
  },
  'a voice that speaks': {
    kind: 'speech',
    answer: begin('audio/mpeg', Buffer.alloc(4_096, 1)),
    charged: 5n * CREDIT,
    ending: 'recovered',
  },
  'a voice that is silent yet': { kind: 'speech', answer: silent, charged: 0n, ending: 'recovered' },
  'a voice that is whole': {
    kind: 'speech',
    whole: true,
    answer: (_request, response) => {
      response.writeHead(200, { 'content-type': 'audio/mpeg' })
      response.end(Buffer.alloc(4_096, 1))
    },
    charged: 5n * CREDIT,
    ending: 'complete',
  },
  'sound that is listened to': { kind: 'transcription', answer: silent, charged: 0n, ending: 'recovered' },
  'sound that is whole': {
    kind: 'transcription',
    whole: true,
    answer: answerJson({ text: 'Hello' }),
    charged: 10n * CREDIT,
    ending: 'complete',
  },
} as const satisfies Readonly<Record<string, Step>>
type Name = keyof typeof STEPS
const NAMES = Object.keys(STEPS).filter((name): name is Name => name in STEPS)
const stepOf = (name: Name): Step => STEPS[name]
const modelOf = (name: Name) => name.replaceAll(' ', '-')
const isTask = (name: Name) => stepOf(name).answer === TASK

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

describe('a call whose process is killed is ended once by another', () => {
  test('on SQLite', PATIENT, () => expectRecovery(undefined))

  test('on PostgreSQL', PATIENT, async () => {
    const database = await createMigratedDatabase()
    await expectRecovery(database.url)
    await database.drop()
  })
})

async function expectRecovery(databaseUrl: string | undefined): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-kinds-crash-'))
  const environment = {
    SLUICE_DATA_DIR: directory,
    ...(databaseUrl === undefined ? {} : { SLUICE_DATABASE_URL: databaseUrl }),
  }
  const gateway = await openGateway({ environment })
  const timeouts = { firstByteMs: 240_000, idleMs: 240_000 }
  await gateway.catalogue(
    ...putVendor('acme', vendor.url, { timeouts }),
    ...putVendor('dashscope', vendor.url, { kind: 'dashscope', timeouts }),
    ...NAMES.flatMap((name) => [
      putModel(modelOf(name), { pricing: { ...NO_TOKEN_PRICES, ...PRICES[stepOf(name).kind] } }),
      putChain({
        model: modelOf(name),
        vendor: isTask(name) ? 'dashscope' : 'acme',
        protocol: stepOf(name).kind,
        forward: isTask(name) ? 'wanx-v1' : `${modelOf(name)}.`,
      }),
    ]),
  )
  const { key, accountId } = gateway
  const before = (await gateway.account()).credits
  await gateway.close()

  vendor.requests.length = 0
  vendor.answer(play)
  const first = await gateways.open(environment)
  for (const name of NAMES) await begun(first.url, key, name)
  await new Promise((resolve) => setTimeout(resolve, ON_RECORD_MS))
  await first.kill()

  const ordered = () => vendor.requests.filter(({ method }) => method === 'POST')
  expect(ordered()).toHaveLength(NAMES.length)
  const witness = await openGateway({
    environment,
    owner: 'witness@example.com',
    now: () => Date.now() + AHEAD_MS,
  })
  await eventually(async () => (await witness.account(accountId)).held === 0n)
  expect(await witness.storage.ledger.verify()).toEqual([])
  const rows = await witness.logs()
  const seen = NAMES.map((name) => ({
    name,
    rows: rows
      .filter(({ modelRequested }) => modelRequested === modelOf(name))
      .map(({ deducted, ending }) => ({ deducted, ending })),
  }))
  expect(seen).toEqual(
    NAMES.map((name) => ({ name, rows: [{ deducted: stepOf(name).charged, ending: stepOf(name).ending }] })),
  )
  const total = NAMES.reduce((sum, name) => sum + stepOf(name).charged, 0n)
  expect(before - (await witness.account(accountId)).credits).toBe(total)
  expect(ordered()).toHaveLength(NAMES.length)
  await witness.close()
  rmSync(directory, { recursive: true, force: true })
}

const reachedBy = new Map<Name, () => void>()

/** Each call names its step, all but the questions about tasks. */
const play: Answerer = async (request, response) => {
  if (request.method === 'GET') return TASK(request, response)
  const text = request.body.toString('latin1')
  const name = NAMES.find((one) => text.includes(`${modelOf(one)}.`))
  if (name === undefined) throw new Error('nobody asked for this')
  await stepOf(name).answer(request, response)
  reachedBy.get(name)?.()
}

/** Resolves when the call stands where its step says. */
async function begun(url: string, key: string, name: Name): Promise<void> {
  const { kind, whole, leaves } = stepOf(name)
  const reached = new Promise<void>((resolve) => reachedBy.set(name, resolve))
  const leaving = new AbortController()
  const call = fetch(`${url}${PATHS[kind]}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      ...(kind === 'transcription' ? {} : { 'content-type': 'application/json' }),
    },
    body: bodyOf(kind, name),
    signal: leaving.signal,
  }).then(async (response) => {
    await response.arrayBuffer()
    return response.status
  })
  if (whole === true) {
    expect(await call).toBe(200)
    return
  }
  const lost = call.catch(() => 'lost')
  await reached
  if (leaves === true) {
    leaving.abort()
    await lost
  }
}

function bodyOf(kind: Step['kind'], name: Name): FormData | string {
  const model = modelOf(name)
  if (kind === 'embeddings') return JSON.stringify({ model, input: 'Hi' })
  if (kind === 'images') return JSON.stringify({ model, prompt: `${model}.` })
  if (kind === 'speech') return JSON.stringify({ model, input: 'Hello', voice: 'v' })
  const form = new FormData()
  form.set('model', model)
  form.set('file', new Blob([new Uint8Array(waveFile(1))], { type: 'audio/wav' }), 'a.wav')
  return form
}
