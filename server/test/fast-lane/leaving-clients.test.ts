/** Clients that vanish: with the fast lane and without it, their calls end alike, are charged alike, and nothing is kept of them. */
import type { Socket } from 'node:net'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import type { CallLogRow } from '../../src/core/ledger/log-row.ts'
import { Connections } from '../../src/http/connections.ts'
import { FastLane } from '../../src/http/fast-lane/fast-lane.ts'
import { streamed, whole } from '../gateway/answers.ts'
import { putChain, putModel } from '../gateway/gateway.ts'
import type { Answerer } from '../gateway/scripted-upstream.ts'
import {
  CHAT,
  type Lane,
  OK,
  openTwoLanes,
  question,
  RawClient,
  request,
  type Signal,
  signal,
  statuses,
} from './two-lanes.ts'

/** Calls take exactly as long as a test says. */
let now = Date.now()
const lanes = await openTwoLanes({ SLUICE_BODY_IDLE_TIMEOUT_MS: '600000' }, { now: () => now })
/** What is polled for comes about within a few turns. */
const AT_ONCE = { interval: 2 }
/** What the gateway has seen of every chain, in tokens a second. */
const RATE = 100
const COST = { input: 200, output: 3_000 }
const TEXT = 'The answer is forty-two.'

for (const { gateway } of [lanes.on, lanes.off]) {
  for (const [model, clientGoneGraceMs] of [
    ['patient', 600_000],
    ['curt', 0],
  ] as const)
    await gateway.catalogue(
      putModel(model),
      putChain({ model, vendor: 'acme', forward: model, clientGoneGraceMs }),
    )
  const { pipeline } = gateway.running
  for (const model of pipeline.catalogue().models.values())
    for (const { id } of model.chains)
      pipeline.observations.finished(id, { outputTokens: RATE * 500, generatedMs: 500_000 })
}
beforeEach(() => {
  for (const { upstream } of [lanes.on, lanes.off]) upstream.answer(OK)
})

/** What a vendor does: it answers as far as it is told, and notes when it is asked and when its connection ends. */
interface Vendor {
  readonly answerer: Answerer
  readonly asked: Signal
  readonly begin: Signal
  readonly end: Signal
  readonly left: Signal
}

function openVendor(stream: boolean): Vendor {
  const [asked, begin, end, left] = [signal(), signal(), signal(), signal()]
  const answerer: Answerer = async (_request, response) => {
    response.on('close', left.give)
    asked.give()
    await begin.given
    const pieces = streamed('chat', TEXT, COST)
    response.writeHead(200, { 'content-type': stream ? 'text/event-stream' : 'application/json' })
    if (stream) response.write(pieces.prelude + pieces.text)
    await end.given
    response.end(stream ? pieces.end : whole('chat', TEXT, COST))
  }
  return { answerer, asked, begin, end, left }
}

const WAYS = {
  'by a reset': ({ socket }: RawClient) => socket.resetAndDestroy(),
  'by ending its side': ({ socket }: RawClient) => socket.end(),
} as const
type Way = keyof typeof WAYS

interface Left {
  readonly log: Partial<CallLogRow>
  readonly paid: bigint
  readonly fast: number
}

/** Calls, and leaves when the vendor was asked, or has begun to stream. */
async function leave(lane: Lane, way: Way, moment: Moment): Promise<Left> {
  const { gateway, upstream } = lane
  const { id, key } = await gateway.newAccount({ keyFields: { policy: { concurrency: 1, windows: [] } } })
  const credits = (await gateway.account(id)).credits
  const vendor = openVendor(moment.stream)
  upstream.script(vendor.answerer)
  const served = vi.spyOn(FastLane.prototype, 'serve')
  const opened = vi.spyOn(Connections.prototype, 'opened')
  const client = new RawClient(lane)
  const model = moment.goesOn ? 'patient' : 'curt'
  await client.send([
    callOf(key, question('hi', { model, stream: moment.stream, max_completion_tokens: 4_000 })),
  ])
  await vendor.asked.given
  if (moment.begun) {
    vendor.begin.give()
    await client.until(({ text }) => text.includes('forty-two'))
  }
  now += 5_000
  const noted = vi.spyOn(gateway.running.pipeline, 'onClientGone')
  WAYS[way](client)
  await expect.poll(() => noted.mock.calls.length, AT_ONCE).toBe(1)
  // A vendor that is waited for ends its answer; any other finds its connection closed.
  if (moment.goesOn) {
    vendor.begin.give()
    vendor.end.give()
  }
  await vendor.left.given
  await gateway.settled()
  const [log] = (await gateway.storage.logs.page({ accountId: id }, { limit: 2, cursor: undefined })).rows
  if (log === undefined) throw new Error('the call was not logged')
  const fast = served.mock.calls.length
  await expectNothingKept(
    lane,
    { id, key },
    opened.mock.calls.map(([socket]) => socket),
  )
  for (const spied of [served, opened, noted]) spied.mockRestore()
  client.socket.destroy()
  return { log: shownLog(log), paid: credits - (await gateway.account(id)).credits, fast }
}

/** Resolves also when it ends by an error. */
function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.closed) resolve()
    else socket.on('close', () => resolve())
  })
}

function callOf(key: string, body: string): string {
  return request(
    CHAT,
    [`Authorization: Bearer ${key}`, 'Content-Type: application/json', `Content-Length: ${body.length}`],
    body,
  )
}

async function expectNothingKept(
  lane: Lane,
  account: { readonly id: Parameters<Lane['gateway']['account']>[0]; readonly key: string },
  sockets: readonly Socket[],
): Promise<void> {
  const { gateway } = lane
  expect(sockets).toHaveLength(1)
  for (const socket of sockets) await closed(socket)
  expect([(await gateway.account(account.id)).held, gateway.running.pipeline.bodyBudget.used]).toEqual([
    0n,
    0,
  ])
  const again = new RawClient(lane)
  await again.send([callOf(account.key, question('hi'))])
  await again.until(({ text }) => text.endsWith('}'))
  expect(statuses(again.text)).toEqual([200])
  again.socket.destroy()
}

/** Without what is of one call alone. */
function shownLog({
  httpStatus,
  clientGone,
  code,
  message,
  ending,
  usage,
  usageSource,
  amount,
  deducted,
  durationMs,
  attempts,
}: CallLogRow) {
  return {
    httpStatus,
    clientGone,
    code,
    message,
    ending,
    usage,
    usageSource,
    amount,
    deducted,
    durationMs,
    attempts,
  }
}

interface Moment {
  readonly stream: boolean
  readonly begun: boolean
  /** What the vendor made when its client has left is waited for. */
  readonly goesOn: boolean
}

const MOMENTS: Readonly<Record<string, Moment>> = {
  'before the vendor answers': { stream: false, begun: false, goesOn: false },
  'in the middle of a stream': { stream: true, begun: true, goesOn: false },
  'before the vendor answers, which is waited for': { stream: false, begun: false, goesOn: true },
  'in the middle of a stream that is waited for': { stream: true, begun: true, goesOn: true },
}
const CELLS = Object.entries(MOMENTS).flatMap(([moment, how]) =>
  (Object.keys(WAYS) as Way[]).map((way) => [moment, way, how] as const),
)

test.each(CELLS)('a client that leaves %s, %s', async (_moment, way, how) => {
  const on = await leave(lanes.on, way, how)
  const off = await leave(lanes.off, way, how)
  expect([on.fast > 0, off.fast]).toEqual([true, 0])
  expect(on.log).toMatchObject({
    ending: 'client-gone',
    clientGone: true,
    httpStatus: how.begun ? 200 : 499,
    usageSource: how.goesOn ? 'upstream' : 'estimated',
  })
  expect(on.log.deducted).toBe(on.paid)
  expect(on.paid > 0n).toBe(true)
  expect({ ...on, fast: 0 }).toEqual(off)
})

interface Part {
  readonly sent: (call: string) => string
  /** Bytes of its body are held when it leaves. */
  readonly isRead: boolean
}

const PARTS = {
  'in the middle of its head': { sent: (call) => call.slice(0, 60), isRead: false },
  'while its body is read': { sent: (call) => call.slice(0, -10), isRead: true },
  'before its body is read': { sent: (call) => call.slice(0, call.indexOf('{')), isRead: false },
} as const satisfies Readonly<Record<string, Part>>

describe.each(Object.keys(PARTS) as (keyof typeof PARTS)[])('a client that leaves %s', (name) => {
  // Without the fast lane a call that was not reading yet waits until its client is silent for too long (decision 0022).
  const which = name === 'before its body is read' ? (['on'] as const) : (['on', 'off'] as const)
  const cells = which.flatMap((lane) => (Object.keys(WAYS) as Way[]).map((way) => [lane, way] as const))

  test.each(cells)(
    'fast lane %s, %s: its call ends at once, and nothing is asked or kept',
    async (on, way) => {
      const lane = lanes[on]
      const { gateway, upstream } = lane
      const part: Part = PARTS[name]
      upstream.requests.length = 0
      const { id, key } = await gateway.newAccount({ keyFields: { policy: { concurrency: 1, windows: [] } } })
      const opened = vi.spyOn(Connections.prototype, 'opened')
      const client = new RawClient(lane)
      await client.send([part.sent(callOf(key, question('hi')))])
      if (part.isRead)
        await expect.poll(() => gateway.running.pipeline.bodyBudget.used, AT_ONCE).toBeGreaterThan(0)
      WAYS[way](client)
      await expect.poll(() => opened.mock.calls.length, AT_ONCE).toBe(1)
      const sockets = opened.mock.calls.map(([socket]) => socket)
      opened.mockRestore()
      for (const socket of sockets) await closed(socket)
      await gateway.settled()
      await expectNothingKept(lane, { id, key }, sockets)
      expect(upstream.requests).toHaveLength(1)
      if (way === 'by ending its side') expect(statuses(client.text)).toEqual([400])
      client.socket.destroy()
    },
  )
})

// Node begins what is sent ahead at once, beside the call before it: without the fast lane these are calls like others.
test.each(Object.keys(WAYS) as Way[])(
  'what a client that leaves %s has sent ahead is not served',
  async (way) => {
    const lane = lanes.on
    const { gateway, upstream } = lane
    upstream.requests.length = 0
    const { id, key } = await gateway.newAccount({ keyFields: { policy: { concurrency: 1, windows: [] } } })
    const vendor = openVendor(false)
    upstream.script(vendor.answerer)
    const opened = vi.spyOn(Connections.prototype, 'opened')
    const client = new RawClient(lane)
    const body = question('hi', { model: 'curt' })
    await client.send([callOf(key, body) + callOf(key, body) + callOf(key, body)])
    await vendor.asked.given
    WAYS[way](client)
    await vendor.left.given
    const sockets = opened.mock.calls.map(([socket]) => socket)
    opened.mockRestore()
    for (const socket of sockets) await closed(socket)
    await gateway.settled()
    const { rows } = await gateway.storage.logs.page({ accountId: id }, { limit: 4, cursor: undefined })
    expect(rows.map(({ ending }) => ending)).toEqual(['client-gone'])
    await expectNothingKept(lane, { id, key }, sockets)
    expect(upstream.requests).toHaveLength(2)
    client.socket.destroy()
  },
)
