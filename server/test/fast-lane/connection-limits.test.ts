/** Connections of one address, and simultaneous calls of one address behind a proxy, are as many on both lanes, and no more. */
import { beforeEach, describe, expect, test } from 'vitest'
import { call, type Lane, OK, openTwoLanes, play, RawClient, signal, statuses, withKey } from './two-lanes.ts'

const LIMIT = { SLUICE_CONNECTIONS_PER_ADDRESS_LIMIT: '1' }
const direct = await openTwoLanes(LIMIT)
const proxied = await openTwoLanes({ ...LIMIT, SLUICE_TRUSTED_PROXIES: '127.0.0.0/8' })

beforeEach(() => {
  for (const { upstream } of [direct.on, direct.off, proxied.on, proxied.off]) upstream.answer(OK)
})

async function answered(client: RawClient): Promise<readonly number[]> {
  await client.until(({ text }) => text.endsWith('}'))
  return statuses(client.text)
}

/** A connection that was answered and is kept. */
async function connected(lane: Lane, fields: readonly string[] = []): Promise<RawClient> {
  const client = new RawClient(lane)
  await client.send([withKey(call('hello', fields), lane)])
  expect(await answered(client)).toEqual([200])
  return client
}

describe.each(['on', 'off'] as const)('fast lane %s', (name) => {
  test('a connection too many is told so without being read, and there is room again when another one ends', async () => {
    const lane = direct[name]
    const first = await connected(lane)
    const { text, asked, fast } = await play(lane, () => Promise.resolve())
    expect(statuses(text)).toEqual([429])
    expect(text).toContain('"code":42908')
    expect([asked, fast]).toEqual([[], 0])
    first.socket.destroy()
    await expect
      .poll(async () => {
        const next = new RawClient(lane)
        await next.send([withKey(call('hello'), lane)])
        // A refusal is lost if what was sent arrives behind it.
        await next.until(({ text: answer, closed }) => closed || answer.endsWith('}'))
        next.socket.destroy()
        return statuses(next.text)[0]
      })
      .toBe(200)
  })

  test('a proxy has any number of connections, and each of its clients one call at a time', async () => {
    const lane = proxied[name]
    const [asked, go] = [signal(), signal()]
    lane.upstream.script(async (request, response) => {
      asked.give()
      await go.given
      await OK(request, response)
    })
    const [ann, bob] = [['X-Forwarded-For: 203.0.113.1'], ['X-Forwarded-For: 203.0.113.2']]
    const first = new RawClient(lane)
    await first.send([withKey(call('hello', ann), lane)])
    await asked.given
    const second = new RawClient(lane)
    await second.send([withKey(call('hello', ann), lane)])
    expect(await answered(second)).toEqual([429])
    expect(second.text).toContain('"code":42908')
    const other = await connected(lane, bob)
    go.give()
    expect(await answered(first)).toEqual([200])
    const again = await connected(lane, ann)
    for (const { socket } of [first, second, other, again]) socket.destroy()
  })
})
