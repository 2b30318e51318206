/** What an operator and a process manager see: health, readiness, metrics, addresses, a graceful stop. */
import { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { get, postJson, sendRaw } from '../gateway/client.ts'
import { gatewayOps } from '../../src/http/ops/ops-source.ts'
import { type TestGateway, openGateway, putChain, putModel, putVendor } from '../gateway/gateway.ts'
import { answerStream, openScriptedUpstream, type ScriptedUpstream } from '../gateway/scripted-upstream.ts'

let gateway: TestGateway
let upstream: ScriptedUpstream

beforeEach(async () => {
  upstream = await openScriptedUpstream()
  gateway = await openGateway({ ops: true, environment: { SLUICE_SHUTDOWN_GRACE_MS: '2000' } })
  await gateway.catalogue(
    ...putVendor('acme', upstream.url),
    putModel('m'),
    putChain({ model: 'm', vendor: 'acme' }),
  )
})

afterEach(async () => {
  await gateway.close()
  await upstream.close()
})

const chunk = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
const authorized = (): Record<string, string> => ({ authorization: `Bearer ${gateway.key}` })
const chat = (fields: object = {}) =>
  postJson(`${gateway.baseUrl}/v1/chat/completions`, { model: 'm', messages: [], ...fields }, authorized())

const ASKING = `
const { parentPort, workerData } = require('node:worker_threads')
async function ask() {
  const answers = []
  for (const path of ['/healthz', '/readyz', '/metrics']) {
    const answer = await fetch(workerData.url + path)
    answers.push([path, answer.status, await answer.text()])
  }
  return answers
}
ask().then((answers) => parentPort.postMessage(answers)).finally(() => {
  Atomics.store(workerData.asked, 0, 1)
  Atomics.notify(workerData.asked, 0)
})`

describe('the ops port', () => {
  test('/healthz and /readyz answer while the storage does', async () => {
    expect((await get(`${gateway.opsUrl}/healthz`)).status).toBe(200)
    expect((await get(`${gateway.opsUrl}/readyz`)).status).toBe(200)
    expect((await get(`${gateway.opsUrl}/nothing`)).status).toBe(404)
    expect((await postJson(`${gateway.opsUrl}/metrics`, {})).status).toBe(405)
  })

  test('a process that is busy for seconds still answers, and correctly', async () => {
    for (const path of ['/readyz', '/metrics']) await get(`${gateway.opsUrl}${path}`)
    // Asked by a thread of its own, while this one, which serves the calls, does nothing but wait for its end.
    const asked = new Int32Array(new SharedArrayBuffer(4))
    const asking = new Worker(ASKING, { eval: true, workerData: { url: gateway.opsUrl, asked } })
    const told = new Promise<readonly [string, number, string][]>((resolve) =>
      asking.once('message', resolve),
    )
    expect(Atomics.wait(asked, 0, 0, 30_000)).not.toBe('timed-out')
    const answers = await told
    expect(answers.map(([path, status]) => [path, status])).toEqual([
      ['/healthz', 200],
      ['/readyz', 200],
      ['/metrics', 200],
    ])
    const [, , metrics = ''] = answers[2] ?? []
    const silent = Number(/^sluice_main_thread_silent_seconds (\S+)$/m.exec(metrics)?.[1])
    expect(silent).toBeGreaterThan(0)
  })

  test('/readyz is 503 while the storage can be read but takes nothing that is written', async () => {
    let canWrite = true
    const source = gatewayOps(gateway.running.pipeline, { draining: () => false, canWrite: () => canWrite })
    expect(await source.readiness()).toBe('ready')
    canWrite = false
    expect(await source.readiness()).toBe('storage unavailable')
  })

  test('/metrics counts calls by model, chain, protocol and code, with tokens, Credits and histograms', async () => {
    upstream.answer(
      answerStream([
        chunk({ role: 'assistant' }),
        chunk({ content: 'hi' }),
        chunk({}, 'stop'),
        'data: [DONE]\n\n',
      ]),
    )
    await chat({ stream: true })
    await gateway.settled()
    const { text, headers } = await get(`${gateway.opsUrl}/metrics`)
    expect(headers.get('content-type')).toMatch(/^text\/plain/)
    expect(text).toMatch(/sluice_calls_total\{model="m",chain="\d+",protocol="chat",code="200"\} 1/)
    for (const name of [
      'sluice_call_duration_seconds_bucket',
      'sluice_first_byte_seconds_bucket',
      'sluice_tokens_total',
      'sluice_credits_total',
      'sluice_open_calls 0',
      'sluice_held_credits 0',
      'sluice_attempts_total',
      'nodejs_eventloop_lag',
    ]) {
      expect(text).toContain(name)
    }
    expect(text).not.toContain(gateway.key)
  })
})

describe('two addresses', () => {
  test('one process listens on both [1-01] [D-addresses-01]', async () => {
    expect(gateway.baseUrl).not.toBe(gateway.gatewayUrl)
    expect((await get(`${gateway.baseUrl}/`)).status).toBe(200)
    expect((await get(`${gateway.gatewayUrl}/`)).status).toBe(200)
  })

  test('one port serves both, distinguished by Host, when so configured [D-addresses-02]', async () => {
    const port = 20_000 + Math.floor(Math.random() * 20_000)
    const shared = await openGateway({
      environment: {
        SLUICE_PORT: String(port),
        SLUICE_GATEWAY_PORT: String(port),
        SLUICE_GATEWAY_URL: 'http://gateway.test',
      },
    })
    try {
      const path = `http://127.0.0.1:${port}/v1/chat/completions`
      const base = await sendRaw(path, { headers: { host: 'api.test' }, pieces: ['{}'] })
      const gateway = await sendRaw(path, { headers: { host: 'gateway.test' }, pieces: ['{}'] })
      expect([base.body.code, gateway.body.code]).toEqual([40001, 40400])
    } finally {
      await shared.close()
    }
  })
})

describe('streams', () => {
  test('events leave as they arrive [6.3-04]', async () => {
    let release: (() => void) | undefined
    const held = new Promise<void>((resolve) => (release = resolve))
    upstream.answer(async (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(chunk({ role: 'assistant' }) + chunk({ content: 'first' }))
      await held
      response.end(`${chunk({ content: 'second' })}${chunk({}, 'stop')}data: [DONE]\n\n`)
    })
    const response = await fetch(`${gateway.baseUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: authorized(),
      body: JSON.stringify({ model: 'm', messages: [], stream: true }),
    })
    const reader = response.body?.getReader()
    if (reader === undefined) throw new Error('no body')
    const seen: string[] = []
    while (!seen.join('').includes('first'))
      seen.push(Buffer.from((await reader.read()).value ?? []).toString())
    expect(seen.join('')).not.toContain('second')
    release?.()
    for (let part = await reader.read(); !part.done; part = await reader.read())
      seen.push(Buffer.from(part.value).toString())
    expect(seen.join('')).toContain('second')
  })

  test('are never compressed [D-requests-54]', async () => {
    upstream.answer(answerStream([chunk({ content: 'hi' }), chunk({}, 'stop'), 'data: [DONE]\n\n']))
    const response = await fetch(`${gateway.baseUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { ...authorized(), 'accept-encoding': 'gzip, br' },
      body: JSON.stringify({ model: 'm', messages: [], stream: true }),
    })
    expect(response.headers.get('content-encoding')).toBeNull()
    expect(upstream.requests.at(-1)?.headers['accept-encoding']).toBe('identity')
    await response.text()
  })
})

test('answers that are no stream are application/json [4-02]', async () => {
  for (const path of ['/api/v1/user/user/models', '/v1/models', '/nowhere']) {
    expect((await get(`${gateway.baseUrl}${path}`, authorized())).headers.get('content-type')).toMatch(
      /^application\/json/,
    )
  }
})

describe('bodies in flight', () => {
  test('past the bound a call is refused with 503/50301 and Retry-After, never the process', async () => {
    const tight = await openGateway({
      environment: { SLUICE_BODY_LIMIT_BYTES: '100000', SLUICE_BYTES_IN_FLIGHT_LIMIT: '150000' },
    })
    await tight.catalogue(
      ...putVendor('acme', upstream.url),
      putModel('m'),
      putChain({ model: 'm', vendor: 'acme' }),
    )
    const large = JSON.stringify({ model: 'm', pad: 'x'.repeat(90_000) })
    let release: (() => void) | undefined
    const held = new Promise<void>((resolve) => (release = resolve))
    upstream.answer(async (_request, response) => {
      await held
      response.writeHead(400, { 'content-type': 'application/json' })
      response.end('{"error":{"message":"enough","type":"invalid_request_error"}}')
    })
    const call = (): ReturnType<typeof postJson> =>
      postJson(`${tight.baseUrl}/v1/chat/completions`, large, { authorization: `Bearer ${tight.key}` })
    const first = call()
    while (upstream.requests.length === 0) await new Promise((resolve) => setImmediate(resolve))
    const refused = await call()
    expect([refused.status, refused.body.code]).toEqual([503, 50301])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
    release?.()
    expect((await first).status).toBe(400)
    expect((await call()).status).toBe(400)
    await tight.close()
  })
})

test('a body that stalls is ended with 408/40000', async () => {
  const impatient = await openGateway({ environment: { SLUICE_BODY_IDLE_TIMEOUT_MS: '1000' } })
  const answer = await sendRaw(`${impatient.baseUrl}/v1/chat/completions`, {
    headers: { authorization: `Bearer ${impatient.key}`, 'content-length': '100' },
    pieces: ['{"model":'],
    unfinished: true,
  })
  expect([answer.status, answer.body.code]).toEqual([408, 40000])
  await impatient.close()
})

describe('a graceful stop', () => {
  test('new calls are refused with 503/50301, a running one ends and is settled [D-errors-20]', async () => {
    let release: (() => void) | undefined
    const held = new Promise<void>((resolve) => (release = resolve))
    upstream.answer(async (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(chunk({ content: 'first' }))
      await held
      response.end(`${chunk({}, 'stop')}data: [DONE]\n\n`)
    })
    const running = await fetch(`${gateway.baseUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: authorized(),
      body: JSON.stringify({ model: 'm', messages: [], stream: true }),
    })
    gateway.running.pipeline.drain()
    const refused = await chat()
    expect([refused.status, refused.body.code]).toEqual([503, 50301])
    expect(refused.headers.get('retry-after')).not.toBeNull()
    release?.()
    expect(await running.text()).toContain('[DONE]')
    expect(await gateway.lastLog()).toBeDefined()
    expect((await gateway.logs()).map((row) => row.ending)).toContain('complete')
  })

  test('during the drain delay calls are still taken, and /readyz already sends them elsewhere', async () => {
    const patient = await openGateway({ ops: true, environment: { SLUICE_DRAIN_DELAY_MS: '1500' } })
    const stopping = patient.running.stop()
    const ready = await get(`${patient.opsUrl}/readyz`)
    const call = await postJson(
      `${patient.baseUrl}/v1/chat/completions`,
      { model: 'nobody-has-it', messages: [] },
      { authorization: `Bearer ${patient.key}` },
    )
    expect([ready.status, ready.body]).toEqual([503, { status: 'draining' }])
    expect(call.body.code).toBe(50201)
    await stopping
  })
})

test('while the storage is unavailable calls are refused with 503/50301 [D-errors-21]', async () => {
  const doomed = await openGateway({ ops: true })
  await doomed.storage.close()
  const refused = await postJson(
    `${doomed.baseUrl}/v1/chat/completions`,
    { model: 'm' },
    { authorization: `Bearer ${doomed.key}` },
  )
  expect([refused.status, refused.body.code]).toEqual([503, 50301])
  expect((await get(`${doomed.opsUrl}/readyz`)).status).toBe(503)
  await doomed.running.stop()
})

test('something broken inside the gateway is 500/50000, without a stack trace, and nothing stays held [D-errors-19]', async () => {
  await gateway.catalogue(
    ...putVendor('odd', upstream.url, { kind: 'no-such-kind' }),
    putModel('broken'),
    putChain({ model: 'broken', vendor: 'odd' }),
  )
  const answer = await chat({ model: 'broken' })
  expect([answer.status, answer.body.code]).toEqual([500, 50000])
  expect(answer.text).not.toMatch(/\.ts|\bat /)
  await gateway.settled()
  expect((await gateway.account()).held).toBe(0n)
})
