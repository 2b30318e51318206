/**
 * `kill -9` before, in and after every step of a video task's life: whoever comes next leases it, ends it, and it is billed
 * once; a call whose task was never written is given back.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { beforeAll, expect, test, vi } from 'vitest'
import { ACCOUNT, credits, KEY } from '../../src/core/calls/examples.ts'
import { callId, instanceId } from '../../src/core/ids.ts'
import { createAccount, exampleApiKey, NOW, recover } from '../../src/storage/conformance/suite.ts'
import { callOf, settleTask } from '../../src/storage/conformance/videos.ts'
import { openStorage } from '../../src/storage/open.ts'
import type { Storage } from '../../src/storage/storage.ts'
import { createMigratedDatabase } from '../postgres/fresh-database.ts'
import { buildPrograms, programPath } from '../processes/programs.ts'

/** Beside the storage worker, where the built product looks for it. */
const CHILD = programPath('video-task')
/** Every lease has run out, and every instance but the parent is dead. */
const LATER = NOW + 1_200_000
const PARENT = instanceId('parent')
const WAIT = { timeout: 60_000, interval: 50 }

const STEPS = ['reserve', 'intent', 'sent', 'running', 'polled', 'fetching', 'settled'] as const
const MOMENTS = STEPS.flatMap((step) => [`begin ${step}`, `done ${step}`])

beforeAll(buildPrograms)

test('SQLite: a task killed at any moment ends once', { timeout: 300_000 }, async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'sluice-crash-'))
  const storage = await open({ dataDir, databaseUrl: undefined })
  await prepare(storage)
  await storage.close()
  for (const moment of MOMENTS) await runAndKill(moment, [dataDir])
  const again = await open({ dataDir, databaseUrl: undefined })
  await expectEndedOnce([again])
  await again.close()
  rmSync(dataDir, { recursive: true })
})

test('PostgreSQL: a task killed at any moment ends once, by one of two instances', {
  timeout: 300_000,
}, async () => {
  const database = await createMigratedDatabase()
  const where = { dataDir: '/nonexistent', databaseUrl: database.url }
  const storage = await open(where)
  await prepare(storage)
  // A few at a time: the machine has two cores.
  for (let from = 0; from < MOMENTS.length; from += 4) {
    const some = MOMENTS.slice(from, from + 4)
    await Promise.all(some.map((moment) => runAndKill(moment, ['/nonexistent', database.url])))
  }
  const other = await open(where)
  await expectEndedOnce([storage, other])
  await other.close()
  await storage.close()
  await database.drop()
})

function open(where: {
  readonly dataDir: string
  readonly databaseUrl: string | undefined
}): Promise<Storage> {
  return openStorage({
    ...where,
    secretKey: new Uint8Array(32).fill(1),
    instanceId: PARENT,
    now: () => NOW,
    log: { warn: () => {} },
  })
}

async function prepare(storage: Storage): Promise<void> {
  await createAccount(storage, { credits: credits(1_000) })
  await storage.keys.create(exampleApiKey({ policy: { concurrency: 100, windows: [] } }))
}

const idOf = (moment: string) => `video_${moment.replace(' ', '_')}`

function runAndKill(moment: string, where: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [CHILD, idOf(moment), moment, ...where], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    createInterface({ input: child.stdout }).on('line', () => child.kill('SIGKILL'))
    child.on('error', reject)
    child.on('close', (_, signal) => {
      if (signal === 'SIGKILL') resolve()
      else reject(new Error(`the process ended by itself, not when it was killed at "${moment}"`))
    })
  })
}

async function expectEndedOnce(storages: readonly Storage[]): Promise<void> {
  const [storage] = storages
  if (storage === undefined) throw new Error('no storage')
  const at = LATER
  await storage.calls.heartbeat(PARENT, at)
  const bounds = { at, deadBefore: at - 30_000, leakedBefore: at - 600_000 }
  // What the server still undoes of a killed process is locked, and leased the next time.
  await vi.waitFor(async () => {
    await Promise.all(storages.map((one) => recover(one, bounds)))
    expect(await storage.ledger.verify()).toEqual([])
    await endAll(storages, at)
    expect(await storage.accounts.find(ACCOUNT)).toMatchObject({ held: 0n })
    expect(await storage.videos.list({ open: true, limit: 100, after: undefined, order: 'asc' })).toEqual([])
  }, WAIT)
  expect(await storage.ledger.verify()).toEqual([])
  await expectBilled(storage)
}

/** Both ends of a lease that ran out may go on with a task; the second finds it ended. */
async function endAll(storages: readonly Storage[], at: number): Promise<void> {
  const leases = await Promise.all(
    storages.map((one) => one.videos.lease({ instance: PARENT, at, until: at + 30_000, limit: 100 })),
  )
  const leased = [...new Set(leases.flat().map(({ id }) => id))]
  await Promise.all(storages.flatMap((one) => leased.map((id) => one.calls.settle(settleTask(id)))))
}

async function expectBilled(storage: Storage): Promise<void> {
  const { rows } = await storage.logs.page({}, { limit: 100, cursor: undefined })
  const deducted = new Map(rows.map((row) => [row.callId, row.deducted]))
  let billed = 0n
  for (const moment of MOMENTS) {
    const id = idOf(moment)
    const task = await storage.videos.find(id, KEY)
    // Killed while it was written, the intent is there or it is not.
    const mayBeMissing = moment.endsWith('reserve') || moment === 'begin intent'
    if (!mayBeMissing) expect([moment, task?.phase]).toEqual([moment, 'ended'])
    const call = callId(callOf(id))
    if (task !== undefined) {
      expect([moment, deducted.get(call)]).toEqual([moment, credits(2)])
      billed += credits(2)
    } else if (moment !== 'begin reserve') {
      expect([moment, deducted.get(call)]).toEqual([moment, 0n])
    }
  }
  expect(rows.length).toBe(deducted.size)
  expect(await storage.accounts.find(ACCOUNT)).toMatchObject({ credits: credits(1_000) - billed, held: 0n })
}
