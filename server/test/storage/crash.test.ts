/**
 * `kill -9` at any moment loses no finished call, charges none twice and leaves no hold
 * (docs/decisions/0004-storage-engines.md).
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { beforeAll, expect, test } from 'vitest'
import { ACCOUNT, credits } from '../../src/core/calls/examples.ts'
import { instanceId } from '../../src/core/ids.ts'
import {
  createAccount,
  exampleApiKey,
  NOW,
  TWO_CREDITS,
  recover,
} from '../../src/storage/conformance/suite.ts'
import { openStorage } from '../../src/storage/open.ts'
import type { Storage } from '../../src/storage/storage.ts'
import { createMigratedDatabase } from '../postgres/fresh-database.ts'
import { buildPrograms, programPath } from '../processes/programs.ts'

/** Beside the storage worker, where the built product looks for it. */
const CHILD = programPath('calls')
const LATER = NOW + 120_000
const OPENING = credits(10_000_000)
/** Answers after which each process is killed: early, and in full run. */
const KILLED_AFTER = [3, 150, 700]

beforeAll(buildPrograms)

/** A child's calls at once: as many reservations of a process that decides in its memory may not be written yet. */
const LOOPS = 16

test('SQLite: processes killed one after the other, each alone; only what was just reserved may leave no row', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'sluice-crash-'))
  const storage = await open({ dataDir, databaseUrl: undefined })
  await prepare(storage)
  await storage.close()
  const promised: string[] = []
  for (const [index, answers] of KILLED_AFTER.entries()) {
    promised.push(...(await runAndKill([`child_${index}`, dataDir], answers)))
  }
  const again = await open({ dataDir, databaseUrl: undefined })
  await expectWhole(again, promised, KILLED_AFTER.length * LOOPS)
  await again.close()
  rmSync(dataDir, { recursive: true })
})

test('SQLite: processes on one file, killed side by side', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'sluice-crash-'))
  const storage = await open({ dataDir, databaseUrl: undefined })
  await prepare(storage)
  const lines = await Promise.all(
    KILLED_AFTER.map((answers, index) => runAndKill([`child_${index}`, dataDir], answers)),
  )
  // Until the others have come, one of them is alone.
  await expectWhole(storage, lines.flat(), KILLED_AFTER.length * LOOPS)
  await storage.close()
  rmSync(dataDir, { recursive: true })
})

test('PostgreSQL: processes killed side by side', async () => {
  const database = await createMigratedDatabase()
  const storage = await open({ dataDir: '/nonexistent', databaseUrl: database.url })
  await prepare(storage)
  const lines = await Promise.all(
    KILLED_AFTER.map((answers, index) =>
      runAndKill([`child_${index}`, '/nonexistent', database.url], answers),
    ),
  )
  await expectWhole(storage, lines.flat())
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
    instanceId: instanceId('parent'),
    now: () => NOW,
    log: { warn: () => {} },
  })
}

async function prepare(storage: Storage): Promise<void> {
  await createAccount(storage, { credits: OPENING })
  await storage.keys.create(exampleApiKey({ policy: { concurrency: 1_000, windows: [] } }))
}

/** What the process had been answered when it was killed. */
function runAndKill(childArguments: readonly string[], answers: number): Promise<readonly string[]> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [CHILD, ...childArguments], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const lines: string[] = []
    createInterface({ input: child.stdout }).on('line', (line) => {
      lines.push(line)
      if (lines.length === answers) child.kill('SIGKILL')
    })
    child.on('error', reject)
    child.on('close', (_, signal) => {
      if (signal === 'SIGKILL') resolve(lines)
      else reject(new Error(`the process ended by itself after ${lines.length} answers`))
    })
  })
}

/** `unwritten`: at most so many calls that were reserved, and nothing more, may be unknown. */
async function expectWhole(storage: Storage, lines: readonly string[], unwritten = 0): Promise<void> {
  await storage.calls.heartbeat(instanceId('parent'), LATER)
  await recover(storage, { at: LATER, deadBefore: LATER - 30_000, leakedBefore: 0 })
  expect(await storage.ledger.verify()).toEqual([])
  expect(await storage.accounts.find(ACCOUNT)).toMatchObject({ held: 0n, monthHeld: 0n })
  const logs = await readLogs(storage)
  const charged = new Set(
    lines.flatMap((line) => (/^(?:settled|progressed) (.+)$/.exec(line) ?? []).slice(1)),
  )
  const reserved = lines.flatMap((line) => (/^reserved (.+)$/.exec(line) ?? []).slice(1))
  const unknown = reserved.filter((id) => !logs.has(id))
  expect(unknown.length).toBeLessThanOrEqual(unwritten)
  expect(unknown.filter((id) => charged.has(id))).toEqual([])
  expect([...charged].filter((id) => logs.get(id) !== TWO_CREDITS)).toEqual([])
  const spent = [...logs.values()].reduce((sum, deducted) => sum + deducted, 0n)
  expect((await storage.accounts.find(ACCOUNT))?.credits).toBe(OPENING - spent)
}

async function readLogs(storage: Storage): Promise<ReadonlyMap<string, bigint>> {
  const logs = new Map<string, bigint>()
  let cursor: string | undefined
  do {
    const page = await storage.logs.page({}, { limit: 1_000, cursor })
    for (const row of page.rows) logs.set(row.callId, row.deducted)
    cursor = page.next
  } while (cursor !== undefined)
  return logs
}
