/** A customer with a fortnight behind them, so that pages are looked at as people see them. */
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { startGateway } from '../../server/src/app/start-gateway.ts'
import { readConfig } from '../../server/src/config/environment.ts'
import { callModel, signInAs } from './api.ts'
import { bringTrouble, demoFile, openRefusers, stockShelves, tellCosts } from './demo-market.ts'
import { ADMIN, CUSTOMER, type JourneyGateway, openGateway } from './gateway.ts'

const DAY_MS = 86_400_000
const DAYS = 14

export async function openDemo(program: readonly string[]): Promise<JourneyGateway> {
  const refusers = await openRefusers()
  const file = demoFile(refusers.url)
  const first = await openGateway({ program, file })
  const ann = await signInAs(first.baseUrl, CUSTOMER)
  const admin = await signInAs(first.baseUrl, ADMIN)
  await ann.ask('PATCH', 'user/user/account', { name: 'Ann Lindqvist', time_zone: 'Europe/Berlin' })
  const keys = await makeKeys(ann.ask)
  await foundOrganisation(ann.ask)
  await askToBeVerified(first.baseUrl, ann.token)
  await announce(admin.ask)
  await tellCosts(admin.ask)
  await stockShelves(admin.ask)
  await first.running.stop()
  await liveThroughDays(first.directory, keys)
  const demo = await openGateway({ program, file, directory: first.directory, mailbox: first.mailbox })
  const operator = await signInAs(demo.baseUrl, ADMIN)
  await bringTrouble(operator.ask)
  await orderVideos(demo.baseUrl, keys[3] ?? '')
  const rest = keepCalling(demo.baseUrl, keys[4] ?? '')
  return {
    ...demo,
    async close() {
      await rest()
      await demo.close()
      await refusers.close()
    },
  }
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

async function foundOrganisation(ask: Ask): Promise<void> {
  const { id } = await ask<{ id: string }>('POST', 'user/user/organisations', { name: 'Northwind AI' })
  await ask('POST', `user/user/organisations/${id}/fund`, { credits: 20_000 }, { 'idempotency-key': 'fund' })
}

async function askToBeVerified(baseUrl: string, token: string): Promise<void> {
  const form = new FormData()
  form.set('kind', 'personal')
  form.set('legal_name', 'Ann Lindqvist')
  form.set('id_number', '110101199003070000')
  form.set('documents', new Blob(['%PDF-1.4\n%%EOF'], { type: 'application/pdf' }), 'passport.pdf')
  const asked = await fetch(`${baseUrl}/api/v1/user/user/verification`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: form,
  })
  if (!asked.ok) throw new Error(`asking to be verified: ${asked.status} ${await asked.text()}`)
}

async function orderVideos(baseUrl: string, key: string): Promise<void> {
  for (const prompt of ['A gate over a wave', 'The wave, from below']) {
    const body = { model: 'kling-v3', prompt, seconds: '1' }
    const status = await callModel(baseUrl, { key, path: '/v1/videos', body })
    if (status >= 300) throw new Error(`a video of the demonstration was answered ${status}`)
  }
}

const LIVE_MODELS = ['claude-opus-4.8', 'gpt-5', 'gemini-3-pro', 'claude-sonnet-4.6', 'gpt-5'] as const
const BETWEEN_MS = 1_500

/** One call after the other, so that there is something to see now. @returns what ends it */
function keepCalling(baseUrl: string, key: string): () => Promise<void> {
  const leaving = new AbortController()
  const call = async (): Promise<void> => {
    for (let turn = 0; !leaving.signal.aborted; turn += 1) {
      const model = LIVE_MODELS[turn % LIVE_MODELS.length] ?? 'gpt-5'
      const content = 'Which of our regions was slowest? '.repeat(40 + 30 * (turn % 4))
      await callModel(baseUrl, { key, body: { model, stream: true, messages: [{ role: 'user', content }] } })
      await setTimeout(BETWEEN_MS)
    }
  }
  const calling = call()
  return () => {
    leaving.abort()
    return calling
  }
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
    timing: { now, pollPace: 0.01 },
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
