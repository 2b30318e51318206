/**
 * `kill -9` of the real process at random moments under load: whatever was going on,
 * the ledger verifies afterwards, no hold is left, each finished call is charged once and exactly, and each cut one for
 * what the upstream had sent. `SLUICE_KILL_ROUNDS` sets how often; a failure prints its seed.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { get } from '../gateway/client.ts'
import { createMigratedDatabase } from '../postgres/fresh-database.ts'
import { type CountingUpstream, INPUT_TOKENS, openCountingUpstream } from './counting-upstream.ts'
import { KEY, writeGatewayFile } from './gateway-file.ts'
import { childrenOf } from './children.ts'
import { eventually, type Launched, launch } from './launch.ts'

const ROUNDS = Number(process.env['SLUICE_KILL_ROUNDS'] ?? 2)
const SEED = Number(process.env['SLUICE_KILL_SEED'] ?? Math.floor(Math.random() * 2 ** 31))
const CLI = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))
const STREAMS = 8
const STREAM_TOKENS = 150
const SHORT_TOKENS = 5
/** Between two short calls of one client: a faster one costs more of the machine and shows no more. */
const SHORT_PAUSE_MS = 10
/** The store hears of a running call once a second; the rest is for writing it. */
const LOST_AT_MOST_MS = 1_500
/** A process alone on SQLite stores a reservation some milliseconds after it was answered; the rest is for writing it. */
const UNSTORED_AT_MOST_MS = 250
/** A process that is late with its tokens is as late with what it writes; the one waits for the other. */
const LATE_TIMES = 3

let upstream: CountingUpstream
let directory: string
let environment: Record<string, string>

beforeEach(async () => {
  upstream = await openCountingUpstream()
  directory = mkdtempSync(join(tmpdir(), 'sluice-kill-'))
  environment = {
    SLUICE_DATA_DIR: join(directory, 'data'),
    SLUICE_CONFIG: writeGatewayFile(directory, { upstream: upstream.url, credits: 100_000_000 }),
  }
})

afterEach(async () => {
  await upstream.close()
  rmSync(directory, { recursive: true })
})

test(
  `SQLite: one process, killed and started again ${ROUNDS} times (seed ${SEED})`,
  async () => {
    const draw = randomNumbers(SEED)
    const calls: Call[] = []
    let running = await launch(environment)
    for (let round = 0; round < ROUNDS; round++) {
      calls.push(...(await loadAndKill([running], { round, draw })))
      running = await launch(environment)
      // With the next start, not four heartbeats later.
      expect(await nothingIsHeld(running)).toBe(true)
    }
    await expectWhole(running, calls, { unstoredAtMostMs: UNSTORED_AT_MOST_MS })
    await running.stop()
  },
  300_000 + ROUNDS * 60_000,
)

test(
  `PostgreSQL: three instances, one of them killed ${ROUNDS} times (seed ${SEED})`,
  async () => {
    const draw = randomNumbers(SEED + 1)
    const database = await createMigratedDatabase()
    Object.assign(environment, {
      SLUICE_DATABASE_URL: database.url,
      SLUICE_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
    })
    const calls: Call[] = []
    const instances = [await launch(environment)]
    instances.push(...(await Promise.all([launch(environment), launch(environment)])))
    for (let round = 0; round < ROUNDS; round++) {
      const victim = Math.floor(draw() * instances.length)
      calls.push(...(await loadAndKill(instances, { round, draw, victim })))
      instances[victim] = await launch(environment)
    }
    const [first, ...others] = instances
    if (first === undefined) throw new Error('no instance is left')
    await eventually('no hold is left', () => nothingIsHeld(first))
    await expectWhole(first, calls)
    await Promise.all([first, ...others].map((instance) => instance.stop()))
    await database.drop()
  },
  300_000 + ROUNDS * 60_000,
)

test(
  `SQLite: two workers, one of them killed ${ROUNDS} times (seed ${SEED})`,
  async () => {
    const draw = randomNumbers(SEED + 2)
    environment['SLUICE_WORKERS'] = '2'
    const calls: Call[] = []
    const running = await launch(environment)
    const workers = () => childrenOf(running.process.pid ?? 0)
    for (let round = 0; round < ROUNDS; round++) {
      const before = workers()
      const victim = before[Math.floor(draw() * before.length)] ?? 0
      const kill = async () => void process.kill(victim, 'SIGKILL')
      calls.push(...(await loadAndKill([running], { round, draw, kill })))
      await eventually('another worker took its place', async () => {
        const now = workers()
        // Both tell their figures: both listen.
        const figures = (await get(`${running.opsUrl}/metrics`)).text
        const listening = figures.match(/^sluice_starts_total\{worker="/gm)?.length
        return now.length === 2 && !now.includes(victim) && listening === 2
      })
    }
    await eventually('no hold is left', () => nothingIsHeld(running))
    await expectWhole(running, calls)
    await running.stop()
  },
  300_000 + ROUNDS * 60_000,
)

interface Call {
  readonly user: string
  readonly tokens: number
  /** The client saw the end. */
  readonly finished: boolean
  /** Epoch ms. */
  readonly begunAt: number
  /** When the client had each token of a stream, epoch ms. */
  readonly heard: readonly number[]
  /** Epoch ms of the kill. */
  readonly killedAt: number
}

/** Streams and short calls over all instances; one instance dies at a random moment; resolves when every client is done. */
async function loadAndKill(
  instances: readonly Launched[],
  how: {
    readonly round: number
    readonly draw: () => number
    readonly victim?: number
    /** Absent: the victim as a whole. */
    readonly kill?: () => Promise<void>
  },
): Promise<readonly Call[]> {
  const { round, draw, victim = 0 } = how
  const ended: Omit<Call, 'killedAt'>[] = []
  let killed = false
  const pick = (): Launched => {
    const instance = instances[Math.floor(draw() * instances.length)]
    if (instance === undefined) throw new Error('no instance')
    return instance
  }
  const one = async (user: string, tokens: number, stream: boolean): Promise<void> => {
    const protocol = draw() < 0.5 ? 'chat' : 'messages'
    const begunAt = Date.now()
    const { finished, heard } = await call(pick().baseUrl, { user, tokens, stream, protocol })
    ended.push({ user, tokens, finished, begunAt, heard })
  }
  const streams = Array.from({ length: STREAMS }, (_, index) =>
    one(`r${round}-stream-${index}`, STREAM_TOKENS, true),
  )
  const shorts = Array.from({ length: 4 }, async (_, lane) => {
    for (let index = 0; !killed; index++) {
      await one(`r${round}-short-${lane}-${index}`, SHORT_TOKENS, false)
      await new Promise((resolve) => setTimeout(resolve, SHORT_PAUSE_MS))
    }
  })
  await new Promise((resolve) => setTimeout(resolve, draw() * 3_000))
  const killedAt = Date.now()
  await (how.kill?.() ?? instances[victim]?.kill())
  killed = true
  await Promise.all([...streams, ...shorts])
  return ended.map((call) => ({ ...call, killedAt }))
}

/** `finished`: the whole answer arrived. */
function call(
  baseUrl: string,
  order: {
    readonly user: string
    readonly tokens: number
    readonly stream: boolean
    readonly protocol: 'chat' | 'messages'
  },
): Promise<Pick<Call, 'finished' | 'heard'>> {
  const { path, body, end } = wireOf(order)
  const heard: number[] = []
  return new Promise((resolve) => {
    const sending = request(
      `${baseUrl}${path}`,
      {
        method: 'POST',
        headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
      },
      (response) => {
        let text = ''
        response.on('data', (chunk: Buffer) => {
          const piece = chunk.toString('utf8')
          text += piece
          for (const _token of piece.matchAll(/"(?:content|text)":" the"/g)) heard.push(Date.now())
        })
        response.on('close', () => {
          const isWhole = !order.stream || text.trimEnd().endsWith(end)
          resolve({ finished: response.complete && response.statusCode === 200 && isWhole, heard })
        })
        response.on('error', () => undefined)
      },
    )
    sending.on('error', () => resolve({ finished: false, heard }))
    sending.end(body)
  })
}

/** The upstream speaks chat: messages are converted both ways. `end`: what the last event of a whole stream says. */
function wireOf({ user, tokens, stream, protocol }: Parameters<typeof call>[1]) {
  const plain = { model: 'm', messages: [{ role: 'user', content: 'hi' }], max_tokens: tokens, stream }
  if (protocol === 'messages') {
    const body = JSON.stringify({ ...plain, metadata: { user_id: user } })
    return { path: '/v1/messages', body, end: 'data: {"type":"message_stop"}' }
  }
  const body = JSON.stringify({ ...plain, user, stream_options: { include_usage: true } })
  return { path: '/v1/chat/completions', body, end: 'data: [DONE]' }
}

async function nothingIsHeld({ baseUrl }: Launched): Promise<boolean> {
  const { body } = await get(`${baseUrl}/api/v1/user/user/account`, { authorization: `Bearer ${KEY}` })
  const { held_credits } = body.data as { readonly held_credits: string }
  return Number(held_credits) === 0
}

interface LogRow {
  readonly user: string
  readonly deducted: string | number
  readonly usage: { readonly input: number | null; readonly output: number | null }
}

/** `unstoredAtMostMs`: how long before the kill the vendor may have been asked for a call that left no row. */
async function expectWhole(
  running: Launched,
  calls: readonly Call[],
  { unstoredAtMostMs = 0 }: { readonly unstoredAtMostMs?: number } = {},
): Promise<void> {
  const rows = await readLog(running)
  const byUser = groupByUser(rows)
  const lateMs = LATE_TIMES * latenessOf(calls)
  const lostAtMostMs = LOST_AT_MOST_MS + lateMs
  const unstoredMs = unstoredAtMostMs + Math.max(lateMs, LATE_TIMES * askedLate(calls))
  const mayBeUnstored = (askedAt: number, { killedAt }: Call) =>
    unstoredAtMostMs > 0 && askedAt > killedAt - unstoredMs
  const wrong: string[] = []
  for (const call of calls) {
    const found = byUser.get(call.user) ?? []
    const sent = upstream.sent(call.user)
    if (found.length > 1) wrong.push(`${call.user}: ${found.length} log rows`)
    const [row] = found
    const [askedAt] = sent
    // A call that never got as far as a reservation leaves no trace and costs nothing.
    if (row === undefined) {
      if (call.finished) wrong.push(`${call.user}: finished, but not in the log`)
      else if (askedAt !== undefined && !mayBeUnstored(askedAt, call))
        wrong.push(`${call.user}: ${sent.length} sent, but not in the log`)
      continue
    }
    const deducted = Number(row.deducted)
    if (call.finished) {
      if (deducted !== INPUT_TOKENS + call.tokens) wrong.push(`${call.user}: finished, charged ${deducted}`)
      continue
    }
    const output = row.usage.output ?? 0
    const surely = call.heard.filter((at) => at < call.killedAt - lostAtMostMs).length
    if (output > sent.length || output < surely)
      wrong.push(`${call.user}: cut, ${sent.length} sent, ${surely} heard long before, ${output} charged`)
    const used = (row.usage.input ?? 0) + output
    if (deducted !== used) wrong.push(`${call.user}: cut, ${used} tokens used, ${deducted} charged`)
  }
  expect(wrong).toEqual([])
  const spent = rows.reduce((sum, row) => sum + Number(row.deducted), 0)
  const { body } = await get(`${running.baseUrl}/api/v1/user/user/account`, {
    authorization: `Bearer ${KEY}`,
  })
  expect(body.data).toMatchObject({ held_credits: '0' })
  expect(Number((body.data as { readonly credits: string }).credits)).toBe(100_000_000 - spent)
  const verified = spawnSync(process.execPath, [CLI, 'verify'], {
    env: { PATH: process.env['PATH'] ?? '', ...environment },
    encoding: 'utf8',
  })
  expect(verified.stdout + verified.stderr).toContain('is what the ledger says')
  expect(verified.status).toBe(0)
}

/** How long a token was waited for at the longest: the machine may be busy with something else. */
function latenessOf(calls: readonly Call[]): number {
  const gaps = calls.flatMap(({ heard }) => heard.map((at, index) => at - (heard[index - 1] ?? at)))
  return Math.max(0, ...gaps)
}

/** The same of the vendor, which is asked once a call is reserved. */
function askedLate(calls: readonly Call[]): number {
  return Math.max(0, ...calls.map(({ user, begunAt }) => (upstream.sent(user)[0] ?? begunAt) - begunAt))
}

function groupByUser(rows: readonly LogRow[]): Map<string, LogRow[]> {
  const groups = new Map<string, LogRow[]>()
  for (const row of rows) groups.set(row.user, [...(groups.get(row.user) ?? []), row])
  return groups
}

async function readLog({ baseUrl }: Launched): Promise<readonly LogRow[]> {
  const rows: LogRow[] = []
  let cursor = ''
  for (;;) {
    const { body } = await get(`${baseUrl}/api/v1/user/user/logs?limit=200${cursor}`, {
      authorization: `Bearer ${KEY}`,
    })
    rows.push(...(body.data as readonly LogRow[]))
    const next = body['next_cursor']
    if (typeof next !== 'string') return rows
    cursor = `&cursor=${encodeURIComponent(next)}`
  }
}

/** Mulberry32: small, and the same everywhere. */
function randomNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
