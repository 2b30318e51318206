/** Calls whose answers are counted, and whether each that arrived whole was charged what it costs. */
import { execFile } from 'node:child_process'
import { request } from 'node:http'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import { get } from '../house/client.ts'
import { INPUT_TOKENS } from './counting-upstream.ts'
import { KEY } from './gateway-file.ts'
import { eventually, type Launched } from './launch.ts'

const CLI = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))
/** Between two tokens of a stream. */
export const PAUSE_MS = 20

/** A call whose whole answer a client received. */
export interface Finished {
  readonly user: string
  readonly tokens: number
}

/** True when the whole answer arrived. */
export function call(
  baseUrl: string,
  { user, tokens, stream }: Finished & { readonly stream: boolean },
): Promise<boolean> {
  return new Promise((resolve) => {
    const sending = request(
      `${baseUrl}/v1/chat/completions`,
      { method: 'POST', headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' } },
      (response) => {
        let text = ''
        response.on('data', (chunk: Buffer) => {
          text += chunk.toString('utf8')
        })
        response.on('error', () => undefined)
        response.on('close', () => {
          const isWhole = response.complete && response.statusCode === 200
          resolve(isWhole && (!stream || text.endsWith('data: [DONE]\n\n')))
        })
      },
    )
    sending.on('error', () => resolve(false))
    sending.end(
      JSON.stringify({
        model: 'm',
        messages: [{ role: 'user', content: 'hi' }],
        user,
        max_tokens: tokens,
        pause_ms: PAUSE_MS,
        stream,
        stream_options: stream ? { include_usage: true } : undefined,
      }),
    )
  })
}

const authorization = { authorization: `Bearer ${KEY}` }

async function account({ baseUrl }: Launched): Promise<{ readonly held: number; readonly credits: number }> {
  const { body } = await get(`${baseUrl}/api/v1/user/user/account`, authorization)
  const data = body.data as { readonly held_credits: string; readonly credits: string } | undefined
  return { held: Number(data?.held_credits ?? Number.NaN), credits: Number(data?.credits ?? Number.NaN) }
}

async function pendingOf({ opsUrl }: Launched): Promise<number> {
  const { text } = await get(`${opsUrl}/metrics`)
  return Number(/^sluice_pending_operations (\d+)/m.exec(text)?.[1] ?? Number.NaN)
}

interface LogRow {
  readonly user: string
  readonly deducted: string | number
  readonly ending: string
}

async function readLog({ baseUrl }: Launched): Promise<readonly LogRow[]> {
  const rows: LogRow[] = []
  for (let cursor = ''; ; ) {
    const { body } = await get(`${baseUrl}/api/v1/user/user/logs?limit=200${cursor}`, authorization)
    rows.push(...(body.data as readonly LogRow[]))
    const next = body['next_cursor']
    if (typeof next !== 'string') return rows
    cursor = `&cursor=${encodeURIComponent(next)}`
  }
}

/** Every answer that arrived whole was charged once and exactly, nothing is held, and the books agree. */
export async function expectCharged(
  running: readonly Launched[],
  finished: readonly Finished[],
  known: {
    readonly environment: Readonly<Record<string, string>>
    /** What the account had in the beginning. */
    readonly credits: number
    readonly withinMs: number
  },
): Promise<void> {
  const [first] = running
  if (first === undefined) throw new Error('no instance runs')
  const settled = async () => {
    const pending = await Promise.all(running.map(pendingOf))
    return pending.every((count) => count === 0) && (await account(first)).held === 0
  }
  await eventually('everything is written and nothing is held', settled, known.withinMs)
  const rows = await readLog(first)
  const charged = new Map<string, number[]>()
  for (const { user, deducted } of rows) charged.set(user, [...(charged.get(user) ?? []), Number(deducted)])
  const wrong = finished
    .map(({ user, tokens }) => ({ user, expected: [INPUT_TOKENS + tokens], charged: charged.get(user) }))
    .filter((one) => JSON.stringify(one.expected) !== JSON.stringify(one.charged))
  process.stdout.write(`${finished.length} whole answers, ${rows.length} log rows, ${wrong.length} wrong\n`)
  expect(finished.length).toBeGreaterThan(4)
  expect(wrong).toEqual([])
  const spent = rows.reduce((sum, { deducted }) => sum + Number(deducted), 0)
  expect((await account(first)).credits).toBe(known.credits - spent)
  // Not in this thread, which may carry the bytes of a cable or a proxy.
  const verified = await promisify(execFile)(process.execPath, [CLI, 'verify'], {
    env: { PATH: process.env['PATH'] ?? '', ...known.environment },
  })
  expect(verified.stdout).toContain('is what the ledger says')
}
