/** The way outward by a proxy, a real one on loopback; the guard judges what lies behind it. */
import { afterEach, describe, expect, test } from 'vitest'
import { Secret } from '../core/secret.ts'
import { fetchRemote, type RemoteWorld } from './remote/fetch-remote.ts'
import { createFindProxy } from './connect/find-proxy.ts'
import { AllowList } from './connect/guard.ts'
import { postRemote } from './remote/post-remote.ts'
import { openUpstream } from './send.ts'
import { CollectingSink, type Outcome } from './testing/collecting-sink.ts'
import { type ConnectProxy, openConnectProxy } from './testing/connect-proxy.ts'
import { plainAnswer, type ScriptedServer, scriptedServer } from './testing/scripted-server.ts'
import { systemTimers } from './timers.ts'
import type { Upstream, UpstreamCall } from './upstream.ts'

describe('what goes by the proxy', () => {
  const found = (origin: string, none: readonly string[], address?: string) =>
    createFindProxy({
      httpsProxy: new Secret('http://secure:3128'),
      httpProxy: new Secret('http://plain:3128'),
      noProxy: none,
    })(origin, address)?.origin

  test.each<[string, string, readonly string[], string | undefined]>([
    ['an https address goes by the one for https', 'https://api.example.com', [], 'http://secure:3128'],
    ['an http address by the other', 'http://api.example.com', [], 'http://plain:3128'],
    ['a host that is named goes straight', 'https://api.example.com', ['api.example.com'], undefined],
    ['so does what lies below a domain', 'https://a.b.example.com', ['example.com'], undefined],
    ['with a dot before it', 'https://a.example.com', ['.example.com'], undefined],
    ['or a star', 'https://a.example.com', ['*.example.com'], undefined],
    ['another name that ends alike does not', 'https://myexample.com', ['example.com'], 'http://secure:3128'],
    ['whatever its case', 'https://API.example.com', ['Example.COM'], undefined],
    ['a port that is named', 'https://a.example.com:8443', ['a.example.com:8443'], undefined],
    ['and no other port', 'https://a.example.com', ['a.example.com:8443'], 'http://secure:3128'],
    ['the port of the scheme', 'https://a.example.com', ['a.example.com:443'], undefined],
    ['an address', 'http://10.1.2.3:8000', ['10.1.2.3'], undefined],
    ['a network', 'http://10.1.2.3:8000', ['10.0.0.0/8'], undefined],
    ['a network of IPv6', 'http://[fd00::1]:8000', ['fd00::/8'], undefined],
    ['everything', 'https://api.example.com', ['*'], undefined],
    ['this machine, without being named', 'http://127.0.0.1:11434', [], undefined],
    ['by its name', 'http://localhost:11434', [], undefined],
    ['and in IPv6', 'http://[::1]:11434', [], undefined],
  ])('%s: %s', (_sentence, origin, none, expected) => {
    expect(found(origin, none)).toBe(expected)
  })

  test('a name that was resolved into an exempt network goes straight', () => {
    expect(found('https://files.example.com', ['10.0.0.0/8'], '10.1.1.1')).toBeUndefined()
    expect(found('https://files.example.com', ['10.0.0.0/8'], '93.184.216.34')).toBe('http://secure:3128')
  })
})

const opened: (Upstream | ScriptedServer | ConnectProxy)[] = []
afterEach(async () => {
  for (const thing of opened.splice(0).toReversed()) await thing.close()
})

async function farEnd(): Promise<ScriptedServer> {
  const server = await scriptedServer(({ socket, onRequest }) =>
    onRequest(({ head }) => socket.write(plainAnswer(head.split('\r\n')[0] ?? ''))),
  )
  opened.push(server)
  return server
}

async function proxyTo(port: number, behave?: Parameters<typeof openConnectProxy>[1]): Promise<ConnectProxy> {
  const proxy = await openConnectProxy(port, behave)
  opened.push(proxy)
  return proxy
}

const findBy = (proxy: ConnectProxy, credential = '') => {
  const address = new Secret(`http://${credential}${proxy.host}`)
  return createFindProxy({ httpsProxy: address, httpProxy: address, noProxy: [] })
}

async function send(upstream: Upstream, url: string, connectMs = 5_000): Promise<[string, Outcome]> {
  const call: UpstreamCall = {
    request: { method: 'GET', url, headers: {} },
    auth: { kind: 'none' },
    credential: { secret: undefined, fields: {} },
    body: undefined,
    bodyLength: 0,
    timeouts: { connectMs, firstByteMs: 5_000, idleMs: 5_000 },
  }
  const sink = new CollectingSink()
  upstream.open(call, sink)
  const outcome = await sink.outcome
  return [sink.text, outcome]
}

function openBy(proxy: ConnectProxy, credential?: string): Upstream {
  const upstream = openUpstream({ findProxy: findBy(proxy, credential) })
  opened.push(upstream)
  return upstream
}

describe('an upstream behind a proxy', () => {
  test('is reached through one tunnel for many calls, with the proxy’s credential and no name looked up here', async () => {
    const proxy = await proxyTo((await farEnd()).port)
    const upstream = openBy(proxy, 'us%40er:pass%3Aword@')
    const url = 'http://upstream.invalid:8080/v1/models'
    for (const _time of [1, 2, 3]) {
      const [text, outcome] = await send(upstream, url)
      expect(outcome.kind).toBe('end')
      expect(text).toContain('GET /v1/models HTTP/1.1')
    }
    expect(proxy.asked).toEqual([
      {
        authority: 'upstream.invalid:8080',
        authorization: `Basic ${Buffer.from('us@er:pass:word').toString('base64')}`,
      },
    ])
  })

  test('has its TLS spoken inside the tunnel, under its own name', async () => {
    const proxy = await proxyTo((await farEnd()).port)
    const [, outcome] = await send(openBy(proxy), 'https://upstream.invalid/v1')
    expect(outcome).toMatchObject({ kind: 'fail', failure: { kind: 'connect', sent: false } })
    expect(proxy.asked).toEqual([{ authority: 'upstream.invalid:443', authorization: undefined }])
    const [hello] = proxy.first
    // A handshake record of TLS, with the name in clear.
    expect(hello?.subarray(0, 2)).toEqual(Buffer.from([0x16, 0x03]))
    expect(hello?.includes('upstream.invalid')).toBe(true)
  })

  test.each([
    [407, 'status 407'],
    [502, 'status 502'],
  ])('is not reached where the proxy answers %i, and nothing was sent', async (status, words) => {
    const proxy = await proxyTo((await farEnd()).port, { status })
    const [, outcome] = await send(openBy(proxy), 'http://upstream.invalid/')
    expect(outcome).toMatchObject({ kind: 'fail', failure: { kind: 'connect', sent: false } })
    expect(JSON.stringify(outcome)).toContain(words)
  })

  test('is given up in time where the proxy is silent', async () => {
    const proxy = await proxyTo((await farEnd()).port, { silent: true })
    const [, outcome] = await send(openBy(proxy), 'http://upstream.invalid/', 100)
    expect(outcome).toMatchObject({ kind: 'fail', failure: { kind: 'connect', sent: false } })
  })
})

describe('an address a client chose', () => {
  const world = (addresses: readonly string[]): RemoteWorld => ({
    resolve: () => Promise.resolve(addresses),
    timers: systemTimers,
  })
  const limits = (proxy: ConnectProxy) => ({
    maxBytes: 1_000,
    timeoutMs: 5_000,
    allow: new AllowList([], findBy(proxy)),
  })

  test('is judged here, and the proxy is asked for what was judged, not for a name', async () => {
    const proxy = await proxyTo((await farEnd()).port)
    const answer = await fetchRemote('http://files.invalid/cat.png', limits(proxy), world(['93.184.216.34']))
    expect(answer).toMatchObject({ kind: 'fetched' })
    expect(proxy.asked.map(({ authority }) => authority)).toEqual(['93.184.216.34:80'])
  })

  test.each([
    ['a name of the inside', 'http://files.invalid/', ['10.0.0.5']],
    ['a name of inside and outside', 'http://files.invalid/', ['93.184.216.34', '169.254.169.254']],
    ['an address of the inside', 'http://169.254.169.254/latest/meta-data', []],
    ['this machine', 'http://127.0.0.1:9090/metrics', []],
    ['a name nobody knows', 'http://files.invalid/', []],
  ])('is refused before the proxy is asked: %s', async (_what, url, addresses) => {
    const proxy = await proxyTo((await farEnd()).port)
    const options = limits(proxy)
    const fetched = await fetchRemote(url, options, world(addresses))
    const posted = await postRemote({ url, body: '{}', headers: {} }, options, world(addresses))
    expect([fetched.kind, posted.kind]).toEqual(['refused', 'refused'])
    expect(proxy.asked).toEqual([])
  })

  test('is refused where a redirect leads inside', async () => {
    const server = await scriptedServer(({ socket, onRequest }) =>
      onRequest(() =>
        socket.write('HTTP/1.1 302 Found\r\nlocation: http://169.254.169.254/\r\ncontent-length: 0\r\n\r\n'),
      ),
    )
    opened.push(server)
    const proxy = await proxyTo(server.port)
    const answer = await fetchRemote('http://files.invalid/', limits(proxy), world(['93.184.216.34']))
    expect(answer).toMatchObject({ kind: 'refused', reason: 'forbidden' })
    expect(proxy.asked).toHaveLength(1)
  })
})
