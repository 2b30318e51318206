import { afterEach, describe, expect, test } from 'vitest'
import { Secret } from '../core/secret.ts'
import { openUpstream } from './send.ts'
import { CollectingSink, type Outcome } from './testing/collecting-sink.ts'
import { ManualTimers } from './testing/manual-timers.ts'
import {
  chunked,
  plainAnswer,
  type ReceivedRequest,
  type Script,
  type ScriptedServer,
  STREAM_HEAD,
  scriptedServer,
} from './testing/scripted-server.ts'
import type { Upstream, UpstreamCall } from './upstream.ts'

const open: (Upstream | ScriptedServer)[] = []

afterEach(async () => {
  for (const thing of open.splice(0).toReversed()) await thing.close()
})

async function serve(script: Script): Promise<ScriptedServer> {
  const server = await scriptedServer(script)
  open.unshift(server)
  return server
}

function upstream(timers = new ManualTimers()): Upstream {
  const made = openUpstream({ timers })
  open.push(made)
  return made
}

function call(server: ScriptedServer, changes: Partial<UpstreamCall> = {}): UpstreamCall {
  const body = [Buffer.from('{"model":"m"}')]
  return {
    request: { method: 'POST', url: `${server.url}/v1/chat/completions?a=1`, headers: { 'x-fixed': 'yes' } },
    auth: { kind: 'bearer' },
    credential: { secret: new Secret('sk-upstream'), fields: {} },
    body,
    bodyLength: (changes.body ?? body).reduce((sum, chunk) => sum + chunk.byteLength, 0),
    timeouts: { connectMs: 5_000, firstByteMs: 60_000, idleMs: 100_000 },
    ...changes,
  }
}

async function answerOf(
  script: Script,
  changes: Partial<UpstreamCall> = {},
): Promise<[CollectingSink, Outcome]> {
  const server = await serve(script)
  const sink = new CollectingSink()
  upstream().open(call(server, changes), sink)
  return [sink, await sink.outcome]
}

function failed(outcome: Outcome): Extract<Outcome, { kind: 'fail' }>['failure'] {
  if (outcome.kind !== 'fail') throw new Error('the exchange ended well')
  return outcome.failure
}

describe('a call', () => {
  test('carries path, query, fixed headers, credential, length and the body, and asks for no compression', async () => {
    const received: ReceivedRequest[] = []
    const [sink, outcome] = await answerOf(({ socket, onRequest }) =>
      onRequest((request) => {
        received.push(request)
        socket.write(plainAnswer('{"ok":true}', 'x-request-id: r1\r\nset-cookie: a\r\nset-cookie: b\r\n'))
      }),
    )
    expect(outcome).toEqual({ kind: 'end' })
    expect(sink.text).toBe('{"ok":true}')
    expect(sink.heads[0]).toMatchObject({
      status: 200,
      headers: { 'x-request-id': 'r1', 'set-cookie': ['a', 'b'] },
    })
    const head = received[0]?.head ?? ''
    expect(head.split('\r\n')[0]).toBe('POST /v1/chat/completions?a=1 HTTP/1.1')
    for (const line of [
      'authorization: Bearer sk-upstream',
      'x-fixed: yes',
      'accept-encoding: identity',
      'content-length: 13',
      'content-type: application/json',
    ]) {
      expect(head.split('\r\n')).toContain(line)
    }
    expect(received[0]?.body.toString()).toBe('{"model":"m"}')
  })

  test('gives nothing to the sink before open has returned', async () => {
    const server = await serve(() => undefined)
    const sink = new CollectingSink()
    upstream().open(
      { ...call(server), request: { method: 'POST', url: 'ftp://nowhere/', headers: {} } },
      sink,
    )
    expect(sink.over).toBe(false)
    expect(failed(await sink.outcome)).toMatchObject({ kind: 'connect', sent: false })
  })

  test('reuses one connection for calls that follow each other', async () => {
    const server = await serve(({ socket, onRequest }) => onRequest(() => socket.write(plainAnswer('{}'))))
    const room = upstream()
    for (let index = 0; index < 5; index += 1) {
      const sink = new CollectingSink()
      room.open(call(server), sink)
      await sink.outcome
    }
    expect(server.connections()).toBe(1)
  })

  test('does not reuse a connection whose answer was aborted', async () => {
    const server = await serve(({ socket, onRequest }) =>
      onRequest(() => socket.write(Buffer.concat([Buffer.from(STREAM_HEAD), chunked('data: 1\n\n')]))),
    )
    const room = upstream()
    for (let index = 0; index < 2; index += 1) {
      const sink = new CollectingSink()
      const exchange = room.open(call(server), sink)
      sink.onData = () => exchange.abort()
      expect(failed(await sink.outcome).kind).toBe('aborted')
    }
    expect(server.connections()).toBe(2)
  })

  test('writes a body given in many chunks in order, byte for byte', async () => {
    const chunks = Array.from({ length: 300 }, (_, index) => Buffer.alloc(1000 + index, index % 251))
    const received: ReceivedRequest[] = []
    const [, outcome] = await answerOf(
      ({ socket, onRequest }) =>
        onRequest((request) => {
          received.push(request)
          socket.write(plainAnswer('{}'))
        }),
      {
        body: [Buffer.alloc(0), ...chunks],
        bodyLength: chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0),
      },
    )
    expect(outcome).toEqual({ kind: 'end' })
    expect(received[0]?.body.equals(Buffer.concat(chunks))).toBe(true)
  })
})
