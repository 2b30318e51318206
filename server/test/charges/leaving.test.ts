/** What a client pays that hangs up: what the vendor made, whichever moment it chooses. */
import { type ClientRequest, type IncomingMessage, request as httpRequest } from 'node:http'
import { beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { hello, KINDS, type ProtocolName, PROTOCOLS, streamed, whole } from '../gateway/answers.ts'
import { putChain, putModel, putVendor } from '../gateway/gateway.ts'
import type { Answerer } from '../gateway/scripted-upstream.ts'
import { withGateway } from '../gateway/with-gateway.ts'

/** Added to the clock of the gateway: generation takes seconds, tests do not. */
let skippedMs = 0

/** Long enough for an upstream that ends its answer at once, on any machine. */
const LONG_MS = 60_000
const SHORT_MS = 30
const COST = { input: 200, output: 3_000 }
const TEXT = 'The answer is forty-two.'
/** Tokens a second, as the gateway has seen of every chain. */
const RATE = 100

const { gateway, upstream } = await withGateway({
  upstreams: ['upstream'],
  now: () => Date.now() + skippedMs,
})

beforeAll(async () => {
  for (const protocol of PROTOCOLS) {
    const [kind, forward] = KINDS[protocol]
    await gateway.catalogue(...putVendor(`v-${protocol}`, upstream.url, { kind }))
    for (const [name, clientGoneGraceMs] of [
      ['patient', LONG_MS],
      ['hasty', SHORT_MS],
      ['curt', 0],
    ] as const) {
      const model = `${name}-${protocol}`
      await gateway.catalogue(
        putModel(model, { maxOutputTokens: 16_000 }),
        putChain({ model, vendor: `v-${protocol}`, protocol, forward, clientGoneGraceMs }),
      )
    }
  }
  const { pipeline } = gateway.running
  for (const model of pipeline.catalogue().models.values())
    for (const { id } of model.chains)
      pipeline.observations.finished(id, { outputTokens: RATE * 500, generatedMs: 500_000 })
})
beforeEach(() => {
  upstream.requests.length = 0
})

interface Gate {
  readonly opened: Promise<void>
  open(): void
}

function gate(): Gate {
  let open = (): void => undefined
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open: () => open() }
}

/** Stops at each place until the test opens its gate; tells when the gateway hangs up. */
interface Script {
  readonly answerer: Answerer
  readonly asked: Promise<void>
  readonly head: Gate
  readonly end: Gate
  readonly hungUp: Promise<void>
}

function scripted(over: ProtocolName, stream: boolean): Script {
  const [asked, head, end, hungUp] = [gate(), gate(), gate(), gate()]
  const answerer: Answerer = async (_request, response) => {
    response.on('close', hungUp.open)
    asked.open()
    await head.opened
    if (stream) {
      const pieces = streamed(over, TEXT, COST)
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(pieces.prelude + pieces.text)
      await end.opened
      response.end(pieces.end)
    } else {
      const body = whole(over, TEXT, COST)
      response.writeHead(200, { 'content-type': 'application/json' })
      response.write(body.slice(0, 40))
      await end.opened
      response.end(body.slice(40))
    }
  }
  return { answerer, asked: asked.opened, head, end, hungUp: hungUp.opened }
}

function call(client: ProtocolName, model: string, stream: boolean, key = gateway.key): Hung {
  const { path, body } = hello(client, model, { stream })
  const request = httpRequest(`${gateway.baseUrl}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
  })
  request.on('error', () => undefined)
  const read = new Promise<void>((resolve) => {
    request.on('response', (response: IncomingMessage) => {
      response.on('error', () => undefined)
      let text = ''
      response.on('data', (piece: Buffer) => {
        text += piece.toString('utf8')
        if (text.includes('forty-two')) resolve()
      })
    })
  })
  request.end(body)
  return { request, read }
}

interface Hung {
  readonly request: ClientRequest
  /** The visible text has arrived. */
  readonly read: Promise<void>
}

/** Hangs up, and waits until the gateway has seen it. */
async function hangUp({ request }: Hung): Promise<void> {
  const noted = vi.spyOn(gateway.running.pipeline, 'onClientGone')
  const before = noted.mock.calls.length
  request.destroy()
  await vi.waitUntil(() => noted.mock.calls.length > before, { interval: 2, timeout: 60_000 })
  noted.mockRestore()
}

const CELLS = PROTOCOLS.flatMap((client, index) => {
  const other = PROTOCOLS[(index + 1) % PROTOCOLS.length] ?? client
  return [client, other].flatMap((over) =>
    ([true, false] as const).flatMap((stream) =>
      (stream
        ? (['before the head', 'after the text'] as const)
        : (['before the head', 'in the middle'] as const)
      ).map((moment) => ({ client, over, form: stream ? 'streamed' : 'whole', stream, moment })),
    ),
  )
})

/** Leaves at the moment of the cell. */
async function leaveAt(
  { client, stream, moment }: (typeof CELLS)[number],
  model: string,
  script: Script,
): Promise<void> {
  upstream.script(script.answerer)
  const hung = call(client, model, stream)
  await script.asked
  if (moment === 'before the head') {
    skippedMs += 5_000
    await hangUp(hung)
    return
  }
  script.head.open()
  if (stream) await hung.read
  skippedMs += 5_000
  await hangUp(hung)
}

describe('a client that hangs up', () => {
  test.each(CELLS)(
    '$client over $over, $form, $moment: what ends within the grace is charged by its true usage',
    async (cell) => {
      const script = scripted(cell.over, cell.stream)
      await leaveAt(cell, `patient-${cell.over}`, script)
      script.head.open()
      script.end.open()
      const log = await gateway.lastLog()
      expect(log).toMatchObject({ clientGone: true, ending: 'client-gone', usageSource: 'upstream' })
      expect([log.usage.input, log.usage.output]).toEqual([COST.input, COST.output])
      expect(log.deducted).toBe(log.amount)
      expect(upstream.requests).toHaveLength(1)
      expect((await gateway.account()).held).toBe(0n)
    },
  )

  test.each(CELLS)(
    '$client over $over, $form, $moment: what does not is cut, and charged by the time it was generated in',
    async (cell) => {
      const script = scripted(cell.over, cell.stream)
      await leaveAt(cell, `hasty-${cell.over}`, script)
      await script.hungUp
      const log = await gateway.lastLog()
      script.head.open()
      script.end.open()
      expect(log).toMatchObject({ clientGone: true, ending: 'client-gone', usageSource: 'estimated' })
      expect(log.usage.input).toBeGreaterThan(0)
      // Five seconds, and what the machine took.
      expect(log.usage.output).toBeGreaterThanOrEqual(5 * RATE)
      expect(log.usage.output).toBeLessThan(4_001)
      expect(log.deducted).toBe(log.amount)
      expect((await gateway.account()).held).toBe(0n)
    },
  )

  test('a grace of 0 cuts at once', async () => {
    const script = scripted('chat', true)
    upstream.script(script.answerer)
    const hung = call('chat', 'curt-chat', true)
    script.head.open()
    await hung.read
    await hangUp(hung)
    await script.hungUp
    script.end.open()
    expect(await gateway.lastLog()).toMatchObject({ ending: 'client-gone', usageSource: 'estimated' })
  })

  test('half-closing the connection is leaving', async () => {
    const script = scripted('chat', true)
    upstream.script(script.answerer)
    const hung = call('chat', 'patient-chat', true)
    script.head.open()
    await hung.read
    const noted = vi.spyOn(gateway.running.pipeline, 'onClientGone')
    hung.request.socket?.end()
    await vi.waitUntil(() => noted.mock.calls.length > 0, { interval: 2, timeout: 60_000 })
    noted.mockRestore()
    script.end.open()
    const log = await gateway.lastLog()
    expect([log.ending, log.usage.output]).toEqual(['client-gone', COST.output])
  })

  test('the estimate is never above the worst case of the hold, however long it took', async () => {
    const script = scripted('chat', true)
    upstream.script(script.answerer)
    const hung = call('chat', 'hasty-chat', true)
    script.head.open()
    await hung.read
    skippedMs += 10 * 60_000
    await hangUp(hung)
    await script.hungUp
    script.end.open()
    expect((await gateway.lastLog()).usage.output).toBe(4_000)
  })

  test('whole answers closed again and again just before their end: each is counted in the window, and each is paid', async () => {
    const { id, key } = await gateway.newAccount({
      keyFields: {
        policy: { concurrency: undefined, windows: [{ dimension: 'requests', limit: 2, seconds: 3_600 }] },
      },
    })
    for (let time = 0; time < 2; time += 1) {
      const script = scripted('chat', false)
      upstream.script(script.answerer)
      const hung = call('chat', 'hasty-chat', false, key)
      await script.asked
      skippedMs += 2_000
      await hangUp(hung)
      await script.hungUp
      await gateway.settled()
      script.head.open()
      script.end.open()
    }
    const { path, body } = hello('chat', 'hasty-chat', { stream: false })
    const third = await fetch(`${gateway.baseUrl}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body,
    })
    expect(third.status).toBe(429)
    expect((await gateway.account(id)).credits).toBeLessThan(1_000_000_000_000n)
    expect(upstream.requests).toHaveLength(2)
  })
})

test('a client that hangs up may call again at once: its concurrency slot is free, its hold is not', async () => {
  const { id, key } = await gateway.newAccount({ keyFields: { policy: { concurrency: 1, windows: [] } } })
  const script = scripted('chat', true)
  upstream.script(script.answerer)
  const hung = call('chat', 'patient-chat', true, key)
  script.head.open()
  await hung.read
  await hangUp(hung)
  await gateway.running.pipeline.telemetry.background.drain(0)
  expect((await gateway.account(id)).held > 0n).toBe(true)
  const again = scripted('chat', true)
  upstream.script(again.answerer)
  again.head.open()
  again.end.open()
  const { path, body } = hello('chat', 'patient-chat', { stream: true })
  const second = await fetch(`${gateway.baseUrl}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body,
  })
  expect([second.status, await second.text()]).toEqual([200, expect.stringContaining('[DONE]')])
  script.end.open()
  await gateway.settled()
  expect((await gateway.account(id)).held).toBe(0n)
  // Nor is it freed twice: one call at a time still.
  const third = scripted('chat', true)
  upstream.script(third.answerer)
  const running = call('chat', 'patient-chat', true, key)
  third.head.open()
  await running.read
  const refused = await fetch(`${gateway.baseUrl}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body,
  })
  expect(refused.status).toBe(429)
  third.end.open()
  await gateway.settled()
})
