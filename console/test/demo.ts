/** A customer with a fortnight behind them, so that pages are looked at as people see them. */
import { join } from 'node:path'
import { startGateway } from '../../server/src/app/start-gateway.ts'
import { readConfig } from '../../server/src/config/environment.ts'
import { callModel, signInAs } from './api.ts'
import { ADMIN, CUSTOMER, openGateway, type TestGateway } from './gateway.ts'

const DAY_MS = 86_400_000
const DAYS = 14

export async function openDemo(program: readonly string[]): Promise<TestGateway> {
  const first = await openGateway({ program })
  const ann = await signInAs(first.baseUrl, CUSTOMER)
  const admin = await signInAs(first.baseUrl, ADMIN)
  await ann.ask('PATCH', 'user/user/account', { name: 'Ann Lindqvist', time_zone: 'Europe/Berlin' })
  const keys = await makeKeys(ann.ask)
  await announce(admin.ask)
  await first.running.stop()
  await liveThroughDays(first.directory, keys)
  return openGateway({ program, directory: first.directory, mailbox: first.mailbox })
}

type Ask = Awaited<ReturnType<typeof signInAs>>['ask']

async function makeKeys(ask: Ask): Promise<readonly string[]> {
  const windows = (rows: readonly (readonly [string, number, number])[]) => ({
    windows: rows.map(([dimension, limit, seconds]) => ({ dimension, limit, seconds })),
  })
  const wanted = [
    {
      name: 'laptop',
      policy: windows([
        ['requests', 60, 60],
        ['amount', 50_000, 30 * 86_400],
      ]),
    },
    {
      name: 'ci-runner',
      models: ['claude-opus-4.8', 'claude-sonnet-4.6'],
      expires_at: new Date(Date.now() + 40 * DAY_MS).toISOString(),
      policy: { concurrency: 10, ...windows([['requests', 30, 86_400]]) },
    },
    { name: 'batch-tags', models: ['deepseek-v4', 'glm-5'], policy: windows([['tokens', 2_000, 86_400]]) },
    { name: 'storyboard', models: ['kling-v3'], policy: windows([['video_seconds', 60, 86_400]]) },
    { name: 'notebook' },
    { name: 'old-backend', models: ['gpt-5'], status: 'disabled' },
  ]
  const made: string[] = []
  for (const key of wanted) made.push((await ask<{ key: string }>('POST', 'user/user/keys', key)).key)
  return made
}

async function announce(ask: Ask): Promise<void> {
  await ask('POST', 'admin/announcements', {
    title: 'kling-v3 costs more from 1 December',
    body: '¥0.96 a second instead of ¥0.80',
    level: 'info',
  })
  await ask('POST', 'admin/announcements', {
    title: 'claude-opus-4.8 answers slower today',
    body: 'One of three chains is cooling',
    level: 'warning',
  })
}

const PACE = 300

/** Weekends are quiet. */
const CALLS_OF_DAYS = [21, 24, 25, 27, 24, 10, 8, 24, 28, 30, 31, 22, 11, 14]
const SHARES = [
  ['claude-opus-4.8', 1, 190],
  ['gpt-5', 0, 260],
  ['claude-sonnet-4.6', 0, 150],
  ['gemini-3-pro', 4, 130],
  ['deepseek-v4', 2, 60],
  ['gpt-5', 4, 180],
  ['claude-opus-4.8', 1, 120],
] as const

async function liveThroughDays(directory: string, keys: readonly string[]): Promise<void> {
  // A clock that runs fast, so that calls take as long as they do in earnest.
  let begun = { at: Date.now() - (DAYS - 1) * DAY_MS, real: performance.now() }
  const now = (): number => Math.round(begun.at + (performance.now() - begun.real) * PACE)
  const config = readConfig({
    SLUICE_DATA_DIR: join(directory, 'data'),
    SLUICE_HOST: '127.0.0.1',
    SLUICE_PORT: '0',
    SLUICE_GATEWAY_PORT: '0',
    SLUICE_OPS_PORT: '0',
    SLUICE_LOG_LEVEL: 'silent',
  })
  const running = await startGateway(config, () => Promise.resolve(), {
    ops: false,
    bent: { now, videoPace: 0.01 },
  })
  try {
    for (const [day, count] of CALLS_OF_DAYS.entries()) {
      const beginning = Date.now() - (DAYS - 1 - day) * DAY_MS - 3_600_000
      for (let call = 0; call < count; call += 1) {
        begun = { at: Math.round(beginning + (call / count) * 3_500_000), real: performance.now() }
        const share = SHARES[(call * 5 + day) % SHARES.length]
        if (share === undefined) continue
        const [model, key, words] = share
        await callModel(running.baseUrl, {
          key: keys[key] ?? '',
          body: {
            model,
            messages: [{ role: 'user', content: 'Which of our regions was slowest? '.repeat(words) }],
          },
        })
      }
    }
  } finally {
    await running.stop()
  }
}
