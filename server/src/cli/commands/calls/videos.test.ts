import { openStoreIn } from '../../../../test/cli/command-line.ts'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ACCOUNT, CHAIN, credits, exampleReserve, KEY, VENDOR } from '../../../core/calls/examples.ts'
import { createAccount, exampleApiKey, INSTANCE, NOW } from '../../../storage/conformance/suite.ts'
import { callOf, exampleTask, settleTask } from '../../../storage/conformance/videos.ts'
import type { Storage } from '../../../storage/storage.ts'
import type { VideoTask } from '../../../core/video/task.ts'
import { run } from '../../run.ts'

let directory: string
let storage: Storage

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sluice-cli-'))
  storage = await openStoreIn(directory, { now: () => NOW })
  await createAccount(storage)
  await storage.keys.create(exampleApiKey())
})
afterEach(async () => {
  await storage.close()
  await rm(directory, { recursive: true, force: true })
})

const AT = NOW + 3_723_000

async function sluice(...argv: readonly string[]) {
  let out = ''
  let err = ''
  const code = await run(['videos', ...argv], {
    environment: { SLUICE_DATA_DIR: directory },
    workingDirectory: directory,
    now: () => AT,
    out: (text) => {
      out += text
    },
    err: (text) => {
      err += text
    },
    readInput: async () => '',
  })
  return { code, out, err }
}

const description = {
  requestId: 'request_1',
  createdAt: NOW,
  endpoint: '/v1/videos',
  clientProtocol: 'video',
  modelRequested: 'veo',
  stream: false,
  user: undefined,
  appId: 'app_1',
  customId: undefined,
}

async function createTask(id: string, changes: Partial<VideoTask> = {}): Promise<void> {
  await storage.calls.reserve(exampleReserve(callOf(id), { description }))
  const detail = JSON.parse(JSON.stringify({ description }))
  const task = exampleTask(id, { detail, ...changes })
  await storage.videos.create(task, undefined, { instance: INSTANCE, until: AT + 30_000 })
}

const RUNNING = {
  phase: 'running',
  status: 'in_progress',
  chainId: CHAIN,
  vendorCode: VENDOR,
  progress: 33.3,
  polls: 12,
  dueAt: AT + 90_000,
  lastAnswer: 'status 200\nprocessing',
} as const

test('lists what runs, oldest first, on a line each', async () => {
  await createTask('video_2', { createdAt: AT - 5_000, dueAt: AT })
  await createTask('video_1', RUNNING)
  await createTask('video_3')
  await storage.calls.settle(settleTask('video_3'))
  const { code, out } = await sluice()
  expect(code).toBe(0)
  const [head = '', ...rows] = out.trimEnd().split('\n')
  expect(head).toMatch(/^ID +AGE +MODEL +CHAIN +PHASE +PROGRESS +POLLS +NEXT LOOK +LAST ANSWER$/)
  expect(rows).toHaveLength(2)
  expect(rows[0]).toMatch(
    /^video_1 +1 h 2 min +\S+ +\d+ \S+ +running +33 % +12 +in 1 min 30 s +status 200 processing$/,
  )
  expect(rows[1]).toMatch(/^video_2 +5 s +\S+ +- +intent +0 % +0 +now +-$/)
})

test('--json prints the same for programs', async () => {
  await createTask('video_1', RUNNING)
  const { out } = await sluice('--json')
  expect(JSON.parse(out)).toMatchObject([
    {
      id: 'video_1',
      age_seconds: 3_723,
      chain_id: CHAIN,
      vendor_code: VENDOR,
      phase: 'running',
      progress: 33.3,
      last_answer: 'status 200\nprocessing',
    },
  ])
})

test('repoll makes the next poll earlier, whichever instance holds the task', async () => {
  await createTask('video_1', RUNNING)
  expect(await sluice('repoll', 'video_1')).toMatchObject({ code: 0, out: '' })
  expect(await storage.videos.read('video_1')).toMatchObject({ dueAt: AT, phase: 'running' })
})

test('fail ends the task with its money given back, once, and the ledger stays whole', async () => {
  await createTask('video_1', RUNNING)
  expect(await sluice('fail', 'video_1', '--reason', 'stuck since noon')).toMatchObject({ code: 0 })
  expect(await storage.videos.find('video_1', KEY)).toMatchObject({
    phase: 'ended',
    status: 'failed',
    completedAt: AT,
    error: {
      status: 502,
      gatewayCode: 50201,
      accepted: true,
      message: expect.stringContaining('stuck since noon'),
    },
  })
  expect(await storage.accounts.find(ACCOUNT)).toMatchObject({ credits: credits(1_000), held: 0n })
  const { rows } = await storage.logs.page({}, { limit: 9, cursor: undefined })
  expect(rows).toMatchObject([
    {
      requestId: 'request_1',
      appId: 'app_1',
      httpStatus: 502,
      code: 50201,
      vendorCode: VENDOR,
      deducted: 0n,
    },
  ])
  expect(await sluice('fail', 'video_1')).toMatchObject({
    code: 4,
    err: expect.stringContaining('is failed'),
  })
  expect(await storage.ledger.verify()).toEqual([])
})

test.each([['repoll'], ['fail']])(
  '%s of a task that has ended, or is unknown, changes nothing',
  async (verb) => {
    await createTask('video_1')
    await storage.calls.settle(settleTask('video_1'))
    const ended = await storage.videos.read('video_1')
    expect(await sluice(verb, 'video_1')).toMatchObject({
      code: 4,
      err: expect.stringContaining('completed'),
    })
    expect(await sluice(verb, 'video_9')).toMatchObject({
      code: 4,
      err: expect.stringContaining('no video task'),
    })
    expect(await storage.videos.read('video_1')).toEqual(ended)
    expect(await storage.accounts.find(ACCOUNT)).toMatchObject({ credits: credits(998), held: 0n })
  },
)

test('fail says so where the call of a running task is gone', async () => {
  await createTask('video_1')
  await storage.calls.abandon({
    callId: callOf('video_1'),
    keyId: KEY,
    accountId: ACCOUNT,
    at: NOW,
    sent: false,
    log: exampleRow(),
  })
  expect(await sluice('fail', 'video_1')).toMatchObject({
    code: 1,
    err: expect.stringContaining('sluice verify'),
  })
})

const exampleRow = () => settleTask('video_1').log
