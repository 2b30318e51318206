import { open } from 'node:fs/promises'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { describe, expect, test } from 'vitest'
import { type AttemptRecord, type CallLogRow, EMPTY_LOG_ROW } from '../core/ledger/log-row.ts'
import { NO_USAGE } from '../core/canonical/usage.ts'
import { GatewayError } from '../core/errors/gateway-error.ts'
import { callId, chainId, modelId, vendorCode } from '../core/ids.ts'
import { microCredits } from '../core/money.ts'
import { Secret } from '../core/secret.ts'
import type { LogLevel } from './log.ts'
import { createTelemetry, type Telemetry } from './telemetry.ts'

function telemetryTo(lines: string[], level: LogLevel = 'trace'): Telemetry {
  const destination = { write: (line: string) => void lines.push(line) }
  return createTelemetry({ level, now: () => 1_700_000_000_000, version: '1.2.3', destination })
}

function onlyLine(lines: readonly string[]): Record<string, unknown> {
  expect(lines).toHaveLength(1)
  return JSON.parse(lines[0] ?? '')
}

const CHAIN = chainId(7)
const MODEL = modelId('gpt-5')

const attempt = (why: AttemptRecord['why']): AttemptRecord => ({
  chainId: CHAIN,
  vendorCode: vendorCode('openai'),
  modelId: MODEL,
  why,
  skipped: [],
  outcome: 'answered',
  status: 200,
  startedMs: 0,
  firstByteMs: 12,
  endedMs: 40,
  cooldownMs: undefined,
})

const ROW: CallLogRow = {
  ...EMPTY_LOG_ROW,
  callId: callId('018c-1'),
  requestId: 'r-1',
  createdAt: 0,
  endedAt: 40,
  endpoint: '/v1/chat/completions',
  clientProtocol: 'chat',
  upstreamProtocol: 'chat',
  modelRequested: 'gpt-5',
  model: MODEL,
  vendorCode: vendorCode('openai'),
  chainId: CHAIN,
  httpStatus: 200,
  usage: { ...NO_USAGE, input: 100, cachedInput: 0, output: 25 },
  usageSource: 'upstream',
  amount: microCredits(2_500_000n),
  deducted: microCredits(2_000_000n),
  attempts: [attempt('priority')],
  firstByteMs: 12,
  durationMs: 40,
  ending: 'complete',
}

describe('the log', () => {
  test('writes one JSON object a line with time, level, version, message and the fields', () => {
    const lines: string[] = []
    telemetryTo(lines).log.info({ requestId: 'r-1' }, 'a call ended')
    expect(onlyLine(lines)).toEqual({
      level: 'info',
      time: '2023-11-14T22:13:20.000Z',
      version: '1.2.3',
      requestId: 'r-1',
      message: 'a call ended',
    })
  })

  test('writes nothing below its level', () => {
    const lines: string[] = []
    telemetryTo(lines, 'warn').log.info({}, 'quiet')
    expect(lines).toEqual([])
  })

  test.each([
    ['a key of this gateway', { note: 'sk-gateway-abcdefghijklmnopqrstuvwxyz' }],
    ['a session token', { note: 'session-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG' }],
    ['a bearer token inside a sentence', { note: 'sent Bearer abcDEF123-secret-value to upstream' }],
    ['a key in a query string', { url: 'https://example.test/v1?key=abc-secret-value&alt=sse' }],
    ['a password in a database address', { url: 'postgres://sluice:secret-value@db:5432/sluice' }],
    ['a field named authorization', { authorization: 'secret-value' }],
    ['a body one level down', { call: { body: 'secret-value' } }],
    ['a value of type Secret', { credential: new Secret('secret-value') }],
  ])('never shows %s', (_what, fields) => {
    const lines: string[] = []
    telemetryTo(lines).log.warn(fields, 'looked at')
    expect(lines.join('')).toContain('[secret]')
    expect(lines.join('')).not.toMatch(/secret-value|abcdefghijklmnop/)
  })

  test('shows type, code and internal text of an error, and none of its other fields', () => {
    const lines: string[] = []
    const cause = Object.assign(new Error('connection reset'), {
      code: 'ECONNRESET',
      body: 'what a client wrote',
    })
    const error = new GatewayError(50000, {
      internal: 'the row was gone',
      cause,
      upstreamBody: { text: 'what a client wrote' },
    })
    telemetryTo(lines).log.error({ error }, 'failed')
    const shown = onlyLine(lines)['error']
    expect(shown).toMatchObject({
      type: 'GatewayError',
      code: 50000,
      internal: 'the row was gone',
      cause: { message: 'connection reset', code: 'ECONNRESET' },
    })
    expect(lines.join('')).not.toContain('what a client wrote')
  })

  test('does not repeat the text that JSON.parse could not read', () => {
    const lines: string[] = []
    let caught: unknown
    try {
      JSON.parse('what a client wrote')
    } catch (error) {
      caught = error
    }
    telemetryTo(lines).log.error({ error: caught }, 'failed')
    expect(caught).toBeInstanceOf(SyntaxError)
    expect(lines.join('')).not.toContain('client')
  })
})

describe('background work', () => {
  test('is waited for when the process stops', async () => {
    const telemetry = telemetryTo([])
    let finish = (): void => undefined
    telemetry.background.track(new Promise<void>((resolve) => (finish = resolve)), 'record progress')
    const drained = telemetry.background.drain(60_000)
    finish()
    expect(await drained).toBe(0)
  })

  test('that fails is logged with what it was', async () => {
    const lines: string[] = []
    const telemetry = telemetryTo(lines)
    telemetry.background.track(Promise.reject(new Error('no database')), 'record progress')
    await telemetry.background.drain(60_000)
    expect(onlyLine(lines)).toMatchObject({ what: 'record progress', error: { message: 'no database' } })
  })

  test('that never ends does not keep the process', async () => {
    const telemetry = telemetryTo([])
    telemetry.background.track(new Promise(() => undefined), 'record progress')
    expect(await telemetry.background.drain(1)).toBe(1)
  })
})

describe('the metrics', () => {
  test('count an ended call by model, chain, protocol and code, its tokens and its Credits', async () => {
    const { metrics } = telemetryTo([])
    metrics.callEnded(ROW)
    metrics.callEnded({
      ...ROW,
      httpStatus: 429,
      code: 42901,
      model: undefined,
      chainId: undefined,
      attempts: [],
    })
    const text = await metrics.render()
    expect(text).toContain('sluice_calls_total{model="gpt-5",chain="7",protocol="chat",code="200"} 1\n')
    expect(text).toContain('sluice_calls_total{model="none",chain="none",protocol="chat",code="42901"} 1\n')
    expect(text).toContain('sluice_tokens_total{model="gpt-5",class="input"} 100\n')
    expect(text).toContain('sluice_credits_total{model="gpt-5",kind="amount"} 2.5\n')
    expect(text).toContain('sluice_credits_total{model="gpt-5",kind="deducted"} 2\n')
    expect(text).not.toContain('class="cachedInput"')
  })

  test('sort durations and first bytes into buckets that add up', async () => {
    const { metrics } = telemetryTo([])
    for (const durationMs of [3, 40, 700_000]) metrics.callEnded({ ...ROW, durationMs })
    metrics.firstByte({ protocol: 'messages', ms: 1 })
    const text = await metrics.render()
    const bucket = 'sluice_call_duration_seconds_bucket{model="gpt-5",protocol="chat",le='
    expect(text).toContain(`${bucket}"0.0025"} 0\n`)
    expect(text).toContain(`${bucket}"0.005"} 1\n`)
    expect(text).toContain(`${bucket}"0.05"} 2\n`)
    expect(text).toContain(`${bucket}"600"} 2\n`)
    expect(text).toContain(`${bucket}"+Inf"} 3\n`)
    expect(text).toContain('sluice_call_duration_seconds_sum{model="gpt-5",protocol="chat"} 700.043\n')
    expect(text).toContain('sluice_first_byte_seconds_bucket{protocol="messages",le="0.001"} 1\n')
  })

  test('count moves to another chain and to the fallback model, not first choices', async () => {
    const { metrics } = telemetryTo([])
    metrics.callEnded({ ...ROW, attempts: [attempt('priority'), attempt('failover'), attempt('fallback')] })
    const text = await metrics.render()
    expect(text.match(/^sluice_failovers_total\{.*$/gm)).toEqual([
      'sluice_failovers_total{model="gpt-5",why="failover"} 1',
      'sluice_failovers_total{model="gpt-5",why="fallback"} 1',
    ])
  })

  test('show open calls and held Credits as they are now', async () => {
    const { metrics } = telemetryTo([])
    metrics.callReserved(microCredits(3_000_000n))
    metrics.callReserved(microCredits(500_000n))
    metrics.callReleased(microCredits(3_000_000n))
    const text = await metrics.render()
    expect(text).toContain('\nsluice_open_calls 1\n')
    expect(text).toContain('\nsluice_held_credits 0.5\n')
  })

  test('show the event-loop lag and a gauge that a module registered', async () => {
    const { metrics } = telemetryTo([])
    metrics.gauge({ name: 'sluice_body_bytes', help: 'Body bytes in flight.', read: () => 42 })
    const text = await metrics.render()
    expect(text).toContain('# TYPE sluice_body_bytes gauge\nsluice_body_bytes 42\n')
    expect(text).toMatch(/^nodejs_eventloop_lag_p99_seconds /m)
  })

  test('count open files, and nothing for which each connection is looked at', async () => {
    const { metrics } = telemetryTo([])
    const openFiles = async (): Promise<number> =>
      Number(/^process_open_fds (.*)$/m.exec(await metrics.render())?.[1])
    const before = await openFiles()
    const files = await Promise.all(Array.from({ length: 300 }, () => open(import.meta.filename)))
    // Tests beside this one open and close files, too.
    expect(await openFiles()).toBeGreaterThan(before + 200)
    for (const file of files) await file.close()
    expect(await metrics.render()).not.toMatch(/^nodejs_active_/m)
  })

  test('show the block of the event loop that they were asked for in', async () => {
    const { metrics } = telemetryTo([])
    await metrics.render()
    // Only what begins after its first tick is measured.
    const ticks = monitorEventLoopDelay({ resolution: 10 })
    ticks.enable()
    await expect.poll(() => ticks.count).toBeGreaterThan(2)
    ticks.disable()
    const text = await new Promise<string>((resolve) => {
      setImmediate(() => {
        for (const until = performance.now() + 100; performance.now() < until; );
        resolve(metrics.render())
      })
    })
    const longest = /^nodejs_eventloop_lag_max_seconds (.*)$/m.exec(text)?.[1]
    expect(Number(longest)).toBeGreaterThan(0.09)
  })

  test('show a gauge of several things, distinguished by labels, and none where there is none', async () => {
    const { metrics } = telemetryTo([])
    const values = [{ labels: { chain: '7', state: 'cooling-"down"' }, value: 1 }]
    metrics.gauges({ name: 'sluice_ill', help: 'Ill.', read: () => values })
    expect(await metrics.render()).toContain(
      '# TYPE sluice_ill gauge\nsluice_ill{chain="7",state="cooling-\\"down\\""} 1\n',
    )
    values.length = 0
    expect(await metrics.render()).toContain('# TYPE sluice_ill gauge\n#')
  })

  test('stay bounded when labels never repeat: the excess is counted together', async () => {
    const { metrics } = telemetryTo([])
    for (let at = 0; at < 5_000; at += 1) metrics.attemptEnded({ chain: chainId(at), outcome: 'answered' })
    const series = (await metrics.render()).match(/^sluice_attempts_total\{.*$/gm) ?? []
    expect(series).toHaveLength(2_001)
    expect(series).toContain('sluice_attempts_total{chain="other",outcome="other"} 3000')
  })

  test('escape what would break a line of the text form', async () => {
    const { metrics } = telemetryTo([])
    metrics.attemptEnded({ chain: CHAIN, outcome: 'a "quoted"\nword\\' })
    expect(await metrics.render()).toContain('outcome="a \\"quoted\\"\\nword\\\\"} 1\n')
  })
})
