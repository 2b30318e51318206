/** Requests that one reader takes for one and another for two: both lanes take them for the same, and nothing hidden is served. */
import { beforeEach, describe, expect, test } from 'vitest'
import {
  CHAT,
  call,
  expectSame,
  KEYED,
  LAST,
  OK,
  openTwoLanes,
  play,
  question,
  request,
  type Script,
  sends,
  signal,
  statuses,
  withKey,
} from './two-lanes.ts'

const lanes = await openTwoLanes({
  SLUICE_BODY_IDLE_TIMEOUT_MS: '300',
  SLUICE_HEADER_TIMEOUT_MS: '600',
})

beforeEach(() => {
  lanes.on.upstream.answer(OK)
  lanes.off.upstream.answer(OK)
})

const HIDDEN = call('hidden')
const FIRST = question('first')
const chunked = (body: string): string => `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
/** A call with these fields, keyed. */
const odd = (fields: readonly string[], body: string): string => request(CHAT, [...KEYED, ...fields], body)
const length = (text: string): string => `Content-Length: ${text.length}`
const CHUNKED = 'Transfer-Encoding: chunked'

/** What each row sends before a last request that closes the connection. */
const TABLE: readonly (readonly [string, string])[] = [
  ['one call', call('first')],
  ['two calls at once', call('first') + call('second')],
  [
    'a length, and chunks that end before it',
    odd([length(`0\r\n\r\n${HIDDEN}`), CHUNKED], `0\r\n\r\n${HIDDEN}`),
  ],
  ['chunks, and a length that ends before them', odd([CHUNKED, 'Content-Length: 4'], chunked(HIDDEN))],
  ['chunks', odd([CHUNKED], chunked(FIRST)) + call('second')],
  ...[
    'Transfer-Encoding: xchunked',
    'Transfer-Encoding : chunked',
    'Transfer-Encoding:\tchunked',
    'Transfer-Encoding:\x0bchunked',
    'Transfer-Encoding: "chunked"',
    'Transfer-Encoding: chunked, identity',
    'Transfer-Encoding: identity',
    'Transfer-Encoding: gzip, chunked',
    'Transfer-Encoding:',
    'Transfer-Encoding:\r\n chunked',
    'Transfer-Encoding\r\n: chunked',
    'x: x\nTransfer-Encoding: chunked',
    'x: x\rTransfer-Encoding: chunked',
    'transfer_encoding: chunked',
    'TRANSFER-ENCODING: CHUNKED',
    'Transfer-Encoding: chunked\r\nTransfer-Encoding: x',
    'Transfer-Encoding: x\r\nTransfer-Encoding: chunked',
  ].flatMap(
    (field) =>
      [
        [
          `${JSON.stringify(field)} with a length of the whole`,
          odd([length(chunked(FIRST) + HIDDEN), field], chunked(FIRST) + HIDDEN),
        ],
        [`${JSON.stringify(field)} alone`, odd([field], chunked(FIRST) + HIDDEN)],
      ] as const,
  ),
  ...[
    ['Content-Length: 3', length(FIRST)],
    [length(FIRST), length(FIRST)],
    [length(FIRST), 'content-length: 0'],
    [`${length(FIRST)}, ${FIRST.length}`],
    [`Content-Length: +${FIRST.length}`],
    [`Content-Length: 0${FIRST.length}`],
    [`Content-Length: 0x${FIRST.length.toString(16)}`],
    [`Content-Length: ${FIRST.length}.0`],
    [`Content-Length:${FIRST.length}\t`],
    [`Content-Length : ${FIRST.length}`],
    [`Content-Length: -${FIRST.length}`],
    [`Content-Length: 1${'0'.repeat(30)}`],
    ['Content-Length:'],
    [`Content_Length: ${FIRST.length}`],
    [`x: x\n${length(FIRST)}`],
    [`x: x\r\n ${length(FIRST)}`],
    [`x: \0`, length(FIRST)],
    [`x y: z`, length(FIRST)],
    ['no colon', length(FIRST)],
    [': no name', length(FIRST)],
  ].map((fields) => [JSON.stringify(fields), odd(fields, FIRST + HIDDEN)] as const),
  ['a length that covers chunks', odd([length(chunked(FIRST))], chunked(FIRST)) + call('second')],
  ['a call in the body of another', odd([length(HIDDEN)], HIDDEN)],
  [
    'a call in the body of a list of models',
    request('GET /v1/models', [`${KEYED[0]}`, length(HIDDEN)], HIDDEN),
  ],
  ['a body behind a call without a length', request(CHAT, KEYED, FIRST)],
  ['a body behind a list of models', request('GET /v1/models', [KEYED[0]], FIRST)],
  ['a call behind a list of models', request('GET /v1/models', [KEYED[0]], HIDDEN)],
  ['a body longer than its length', `${call('first')}xx`],
  ['a call behind a body, and a line end between', `${call('first')}\r\n${call('second')}`],
  ['a line end in front', `\r\n${call('first')}`],
  ['a body shorter than its length', odd(['Content-Length: 5000'], FIRST)],
  ['two hosts', odd(['Host: other', length(FIRST)], FIRST)],
  ['an expectation', odd(['Expect: 100-continue', length(FIRST)], FIRST)],
  ['an upgrade', odd(['Connection: Upgrade', 'Upgrade: websocket', length(FIRST)], FIRST) + HIDDEN],
  ['an upgrade without its connection', odd(['Upgrade: websocket', length(FIRST)], FIRST) + call('second')],
  [
    'HTTP/2 settings',
    odd(
      ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAA', length(FIRST)],
      FIRST,
    ) + HIDDEN,
  ],
  ['Proxy-Connection', odd(['Proxy-Connection: close', length(FIRST)], FIRST) + call('second')],
  ['keep-alive and close', odd(['Connection: keep-alive, close', length(FIRST)], FIRST) + HIDDEN],
  ['keep-alive', odd(['Connection: keep-alive', length(FIRST)], FIRST) + call('second')],
  ['HTTP/1.0', call('first').replace('HTTP/1.1', 'HTTP/1.0') + HIDDEN],
  [
    'names of what objects have',
    odd(['__proto__: x', 'constructor: y', length(FIRST)], FIRST) + call('second'),
  ],
  ...[
    request('GET /v1/models', ['Connection: close', KEYED[0]]),
    odd([CHUNKED], chunked(FIRST)),
    'GET /v1/models HTTP/1.0\r\n\r\n',
    'GET /v1/models\r\n\r\n',
    'no request\r\n\r\n',
    request('OPTIONS *'),
    request('HEAD /v1/models', [KEYED[0]]),
    request('GET http://gateway/v1/models', [KEYED[0]]),
    request('PUT /v1/chat/completions', ['Content-Length: 0']),
    request('GET /nope'),
    `${'\r\n'.repeat(20)}${call('second')}`,
    `POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nx: ${'a'.repeat(40_000)}\r\n\r\n`,
    'POST /v1/chat/comp',
  ].map(
    (second) =>
      [`first a call, then ${JSON.stringify(second.slice(0, 90))}`, call('first') + second] as const,
  ),
]

/** Whether an answer that waits for no body ends its connection depends on what of the body has come. */
const BODIES_READ = TABLE.filter(([, text]) => !text.startsWith('GET'))

const wholeAndLast = (text: string): Script => sends(text + LAST)

describe('the same with and without the fast lane', () => {
  test.each(TABLE)('in one piece: %s', async (_what, text) => {
    await expectSame(lanes, wholeAndLast(text))
  })

  test.each(TABLE)('the last request apart: %s', async (_what, text) => {
    await expectSame(lanes, sends(text, LAST))
  })

  test.each(BODIES_READ)('the head, then the rest: %s', async (_what, text) => {
    const end = text.indexOf('\r\n\r\n') + 4
    await expectSame(lanes, sends(text.slice(0, end), text.slice(end), LAST))
  })

  test.each(BODIES_READ)('in pieces of seven bytes: %s', async (_what, text) => {
    const all = text.length > 4_000 ? [text] : (text.match(/[^]{1,7}/g) ?? [])
    await expectSame(lanes, sends(...all, LAST))
  })

  test('cut in two at every byte', async () => {
    const text = withKey(call('first') + call('second'), lanes.on)
    const whole = await expectSame(lanes, wholeAndLast(call('first') + call('second')))
    expect(statuses(whole.text)).toEqual([200, 200, 200])
    for (let at = 1; at < text.length; at += 1) {
      // Only with the fast lane: what is expected is known.
      const { text: answers, asked } = await play(lanes.on, sends(text.slice(0, at), text.slice(at) + LAST))
      expect([at, answers, asked]).toEqual([at, whole.text, whole.asked])
    }
  })
})

describe('what is hidden in a body is not served', () => {
  test.each([
    ['a call in the body of another', odd([length(HIDDEN)], HIDDEN), 1],
    [
      'a call in the body of a list of models',
      request('GET /v1/models', [KEYED[0], length(HIDDEN)], HIDDEN),
      0,
    ],
  ])('%s', async (_what, text, served) => {
    const { asked, text: answers, fast } = await expectSame(lanes, wholeAndLast(text))
    expect(JSON.stringify(asked)).not.toMatch(/hidden/)
    expect([statuses(answers).length, fast]).toEqual([2, served])
  })
})

describe('a second request that comes while the first is answered', () => {
  test.each([
    ['a plain one', call('second'), [200, 200, 200]],
    ['a plain one, twice', call('second') + call('third'), [200, 200, 200, 200]],
    ['half of a plain one', call('second').slice(0, 60), undefined],
    ['a plain head without its body', call('second').slice(0, -20), undefined],
    ['one with chunks', odd([CHUNKED], chunked(question('second'))), [200, 200, 200]],
    ['no request', 'no request\r\n\r\n', undefined],
    ['two lengths', odd([length(FIRST), 'Content-Length: 1'], FIRST), undefined],
  ])('%s', async (_what, second, expected) => {
    const script: Script = async (client, lane) => {
      const asked = signal()
      const mayAnswer = signal()
      lane.upstream.script(async (received, response) => {
        asked.give()
        await mayAnswer.given
        await OK(received, response)
      })
      await client.send([withKey(call('first'), lane)])
      await asked.given
      await client.send([withKey(second, lane)])
      mayAnswer.give()
      await client.until(({ text }) => text.includes('HTTP/1.1'))
      await client.send([withKey(LAST, lane)])
    }
    const { text } = await expectSame(lanes, script)
    if (expected !== undefined) expect(statuses(text)).toEqual(expected)
  })

  test.each([2, 31])('%i calls at once', async (count) => {
    const { text, fast } = await expectSame(lanes, wholeAndLast(call('again').repeat(count)))
    expect([statuses(text), fast]).toEqual([Array.from({ length: count + 1 }, () => 200), count])
  })

  test('the fast lane, which reads no further than the request that it serves, takes more at once than Node', async () => {
    const { text } = await play(lanes.on, wholeAndLast(call('again').repeat(60)))
    expect(statuses(text)).toEqual(Array.from({ length: 61 }, () => 200))
  })
})
