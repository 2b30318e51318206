/** A client that reads nothing of an endless stream, with the fast lane and without it: it stops its vendor, and nobody else. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { afterAll, expect, test, vi } from 'vitest'
import { Connections } from '../../src/http/connections.ts'
import { FastLane } from '../../src/http/fast-lane/fast-lane.ts'
import { streamed } from '../gateway/answers.ts'
import { putChain, putModel } from '../gateway/gateway.ts'
import type { Answerer } from '../gateway/scripted-upstream.ts'
import { call, type Lane, OK, openTwoLanes, RawClient, signal, statuses, withKey } from './two-lanes.ts'

/** As much may be in the process beyond what was sent. */
const HELD_BYTES_MAX = 256 * 1024
/** All sides share an event loop: what has not moved in so many turns of it does not move. */
const TURNS_OF_QUIET = 500
/** Large, so that hardly more is sent than was taken. */
const FRAME = streamed('chat', 'x'.repeat(30_000), { input: 1, output: 1 }).text

/** Connections that this process has opened, to vendors also. */
const opened: Socket[] = []
const onOpened = (message: unknown): void => {
  opened.push((message as { readonly socket: Socket }).socket)
}
subscribe('net.client.socket', onOpened)
afterAll(() => unsubscribe('net.client.socket', onOpened))

const lanes = await openTwoLanes()
const hasty = await openTwoLanes({ SLUICE_CLIENT_STALL_TIMEOUT_MS: '1000' })
for (const { gateway } of [lanes.on, lanes.off, hasty.on, hasty.off])
  await gateway.catalogue(
    putModel('curt'),
    putChain({ model: 'curt', vendor: 'acme', forward: 'curt', clientGoneGraceMs: 0 }),
  )

/** Sends for ever, as fast as it may. */
function openEndlessVendor() {
  const [stalled, left] = [signal(), signal()]
  const responses: ServerResponse[] = []
  const answerer: Answerer = async (_request, response) => {
    responses.push(response)
    response.on('close', left.give)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    while (!response.destroyed) {
      if (response.write(FRAME)) continue
      let isDrained = false
      const drained = Promise.race([once(response, 'drain'), left.given]).then(() => (isDrained = true))
      await quiet(() => isDrained)
      if (!isDrained) stalled.give()
      await drained
    }
    stalled.give()
  }
  return { answerer, stalled, left, responses }
}

async function quiet(until: () => boolean = () => false): Promise<void> {
  for (let turns = 0; turns < TURNS_OF_QUIET && !until(); turns += 1) await turn()
}

/** A call whose client reads nothing, when everything has come to rest. */
async function stall(lane: Lane) {
  const { upstream } = lane
  const vendor = openEndlessVendor()
  upstream.script(vendor.answerer)
  const accepted = vi.spyOn(Connections.prototype, 'opened')
  const served = vi.spyOn(FastLane.prototype, 'serve')
  const client = new RawClient(lane)
  client.socket.pause()
  await client.send([withKey(call('hello', [], { model: 'curt', stream: true }), lane)])
  await vendor.stalled.given
  const [toClient] = accepted.mock.calls.map(([socket]) => socket)
  const vendorsEnd = vendor.responses[0]?.socket
  const toVendor = opened.find(({ localPort }) => localPort === vendorsEnd?.remotePort)
  if (toClient === undefined || toVendor === undefined) throw new Error('a connection is missing')
  const isFast = served.mock.calls.length > 0
  for (const spied of [accepted, served]) spied.mockRestore()
  return { client, vendor, toClient, toVendor, isFast }
}

const WAYS = {
  'by a reset': ({ socket }: RawClient) => socket.resetAndDestroy(),
  'by closing its connection': ({ socket }: RawClient) => socket.destroy(),
} as const
const cells = (['on', 'off'] as const).flatMap((lane) =>
  (Object.keys(WAYS) as (keyof typeof WAYS)[]).map((way) => [lane, way] as const),
)

test.each(cells)(
  'fast lane %s: little is held for it, others are served, and nothing is kept when it goes away %s',
  async (name, way) => {
    const lane = lanes[name]
    const { gateway, upstream } = lane
    const { client, vendor, toClient, toVendor, isFast } = await stall(lane)
    expect(isFast).toBe(name === 'on')
    const taken = toVendor.bytesRead
    expect(taken - (toClient.bytesWritten - toClient.writableLength)).toBeLessThan(HELD_BYTES_MAX)
    upstream.answer(OK)
    const other = new RawClient(lane)
    await other.send([withKey(call('other'), lane)])
    await other.until(({ text }) => text.endsWith('}'))
    expect(statuses(other.text)).toEqual([200])
    await quiet()
    expect(toVendor.bytesRead).toBe(taken)
    WAYS[way](client)
    await vendor.left.given
    expect(await gateway.logs(2)).toContainEqual(
      expect.objectContaining({ ending: 'client-gone', clientGone: true, usageSource: 'estimated' }),
    )
    await expect.poll(() => toClient.closed, { interval: 2 }).toBe(true)
    expect([(await gateway.account()).held, gateway.running.pipeline.bodyBudget.used]).toEqual([0n, 0])
    other.socket.destroy()
  },
)

test.each(['on', 'off'] as const)(
  'fast lane %s: when it ends its side nothing more is taken for it, and it is disconnected in time',
  async (name) => {
    const lane = hasty[name]
    const { client, vendor, toClient, toVendor } = await stall(lane)
    const taken = toVendor.bytesRead
    client.socket.end()
    await vendor.left.given
    expect(toVendor.bytesRead).toBe(taken)
    await expect.poll(() => toClient.closed, { interval: 2 }).toBe(true)
    expect(await lane.gateway.lastLog()).toMatchObject({ ending: 'client-gone', clientGone: true })
    client.socket.destroy()
  },
)
