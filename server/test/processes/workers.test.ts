/** `SLUICE_WORKERS`: several processes behind the same addresses. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { get, postJson } from '../gateway/client.ts'
import { answerJson, openScriptedUpstream, type ScriptedUpstream } from '../gateway/scripted-upstream.ts'
import { childrenOf } from './children.ts'
import { KEY, writeGatewayFile } from './gateway-file.ts'
import { eventually, type Launched, launch } from './launch.ts'

let upstream: ScriptedUpstream
let directory: string
let running: Launched

beforeEach(async () => {
  upstream = await openScriptedUpstream()
  upstream.answer(
    answerJson({
      id: 'c',
      object: 'chat.completion',
      created: 1,
      model: 'm-1',
      choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
    }),
  )
  directory = mkdtempSync(join(tmpdir(), 'sluice-workers-'))
  running = await launch({
    SLUICE_DATA_DIR: join(directory, 'data'),
    SLUICE_CONFIG: writeGatewayFile(directory, { upstream: upstream.url }),
    SLUICE_WORKERS: '2',
  })
})

afterEach(async () => {
  await upstream.close()
  rmSync(directory, { recursive: true })
})

/** On a connection of its own, so that any worker may take it. */
const call = () =>
  postJson(
    `${running.baseUrl}/v1/chat/completions`,
    { model: 'm', messages: [{ role: 'user', content: 'hi' }] },
    { authorization: `Bearer ${KEY}`, connection: 'close' },
  )
const metric = async (pattern: RegExp) =>
  [...(await get(`${running.opsUrl}/metrics`)).text.matchAll(pattern)].map((found) => found.slice(1))

test('two processes serve one address; the operator sees both; a killed one is replaced; all stop together', async () => {
  const answers = await Promise.all(Array.from({ length: 20 }, call))
  expect(answers.map((answer) => answer.status)).toEqual(answers.map(() => 200))
  const counted = await metric(/^sluice_calls_total\{worker="(\d)",.*code="200"\} (\d+)$/gm)
  expect(counted.reduce((sum, [, count]) => sum + Number(count), 0)).toBe(20)
  expect((await get(`${running.opsUrl}/readyz`)).status).toBe(200)

  const [victim] = childrenOf(running.process.pid ?? 0)
  process.kill(victim ?? 0, 'SIGKILL')
  await eventually('another process took its place', async () => {
    const children = childrenOf(running.process.pid ?? 0)
    const starts = await metric(/^sluice_starts_total\{worker="(\d)"/gm)
    return children.length === 2 && !children.includes(victim ?? 0) && starts.length === 2
  })
  expect(running.errors()).toContain('a worker process ended by itself')
  expect((await call()).status).toBe(200)

  await running.stop()
  expect(childrenOf(running.process.pid ?? 0)).toEqual([])
})
