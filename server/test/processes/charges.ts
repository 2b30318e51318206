/** Calls whose answers are counted, and whether each that arrived whole was charged what it costs. */
import { execFile } from 'node:child_process'
import { request } from 'node:http'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import { get } from '../gateway/client.ts'
import { INPUT_TOKENS } from './counting-upstream.ts'
import { KEY } from './gateway-file.ts'
import { eventually, type Launched } from './launch.ts'

const CLI = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))
/** Between two tokens of a stream: a faster one costs more of the machine and shows no more. */
export const PAUSE_MS = 150

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
  // One line, or one for each worker.
  const counts = [...text.matchAll(/^sluice_pending_operations(?:\{[^}]*\})? (\d+)/gm)].map(([, count]) =>
    Number(count),
  )
  return counts.length === 0 ? Number.NaN : counts.reduce((sum, count) => sum + count, 0)
}

interface LogRow {
  readonly user: string
  readonly deducted: string | number
  readonly usage: { readonly input: number | null; readonly output: number | null }
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

/** What calls that were made must have cost. */
export interface Charged {
  /** Their whole answers arrived: their price, once. */
  readonly exactly: readonly Finished[]
  /** They were refused or cut: what they used, of which no more was made than they asked for, and once at most. */
  readonly atMost: readonly Finished[]
}

/** Every answer that arrived whole was charged once and exactly, nothing is held, and the books agree. */
export async function expectCharged(
  running: readonly Launched[],
  { exactly, atMost }: Charged,
  known: {
    readonly environment: Readonly<Record<string, string>>
    /** What the account had in the beginning. */
    readonly credits: number
  },
): Promise<void> {
  const [first] = running
  if (first === undefined) throw new Error('no instance runs')
  await eventually('everything is written and nothing is held', async () => {
    const pending = await Promise.all(running.map(pendingOf))
    return pending.every((count) => count === 0) && (await account(first)).held === 0
  })
  const rows = await readLog(first)
  const rowsOf = (user: string) => byUser.get(user) ?? []
  const byUser = new Map<string, LogRow[]>()
  for (const row of rows) byUser.set(row.user, [...(byUser.get(row.user) ?? []), row])
  const wrong = [
    ...exactly.filter(({ user, tokens }) => {
      const amounts = rowsOf(user).map(({ deducted }) => Number(deducted))
      return amounts.length !== 1 || amounts[0] !== INPUT_TOKENS + tokens
    }),
    ...atMost.filter(({ user, tokens }) => {
      const [row, ...more] = rowsOf(user)
      const { input, output } = row?.usage ?? {}
      const used = (input ?? 0) + (output ?? 0)
      return more.length > 0 || (output ?? 0) > tokens || Number(row?.deducted ?? 0) > used
    }),
  ].map((one) => ({ ...one, rows: rowsOf(one.user) }))
  process.stdout.write(
    `${exactly.length} whole answers, ${atMost.length} others, ${rows.length} log rows, ${wrong.length} wrong\n`,
  )
  expect(exactly.length).toBeGreaterThan(4)
  expect(wrong).toEqual([])
  const spent = rows.reduce((sum, { deducted }) => sum + Number(deducted), 0)
  expect((await account(first)).credits).toBe(known.credits - spent)
  // Not in this thread, which may carry the bytes of a cable or a proxy.
  const verified = await promisify(execFile)(process.execPath, [CLI, 'verify'], {
    env: { PATH: process.env['PATH'] ?? '', ...known.environment },
  })
  expect(verified.stdout).toContain('is what the ledger says')
}
