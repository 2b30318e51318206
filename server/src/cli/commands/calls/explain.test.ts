import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { TEST_TIME } from '../../../../test/management/open-store.ts'
import { run } from '../../run.ts'

const KEY = 'sk-gateway-laptop-1234'
const FILE = `
vendors: [{code: own, kind: openai-compatible, base_url: "http://127.0.0.1:1/v1"}]
models:
  - {model_id: m, pricing: {input_price: 1, output_price: 2}, chains: [{vendor: own, protocol: chat}]}
  - {model_id: listener, pricing: {billing_modes: [audio_second], audio_second_price: 0.01}, chains: [{vendor: own, protocol: transcription}]}
accounts: [{email: owner@example.com, credits: 100, keys: [{name: laptop, secret: ${KEY}}]}]
`

let directory: string

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sluice-explain-'))
  expect(await sluice(['apply', '-f', '-'], FILE)).toMatchObject({ code: 0, err: '' })
})

afterAll(() => rm(directory, { recursive: true, force: true }))

async function sluice(
  argv: readonly string[],
  input = '',
): Promise<{ code: number; out: string; err: string }> {
  let out = ''
  let err = ''
  const code = await run(argv, {
    environment: { SLUICE_DATA_DIR: 'data' },
    workingDirectory: directory,
    now: () => TEST_TIME,
    out: (text) => {
      out += text
    },
    err: (text) => {
      err += text
    },
    readInput: () => Promise.resolve(input),
  })
  return { code, out, err }
}

test('says which chains a call would go to, how, and what it would hold', async () => {
  const { code, out } = await sluice(['explain', KEY, 'm', '--protocol', 'messages'])
  expect(code).toBe(0)
  expect(out).toContain('a call to m would be made')
  expect(out).toMatch(/1 +1 +own +chat +converted/)
  expect(out).toContain('Credits held, paid by credits')
})

test('holds the seconds of sound that a transcription is said to be of', async () => {
  const asked = ['explain', KEY, 'listener', '--protocol', 'transcription']
  expect((await sluice([...asked, '--seconds', '2.5'])).out).toContain(
    '2.5 seconds of sound: 25 Credits held',
  )
  expect((await sluice(asked)).out).toContain('1 seconds of sound: 10 Credits held')
  for (const seconds of ['many', '-1', '']) {
    const refused = await sluice([...asked, '--seconds', seconds])
    expect(refused).toMatchObject({ code: 3, err: expect.stringContaining('--seconds must be a number') })
  }
})

test('--json gives the whole explanation of a body from a file or a pipe', async () => {
  const body = JSON.stringify({ messages: [{ role: 'user', content: 'hi' }], max_tokens: 7 })
  const { out } = await sluice(['explain', KEY, 'm', '-f', '-', '--json'], body)
  expect(JSON.parse(out)).toMatchObject({
    refusal: null,
    estimate: { output_tokens: 7 },
    routes: [{ model: 'm', chains: [{ conversion: { kind: 'passthrough' } }] }],
  })
})

test('shows a refusal, and errors in the request', async () => {
  expect((await sluice(['explain', KEY, 'nobody'])).out).toContain('would be refused: 502/50201')
  expect(await sluice(['explain', KEY, 'm', '--protocol', 'morse'])).toMatchObject({ code: 3 })
  expect(await sluice(['explain', 'sk-nobody', 'm'])).toMatchObject({ code: 4 })
  expect(await sluice(['explain', KEY, 'm', '-f', '-'], 'no json')).toMatchObject({ code: 3 })
  expect(await sluice(['explain', KEY, 'm', '-f', 'missing.json'])).toMatchObject({ code: 1 })
})
