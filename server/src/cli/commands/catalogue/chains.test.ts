/** `sluice chains` beside a gateway that runs: what it lists, what it tests, and that the gateway acts on its changes. */
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type CommandLine, openCommandLine } from '../../../../test/cli/command-line.ts'
import { postJson } from '../../../../test/gateway/client.ts'
import {
  type TestGateway,
  openGateway,
  putChain,
  putModel,
  putVendor,
} from '../../../../test/gateway/gateway.ts'
import {
  answerJson,
  openScriptedUpstream,
  type ScriptedUpstream,
} from '../../../../test/gateway/scripted-upstream.ts'

const ANSWER = {
  id: 'x',
  object: 'chat.completion',
  created: 1,
  model: 'up',
  choices: [{ index: 0, message: { role: 'assistant', content: 'OK' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 },
}
const SEEN = { timeout: 60_000, interval: 50 }

let gateway: TestGateway
let upstream: ScriptedUpstream
let line: CommandLine

beforeEach(async () => {
  upstream = await openScriptedUpstream()
  upstream.answer(answerJson(ANSWER))
  line = await openCommandLine()
  gateway = await openGateway({ ops: true, environment: { SLUICE_DATA_DIR: join(line.directory, 'data') } })
  await gateway.catalogue(
    ...putVendor('one', upstream.url),
    putModel('lone'),
    putChain({ model: 'lone', vendor: 'one', forward: 'up' }),
  )
})
afterEach(async () => {
  await gateway.close()
  await upstream.close()
  await line.remove()
})

const call = () =>
  postJson(
    `${gateway.baseUrl}/v1/chat/completions`,
    { model: 'lone', messages: [{ role: 'user', content: 'hi' }] },
    { authorization: `Bearer ${gateway.key}` },
  )

const chains = (...argv: readonly string[]) =>
  line.sluice(['chains', ...argv], {
    now: Date.now,
    environment: { SLUICE_HOST: '127.0.0.1', SLUICE_OPS_PORT: new URL(gateway.opsUrl).port },
  })

test('list shows the health of a chain, from the log and from the running gateway; reset makes it healthy again', async () => {
  await call()
  await gateway.settled()
  const well = await chains('list')
  expect(well.out).toMatch(
    /^CHAIN +MODEL +VENDOR +CREDENTIAL +PROTOCOL +PRIORITY +WEIGHT +STATUS +HEALTH +LAST HOUR +FIRST BYTE\n/,
  )
  expect(well.out).toMatch(
    /\n1 +lone +one +main +chat +1 +100 +enabled +healthy +1 attempt, 0 failed +\d+ ms\n/,
  )
  upstream.answer(answerJson({ error: { message: 'no such key' } }, 401))
  await call()
  await gateway.settled()
  const [ill] = JSON.parse((await chains('list', '--json')).out)
  expect(ill).toMatchObject({
    id: 1,
    health: { state: 'cooling-down', cooling_until: expect.any(String) },
    recent: { attempts: 2, failed: 1 },
  })
  expect((await chains()).out).toMatch(/cooling-down until \d{4}/)
  expect(await chains('reset', '1')).toMatchObject({ code: 0 })
  await vi.waitFor(async () => expect((await chains()).out).toContain('healthy'), SEEN)
})

test('a change by command is seen by the running instance [D-accounts-138]', async () => {
  expect((await call()).status).toBe(200)
  expect(await chains('drain', '1')).toMatchObject({
    code: 0,
    err: expect.stringContaining('under maintenance'),
  })
  await vi.waitFor(async () => expect((await call()).status).toBe(502), SEEN)
  expect((await chains()).out).toMatch(/ maintenance /)
  await chains('enable', '1')
  await vi.waitFor(async () => expect((await call()).status).toBe(200), SEEN)
  await chains('disable', '1')
  await vi.waitFor(async () => expect((await call()).status).toBe(502), SEEN)
  const { entries } = await gateway.storage.audit.page({}, { limit: 10, cursor: undefined })
  expect(entries.map(({ action, subject }) => [action, subject])).toEqual([
    ['chain.disable', '1'],
    ['chain.enable', '1'],
    ['chain.drain', '1'],
  ])
  expect(await gateway.storage.audit.verify()).toMatchObject({ kind: 'whole' })
})

test('test makes one real call, which is not charged, and shows its outcome', async () => {
  const good = await chains('test', '1')
  expect(good).toMatchObject({ code: 0, out: expect.stringMatching(/\n1 +lone +answered +200 +\d+ +-\n/) })
  expect(upstream.requests).toHaveLength(1)
  expect(upstream.requests[0]?.headers.authorization).toBe('Bearer secret-of-one-main')
  expect(await gateway.logs()).toEqual([])
  upstream.answer(answerJson({ error: { message: 'no such key', type: 'invalid_request_error' } }, 401))
  const bad = await chains('test', '--all', '--json')
  expect(bad.code).toBe(1)
  expect(JSON.parse(bad.out)).toMatchObject([
    { ok: false, chain_id: 1, status: 401, message: expect.stringContaining('no such key') },
  ])
  expect(`${bad.out}${bad.err}`).not.toContain('secret-of-one')
})

test('what is impossible is refused with a reason', async () => {
  expect(await chains('test')).toMatchObject({ code: 3 })
  expect(await chains('test', '9')).toMatchObject({ code: 4, err: expect.stringContaining('no chain 9') })
  expect(await chains('drain', '9')).toMatchObject({ code: 4 })
  const alone = await line.sluice(['chains'], { now: Date.now, environment: { SLUICE_OPS_PORT: '1' } })
  expect(alone).toMatchObject({ code: 0, err: expect.stringContaining('health is unknown') })
})
