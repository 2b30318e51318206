import { afterEach, expect, test } from 'vitest'
import { AllowList } from '../connect/guard.ts'
import { CollectingSink } from '../testing/collecting-sink.ts'
import { plainAnswer, type ScriptedServer, scriptedServer } from '../testing/scripted-server.ts'
import { systemTimers } from '../timers.ts'
import type { UpstreamCall } from '../upstream.ts'
import { openRemote } from './open-remote.ts'

const servers: ScriptedServer[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})

/** Names that only this test knows. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  'store.example': ['127.0.0.1'],
  'mixed.example': ['93.184.216.34', '127.0.0.1'],
}
const world = {
  timers: systemTimers,
  resolve: async (name: string) => {
    const found = NAMES[name]
    if (found === undefined) throw new Error('ENOTFOUND')
    return found
  },
}

const call = (url: string): UpstreamCall => ({
  request: { method: 'POST', url, headers: { 'x-a': 'b' } },
  auth: { kind: 'none' },
  credential: { secret: undefined, fields: {} },
  body: [Buffer.from('file')],
  bodyLength: 4,
  timeouts: { connectMs: 10_000, firstByteMs: 10_000, idleMs: 10_000 },
})

async function open(url: string, allowed: readonly string[], trustedHost?: string) {
  const sink = new CollectingSink()
  const refused: string[] = []
  const options = {
    allow: new AllowList(allowed),
    trustedHost,
    onRefused: (why: string) => refused.push(why),
  }
  const exchange = openRemote(call(url), sink, options, world)
  return { sink, refused, exchange, outcome: await sink.outcome }
}

async function store(): Promise<{ readonly server: ScriptedServer; readonly heads: string[] }> {
  const heads: string[] = []
  const server = await scriptedServer(({ socket, onRequest }) =>
    onRequest(({ head }) => {
      heads.push(head)
      socket.write(plainAnswer('taken'))
    }),
  )
  servers.push(server)
  return { server, heads }
}

test.each<[string, string, readonly string[], string | undefined]>([
  ['that the operator opened', 'store.example', ['127.0.0.1'], undefined],
  ['of the vendor itself', 'store.example', [], 'store.example'],
])('a place %s gets the call, under its name', async (_what, host, allowed, trusted) => {
  const { server, heads } = await store()
  const { outcome, exchange, refused } = await open(`http://${host}:${server.port}/a?b`, allowed, trusted)
  expect(outcome).toMatchObject({ kind: 'end' })
  expect([exchange.sent, refused]).toEqual([true, []])
  expect(heads[0]).toMatch(/^POST \/a\?b HTTP\/1\.1/)
  expect(heads[0]).toContain(`host: ${host}:${server.port}`)
  expect(heads[0]).not.toMatch(/authorization|cookie/i)
})

test.each<[string, string, string]>([
  ['inside', 'http://store.example/', 'forbidden'],
  ['of which one address is inside', 'http://mixed.example/', 'forbidden'],
  ['of the cloud', 'http://169.254.169.254/latest', 'forbidden'],
  ['with a password', 'http://a:b@93.184.216.34/', 'not-an-address'],
  ['that is none', 'oss://bucket/key', 'not-an-address'],
  ['that nobody knows', 'http://unknown.example/', 'unreachable'],
])('an address %s gets nothing', async (_what, url, reason) => {
  const { outcome, exchange, refused } = await open(url, [], 'other.example')
  expect(outcome).toMatchObject({ kind: 'fail', failure: { kind: 'connect', sent: false } })
  expect([exchange.sent, refused]).toEqual([false, [reason]])
})

test('an abort during the name lookup is reported at once, and no connection is made', async () => {
  const { server } = await store()
  const sink = new CollectingSink()
  let found: (addresses: readonly string[]) => void = () => undefined
  const slow = {
    timers: systemTimers,
    resolve: () => new Promise<readonly string[]>((resolve) => (found = resolve)),
  }
  const options = { allow: new AllowList(['127.0.0.1']), onRefused: () => undefined }
  const exchange = openRemote(call(`http://store.example:${server.port}/`), sink, options, slow)
  exchange.abort()
  expect(await sink.outcome).toMatchObject({ kind: 'fail', failure: { kind: 'aborted', sent: false } })
  found(['127.0.0.1'])
  await new Promise((resolve) => setImmediate(resolve))
  expect(server.connections()).toBe(0)
})
