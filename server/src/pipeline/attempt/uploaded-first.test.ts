import { describe, expect, test } from 'vitest'
import { Secret } from '../../core/secret.ts'
import type { UpstreamCall, UpstreamSink } from '../../upstream/upstream.ts'
import { openUploadedFirst } from './uploaded-first.ts'

const KEYED = {
  auth: { kind: 'bearer' },
  credential: { secret: new Secret('k'), fields: {} },
} as const
const REQUEST: UpstreamCall = {
  request: { method: 'POST', url: 'https://v/order', headers: { 'x-async': '1' } },
  ...KEYED,
  body: [Buffer.from('{"model":'), Buffer.from('"m"}')],
  bodyLength: 13,
  timeouts: { connectMs: 1, firstByteMs: 2, idleMs: 3 },
}

/** A form of three pieces; the file is `RIFF sound`. */
const FORM = ['head:RI', 'FF so', 'und:tail'].map((piece) => Buffer.from(piece))
const SPAN = { start: 5, end: 15 }

type Hop = 'asked' | 'posted' | 'ordered'

/** A vendor and a store that are answered for by hand. */
function stand(change: { readonly most?: number } = {}) {
  const calls: { readonly hop: Hop; readonly call: UpstreamCall; readonly sink: UpstreamSink }[] = []
  const heard: unknown[] = []
  const opener = (hop: Hop) => (call: UpstreamCall, sink: UpstreamSink) => {
    calls.push({ hop, call, sink })
    const abort = () => sink.fail({ kind: 'aborted', sent: true, detail: 'x' })
    return {
      sent: hop === 'ordered',
      isTask: hop === 'ordered',
      pause: () => undefined,
      resume: () => undefined,
      abort,
    }
  }
  const exchange = openUploadedFirst(
    {
      upstream: { open: opener('asked') },
      openRemote: opener('posted'),
      openOrder: opener('ordered'),
      ask: { url: 'https://v/places', headers: { 'x-ask': '1' } },
      uploads: {
        place: (body, { id, size, beginning }) => {
          if (body['breaks'] === true) throw new Error('planted')
          if (body['host'] !== 'store') return undefined
          if (size > (change.most ?? 10)) return { kind: 'closed', status: 400, answer: { code: 'TooLarge' } }
          const fileName = `${id}-${Buffer.from(beginning).toString()}`
          const fields = { key: `dir/${fileName}`, policy: 'p' }
          return { kind: 'open', url: 'https://store/', fields, fileName, address: `oss://${fileName}` }
        },
        withFile: (request, address) => ({ ...request, file: address }),
      },
      file: { id: 'call1', form: FORM, span: SPAN },
    },
    REQUEST,
    {
      head: ({ status }) => heard.push(status),
      data: (chunk) => heard.push(Buffer.from(chunk).toString()),
      end: () => heard.push('end'),
      fail: ({ kind, sent }) => heard.push([kind, sent]),
      broke: (error) => heard.push(['broke', String(error)]),
    },
  )
  const last = () => {
    const one = calls.at(-1)
    if (one === undefined) throw new Error('nothing was asked')
    return one
  }
  const answer = (status: number, body: unknown = '') => {
    const { sink } = last()
    sink.head({ status, headers: {} })
    sink.data(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)))
    sink.end()
  }
  const fail = (kind: 'connect' | 'reset' | 'protocol' | 'first-byte-timeout' | 'idle-timeout') =>
    last().sink.fail({ kind, sent: true, detail: 'x' })
  return { exchange, heard, answer, fail, last, hops: () => calls.map(({ hop }) => hop) }
}

const textOf = ({ body }: UpstreamCall) =>
  Buffer.concat(
    (body ?? []).map((piece) => (piece instanceof Uint8Array ? piece : new Uint8Array(0))),
  ).toString()

test('the vendor is asked for a place, the file is posted there, and the request names it', () => {
  const { exchange, answer, last, hops, heard } = stand()
  expect(last().call).toMatchObject({
    request: { method: 'GET', url: 'https://v/places', headers: { 'x-ask': '1' } },
    ...KEYED,
  })
  answer(200, { host: 'store' })
  const posted = last().call
  expect(posted.request).toEqual({
    method: 'POST',
    url: 'https://store/',
    headers: { 'content-type': 'multipart/form-data; boundary=sluice-call1' },
  })
  expect([posted.auth, posted.credential]).toEqual([{ kind: 'none' }, { secret: undefined, fields: {} }])
  const form = [
    '--sluice-call1\r\ncontent-disposition: form-data; name="key"\r\n\r\ndir/call1-RIFF sound\r\n',
    '--sluice-call1\r\ncontent-disposition: form-data; name="policy"\r\n\r\np\r\n',
    '--sluice-call1\r\ncontent-disposition: form-data; name="file"; filename="call1-RIFF sound"\r\n',
    'content-type: application/octet-stream\r\n\r\nRIFF sound\r\n--sluice-call1--\r\n',
  ].join('')
  expect(textOf(posted)).toBe(form)
  expect(posted.bodyLength).toBe(Buffer.byteLength(form))
  expect([exchange.sent, exchange.isTask]).toEqual([false, false])
  answer(204)
  const ordered = last().call
  expect(ordered).toMatchObject({ request: REQUEST.request, ...KEYED })
  expect(JSON.parse(textOf(ordered))).toEqual({ model: 'm', file: 'oss://call1-RIFF sound' })
  expect(ordered.bodyLength).toBe(textOf(ordered).length)
  expect([exchange.sent, exchange.isTask]).toEqual([true, true])
  answer(200, { done: true })
  expect(heard).toEqual([200, '{"done":true}', 'end'])
  expect(hops()).toEqual(['asked', 'posted', 'ordered'])
})

describe('nothing is ordered where', () => {
  test.each<[string, number, unknown]>([
    ['the vendor refuses a place', 401, { code: 'InvalidApiKey' }],
    ['it has none', 200, { host: 'none' }],
    ['a page stands in its place', 200, '<html>'],
    ['it redirects', 302, ''],
  ])('%s: that is the answer', (_what, status, body) => {
    const { answer, heard, hops, exchange } = stand()
    answer(status, body)
    expect(heard[0]).toBe(status)
    expect(heard.at(-1)).toBe('end')
    expect([hops(), exchange.sent]).toEqual([['asked'], false])
  })

  test('the file is too large for the place', () => {
    const { answer, heard, hops } = stand({ most: 9 })
    answer(200, { host: 'store' })
    expect([heard, hops()]).toEqual([[400, '{"code":"TooLarge"}', 'end'], ['asked']])
  })

  test.each([
    ['connect', 'connect'],
    ['reset', 'connect'],
    ['protocol', 'connect'],
    ['first-byte-timeout', 'first-byte-timeout'],
    ['idle-timeout', 'idle-timeout'],
  ] as const)('asking or posting fails by %s: it may be done again', (kind, told) => {
    const asking = stand()
    asking.fail(kind)
    const posting = stand()
    posting.answer(200, { host: 'store' })
    posting.fail(kind)
    expect([asking.heard, posting.heard]).toEqual([[[told, false]], [[told, false]]])
    expect(posting.hops()).toEqual(['asked', 'posted'])
  })

  test.each([301, 400, 403, 500])('the store answers %d', (status) => {
    const { answer, heard, hops } = stand()
    answer(200, { host: 'store' })
    answer(status, '<Error/>')
    expect([heard, hops()]).toEqual([[['connect', false]], ['asked', 'posted']])
  })

  test('the store never stops answering', () => {
    const { answer, last, heard, hops } = stand()
    answer(200, { host: 'store' })
    last().sink.head({ status: 200, headers: {} })
    last().sink.data(Buffer.alloc(1_048_577))
    expect([heard, hops()]).toEqual([[['connect', false]], ['asked', 'posted']])
  })

  test('something breaks while a place is read', () => {
    const { answer, heard, hops } = stand()
    answer(200, { breaks: true })
    expect([heard, hops()]).toEqual([[['broke', 'Error: planted']], ['asked']])
  })

  test('it is given up before', () => {
    const asking = stand()
    asking.exchange.abort()
    const posting = stand()
    posting.answer(200, { host: 'store' })
    posting.exchange.abort()
    expect([asking.heard, posting.heard]).toEqual([[['aborted', false]], [['aborted', false]]])
  })
})
