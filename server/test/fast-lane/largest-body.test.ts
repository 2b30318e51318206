/** The largest body that the contract allows passes whole, with the fast lane and without it, and one byte more is refused. */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createGzip } from 'node:zlib'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { FastLane } from '../../src/http/fast-lane/fast-lane.ts'
import { putChain, putModel, putVendor } from '../gateway/gateway.ts'
import { CHAT, KEYED, type Lane, openTwoLanes, RawClient, request, statuses, withKey } from './two-lanes.ts'

/** The contract's (docs/reference/contract.md#8-01). */
const LARGEST_BYTES = 104_857_600
/** As much as a socket reads at once. */
const PIECE_BYTES = 65_536

/** It keeps nothing of what it is asked but its length and its hash. */
const hashed: string[] = []
const vendor = createServer((asked, response) => {
  const hash = createHash('sha256')
  let bytes = 0
  asked.on('data', (piece: Buffer) => {
    hash.update(piece)
    bytes += piece.byteLength
  })
  asked.on('end', () => {
    hashed.push(`${bytes} ${hash.digest('hex')}`)
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(ANSWER)
  })
})
const ANSWER = JSON.stringify({
  object: 'chat.completion',
  model: 'large',
  choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 10_000, completion_tokens: 1 },
})
vendor.listen(0, '127.0.0.1')
await once(vendor, 'listening')
afterAll(() => vendor.close())

const lanes = await openTwoLanes()
for (const { gateway } of [lanes.on, lanes.off])
  await gateway.catalogue(
    ...putVendor('far', `http://127.0.0.1:${(vendor.address() as AddressInfo).port}`),
    putModel('large'),
    putChain({ model: 'large', vendor: 'far', forward: 'large' }),
  )

/** A call of so many bytes, of which no two pieces are the same. */
function* piecesOf(length: number): Generator<Buffer> {
  const [head, end] = [Buffer.from('{"model":"large","messages":[],"pad":"'), Buffer.from('"}')]
  yield head
  for (let left = length - head.byteLength - end.byteLength; left > 0; left -= PIECE_BYTES)
    yield Buffer.alloc(Math.min(left, PIECE_BYTES), `${left} bytes are left. `)
  yield end
}

const zipped = await zippedOf(LARGEST_BYTES + 1)
const headOf = (...fields: readonly string[]): string => request(CHAT, [...KEYED, ...fields])

/** What a call changes, and how it was read. */
async function watched(lane: Lane, play: (client: RawClient) => Promise<void>) {
  const { gateway } = lane
  const { credits } = await gateway.account()
  const served = vi.spyOn(FastLane.prototype, 'serve')
  const client = new RawClient(lane)
  hashed.length = 0
  await play(client)
  await gateway.settled()
  const isFast = served.mock.calls.length > 0
  served.mockRestore()
  client.socket.destroy()
  const { credits: left, held } = await gateway.account()
  expect([held, gateway.running.pipeline.bodyBudget.used]).toEqual([0n, 0])
  return { text: client.text, paid: credits - left, isFast }
}

describe.each(['on', 'off'] as const)('fast lane %s', (name) => {
  const lane = lanes[name]

  test('the largest body reaches its vendor byte for byte [8-01]', async () => {
    const hash = createHash('sha256')
    const { text, paid, isFast } = await watched(lane, async (client) => {
      await client.send([withKey(headOf(`Content-Length: ${LARGEST_BYTES}`), lane)])
      for (const piece of piecesOf(LARGEST_BYTES)) {
        hash.update(piece)
        await client.send([piece])
      }
      await client.until((each) => each.text.endsWith('}'))
    })
    expect(statuses(text)).toEqual([200])
    expect(hashed).toEqual([`${LARGEST_BYTES} ${hash.digest('hex')}`])
    expect(paid > 0n).toBe(true)
    expect(isFast).toBe(name === 'on')
  })

  test('one byte more is refused, and costs nothing [8-02]', async () => {
    const { text, paid, isFast } = await watched(lane, async (client) => {
      await client.send([withKey(headOf(`Content-Length: ${LARGEST_BYTES + 1}`), lane)])
      await client.ended()
    })
    expect(statuses(text)).toEqual([413])
    expect(text).toContain('"code":41301')
    expect([hashed, paid, isFast]).toEqual([[], 0n, name === 'on'])
  })

  test('one byte more that only shows when it is decompressed is refused, and costs nothing [8-02]', async () => {
    const { text, paid, isFast } = await watched(lane, async (client) => {
      await client.send([
        withKey(headOf('Content-Encoding: gzip', `Content-Length: ${zipped.byteLength}`), lane),
        zipped,
      ])
      await client.until((each) => each.text.endsWith('}'))
    })
    expect(statuses(text)).toEqual([413])
    expect(text).toContain('"code":41301')
    expect([hashed, paid, isFast]).toEqual([[], 0n, name === 'on'])
  })
})

/** So small that it passes at once. */
async function zippedOf(length: number): Promise<Buffer> {
  const gzip = createGzip({ level: 1 })
  const zipped: Buffer[] = []
  gzip.on('data', (bytes: Buffer) => zipped.push(bytes))
  const ended = once(gzip, 'end')
  for (const piece of piecesOf(length)) if (!gzip.write(piece)) await once(gzip, 'drain')
  gzip.end()
  await ended
  return Buffer.concat(zipped)
}
