import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, test } from 'vitest'
import { fetchRemote, type RemoteAnswer, type RemoteOptions, type RemoteWorld } from './fetch-remote.ts'
import { AllowList } from '../connect/guard.ts'
import { ManualTimers } from '../testing/manual-timers.ts'
import { type ReceivedRequest, type ScriptedServer, scriptedServer } from '../testing/scripted-server.ts'

const servers: ScriptedServer[] = []

afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})

type Answerer = (request: ReceivedRequest, server: ScriptedServer) => string | Buffer | undefined

async function serve(answer: Answerer): Promise<ScriptedServer> {
  const server: ScriptedServer = await scriptedServer(({ socket, onRequest }) =>
    onRequest((request) => {
      const said = answer(request, server)
      if (said !== undefined) socket.write(said)
    }),
  )
  servers.push(server)
  return server
}

/** A world whose DNS knows only what the test says. */
function world(
  names: Record<string, readonly string[]> = {},
  timers = new ManualTimers(),
): RemoteWorld & { asked: string[] } {
  const asked: string[] = []
  return {
    asked,
    timers,
    resolve: (name) => {
      asked.push(name)
      const addresses = names[name]
      return addresses === undefined ? Promise.reject(new Error('ENOTFOUND')) : Promise.resolve(addresses)
    },
  }
}

const LOOPBACK = new AllowList(['127.0.0.1'])

function options(changes: Partial<RemoteOptions> = {}): RemoteOptions {
  return { maxBytes: 1_000, timeoutMs: 10_000, allow: LOOPBACK, ...changes }
}

function image(body: string | Buffer, headers = ''): Buffer {
  const bytes = Buffer.from(body)
  const head = `HTTP/1.1 200 OK\r\ncontent-type: image/PNG; q=1\r\n${headers}content-length: ${bytes.byteLength}\r\n\r\n`
  return Buffer.concat([Buffer.from(head), bytes])
}

function redirect(location: string): string {
  return `HTTP/1.1 302 Found\r\nlocation: ${location}\r\ncontent-length: 0\r\n\r\n`
}

function reasonOf(answer: RemoteAnswer): string {
  return answer.kind === 'refused' ? answer.reason : answer.kind
}

describe('what is fetched', () => {
  test('comes with its media type, without credentials having been sent', async () => {
    const heads: string[] = []
    const server = await serve((request) => {
      heads.push(request.head)
      return image('png')
    })
    const answer = await fetchRemote(`${server.url}/a.png?b=c`, options(), world())
    expect(answer).toEqual({ kind: 'fetched', mediaType: 'image/png', body: Buffer.from('png') })
    expect(heads[0]).toMatch(/^GET \/a\.png\?b=c HTTP\/1\.1/)
    expect(heads[0]).not.toMatch(/authorization|cookie/i)
  })

  test('is decoded when it was compressed without a request for it', async () => {
    const server = await serve(() => image(gzipSync('png'), 'content-encoding: gzip\r\n'))
    expect(await fetchRemote(server.url, options(), world())).toMatchObject({ body: Buffer.from('png') })
  })
})

describe('an address inside', () => {
  test.each([
    ['http://127.0.0.1/', 'forbidden'],
    ['http://2130706433/', 'forbidden'],
    ['http://0x7f.1/', 'forbidden'],
    ['http://[::1]:8080/', 'forbidden'],
    ['http://[::ffff:169.254.169.254]/latest/meta-data', 'forbidden'],
    ['http://169.254.169.254/latest/meta-data', 'forbidden'],
    ['http://inside.example/', 'forbidden'],
    ['http://mixed.example/', 'forbidden'],
    ['http://unknown.example/', 'unreachable'],
    ['http://user:password@public.example/', 'not-an-address'],
    ['ftp://public.example/', 'not-an-address'],
    ['file:///etc/passwd', 'not-an-address'],
    ['data:image/png;base64,AAAA', 'not-an-address'],
    ['unreadable', 'not-an-address'],
  ])('%s is refused: %s', async (url, reason) => {
    const names = {
      'inside.example': ['10.0.0.7'],
      // One address outside and one inside: which one a connection takes is chance.
      'mixed.example': ['93.184.216.34', '192.168.0.1'],
    }
    expect(reasonOf(await fetchRemote(url, options({ allow: new AllowList([]) }), world(names)))).toBe(reason)
  })

  test('is refused after a redirect, too', async () => {
    const server = await serve((_request, self) => redirect(`http://127.0.0.2:${self.port}/secret`))
    expect(reasonOf(await fetchRemote(server.url, options(), world()))).toBe('forbidden')
    expect(server.connections()).toBe(1)
  })

  test('is refused when the DNS changes its answer between a redirect and the next request', async () => {
    const server = await serve((_request, self) => redirect(`http://turns.example:${self.port}/again`))
    const answers = [['127.0.0.1'], ['10.0.0.7']]
    const changing = { ...world(), resolve: () => Promise.resolve(answers.shift() ?? []) }
    expect(reasonOf(await fetchRemote(`http://turns.example:${server.port}/`, options(), changing))).toBe(
      'forbidden',
    )
  })
})

test('a name is resolved once and the connection goes to that address, under the name', async () => {
  const heads: string[] = []
  const server = await serve((request) => {
    heads.push(request.head)
    return image('png')
  })
  // No resolver of this machine knows the name, so a second look-up would fail.
  const dns = world({ 'pinned.example': ['127.0.0.1'] })
  const answer = await fetchRemote(`http://pinned.example:${server.port}/x`, options(), dns)
  expect(answer.kind).toBe('fetched')
  expect(dns.asked).toEqual(['pinned.example'])
  expect(heads[0]).toContain(`host: pinned.example:${server.port}`)
})

describe('bounds', () => {
  test('size, told by the length before a byte of the body', async () => {
    const server = await serve(
      () => 'HTTP/1.1 200 OK\r\ncontent-type: image/png\r\ncontent-length: 1001\r\n\r\n',
    )
    expect(reasonOf(await fetchRemote(server.url, options(), world()))).toBe('too-large')
  })

  test('size, found out while reading, also of what a compressed body unpacks to', async () => {
    const zeros = gzipSync(Buffer.alloc(1_000_000))
    const server = await serve(() => image(zeros, 'content-encoding: gzip\r\n'))
    expect(reasonOf(await fetchRemote(server.url, options({ maxBytes: 10_000 }), world()))).toBe('too-large')
  })

  test('time, redirects and all', async () => {
    const timers = new ManualTimers()
    const server = await serve(() => {
      setImmediate(() => timers.advance(10_000))
      return undefined
    })
    expect(reasonOf(await fetchRemote(server.url, options(), world({}, timers)))).toBe('timeout')
  })

  test('a resolver that never answers', async () => {
    const timers = new ManualTimers()
    const silent = { timers, resolve: () => new Promise<readonly string[]>(() => undefined) }
    const answer = fetchRemote('http://slow.example/', options(), silent)
    timers.advance(10_000)
    expect(reasonOf(await answer)).toBe('unreachable')
  })

  test('redirects', async () => {
    const server = await serve((_request, self) => redirect(`${self.url}/again`))
    expect(reasonOf(await fetchRemote(server.url, options(), world()))).toBe('too-many-redirects')
    expect(server.connections()).toBe(6)
  })

  test('media type, judged before the body', async () => {
    const server = await serve(() => image('png'))
    const accept = (mediaType: string): boolean => mediaType === 'application/pdf'
    expect(reasonOf(await fetchRemote(server.url, options({ accept }), world()))).toBe('media-type')
  })

  test('status', async () => {
    const server = await serve(() => 'HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n')
    expect(reasonOf(await fetchRemote(server.url, options(), world()))).toBe('status')
  })
})
