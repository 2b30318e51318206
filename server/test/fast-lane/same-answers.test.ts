/** A client cannot tell by the bytes which lane served it, nor by how its connection ends. */
import { once } from 'node:events'
import { gzipSync } from 'node:zlib'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { Connections } from '../../src/http/connections.ts'
import { answerJson, answerStream, cutStream, hangUp } from '../gateway/scripted-upstream.ts'
import {
  CHAT,
  call,
  expectSame,
  KEYED,
  LAST,
  type Lane,
  OK,
  openTwoLanes,
  question,
  RawClient,
  request,
  sends,
  statuses,
  withKey,
} from './two-lanes.ts'

const TIMEOUT_MS = 600
const lanes = await openTwoLanes({
  SLUICE_BODY_IDLE_TIMEOUT_MS: String(TIMEOUT_MS),
  SLUICE_HEADER_TIMEOUT_MS: String(TIMEOUT_MS),
  SLUICE_KEEP_ALIVE_TIMEOUT_MS: '1000',
})
const both: readonly Lane[] = [lanes.on, lanes.off]

beforeEach(() => {
  for (const { upstream } of both) upstream.answer(OK)
})

const CHUNKS = ['a', 'b', 'c'].map(
  (content) => `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta: { content } }] })}\n\n`,
)
const STREAM = answerStream([...CHUNKS, 'data: [DONE]\n\n'])
const streamed = call('hello', [], { stream: true })
const form = ['--x', 'content-disposition: form-data; name="model"', '', 'm', '--x--', ''].join('\r\n')
const zipped = gzipSync(question('zipped')).toString('latin1')
const fieldsOf = (...fields: readonly string[]): readonly string[] => [...KEYED, ...fields]
const withBody = (body: string, ...fields: readonly string[]): string =>
  request(CHAT, fieldsOf(`Content-Length: ${body.length}`, ...fields), body)

describe('the same bytes', () => {
  test.each([
    ['a whole answer', call('hello'), OK, 200],
    ['a stream', streamed, STREAM, 200],
    ['a stream that is cut', streamed, cutStream(CHUNKS), 200],
    ['a refusal of the upstream', call('hello'), answerJson({ error: { message: 'no' } }, 400), 400],
    ['a throttled upstream', call('hello'), answerJson({ error: { message: 'no' } }, 429), 429],
    ['an upstream that hangs up', call('hello'), hangUp, 502],
    ['an empty answer', call('hello'), answerJson(''), undefined],
    ['a large answer', call('hello'), answerJson({ id: 'c', choices: [], long: 'x'.repeat(300_000) }), 200],
    ['no such model', withBody('{"model":"none","messages":[]}'), OK, undefined],
    ['no JSON', withBody('{"model"'), OK, 400],
    ['an empty body', request(CHAT, fieldsOf('Content-Length: 0')), OK, 400],
    ['no key', request(CHAT, ['Content-Length: 0']), OK, 401],
    ['a list of models', request('GET /v1/models', [KEYED[0]]), OK, 200],
    ['the head of a list of models', request('HEAD /v1/models', [KEYED[0]]), OK, 200],
    ['a stored response that is none', request('GET /v1/responses/resp_none', [KEYED[0]]), OK, 404],
    ['one deleted that is none', request('DELETE /v1/responses/resp_none', [KEYED[0]]), OK, 404],
    ['a compressed body', withBody(zipped, 'Content-Encoding: gzip'), OK, 200],
    ['a body that is not compressed', withBody('{}', 'Content-Encoding: gzip'), OK, 400],
    ['an encoding that is none', withBody('{}', 'Content-Encoding: x'), OK, 415],
    [
      'a form',
      request(
        'POST /v1/videos',
        [KEYED[0], 'Content-Type: multipart/form-data; boundary=x', `Content-Length: ${form.length}`],
        form,
      ),
      OK,
      400,
    ],
    ['kept alive', call('hello', ['Connection: keep-alive']), OK, 200],
    ['another method', request('PUT /v1/chat/completions', ['Content-Length: 0']), OK, 405],
  ] as const)('%s', async (_what, text, answerer, status) => {
    for (const { upstream } of both) upstream.answer(answerer)
    const once = await expectSame(lanes, sends(text + LAST))
    if (status !== undefined) expect(statuses(once.text)[0]).toBe(status)
    await expectSame(lanes, sends(text, call('after'), LAST))
  })

  test.each([
    ['closed by its client', call('hello', ['Connection: close'])],
    ['too large, and refused before it was read', request(CHAT, fieldsOf('Content-Length: 200000000'), '{')],
    ['without a key, and refused before it was read', request(CHAT, ['Content-Length: 20'], '{')],
    ['that never comes', request(CHAT, fieldsOf('Content-Length: 20'), '{')],
    ['without its head', 'POST /v1/chat/comp'],
    ['of which nothing comes', ''],
  ])('a request %s', async (_what, text) => {
    await expectSame(lanes, sends(text))
  })
})

const NEVER_CLOSED = [
  '',
  call('hello'),
  request(CHAT, ['Content-Length: 20'], '{'),
  'POST /v1/chat/comp',
  'no request\r\n\r\n',
  request('GET /', ['Connection: Upgrade', 'Upgrade: websocket']),
] as const

describe('how connections end', () => {
  test.each(['on', 'off'] as const)(
    'they are given up though their clients never close them, fast lane %s',
    async (name) => {
      const lane = lanes[name]
      const opened = vi.spyOn(Connections.prototype, 'opened')
      const clients = []
      for (const text of NEVER_CLOSED) {
        const client = new RawClient(lane)
        clients.push(client)
        await client.send([withKey(text, lane)])
      }
      const closed = opened.mock.calls.map(([socket]) =>
        socket.closed ? Promise.resolve() : once(socket, 'close'),
      )
      opened.mockRestore()
      expect(closed.length).toBe(NEVER_CLOSED.length)
      await Promise.all<unknown>(closed)
      for (const { socket } of clients) socket.destroy()
    },
  )

  test.each([
    ['behind a call', call('hello')],
    ['in the middle of a head', 'POST /v1/chat/comp'],
    ['at once', ''],
  ])('a client that sends its end %s', async (_what, text) => {
    await expectSame(lanes, async (client, lane) => {
      await client.send([withKey(text, lane)])
      if (text.startsWith(CHAT) && text.endsWith('}')) await client.until((each) => each.text.endsWith('}'))
      client.socket.end()
    })
  })

  test.each(both)('a client that sends its end in the middle of a body is refused', async (lane) => {
    const client = new RawClient(lane)
    await client.send([withKey(request(CHAT, fieldsOf('Content-Length: 20'), '{'), lane)])
    client.socket.end()
    await client.ended()
    expect(statuses(client.text)).toEqual([400])
  })
})
