import { randomBytes } from 'node:crypto'
import zlib from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { filterBody } from './body-filter.ts'
import { eventStreamFrame } from './testing/event-stream-frame.ts'
import type { BodyFilter, FilterOutput } from './filter.ts'

const TEXT = Array.from({ length: 2_000 }, (_, index) => `data: {"index":${index}}\n\n`).join('')

class Output implements FilterOutput {
  readonly chunks: Uint8Array[] = []
  readonly outcome: Promise<string>
  drained = 0
  #finish: (outcome: string) => void = () => undefined

  constructor() {
    this.outcome = new Promise((resolve) => {
      this.#finish = resolve
    })
  }

  get text(): string {
    return Buffer.concat(this.chunks).toString()
  }

  data(chunk: Uint8Array): void {
    this.chunks.push(chunk)
  }

  end(): void {
    this.#finish('end')
  }

  fail(detail: string): void {
    this.#finish(detail)
  }

  drain(): void {
    this.drained += 1
  }
}

function filterOf(headers: Record<string, string>, output: FilterOutput): BodyFilter {
  const filtered = filterBody({ status: 200, headers }, 'aws-event-stream', output)
  if (filtered.kind === 'refused' || filtered.filter === undefined) throw new Error('no filter')
  return filtered.filter
}

function pushInPieces(filter: BodyFilter, bytes: Uint8Array, size: number): void {
  for (let at = 0; at < bytes.byteLength; at += size) filter.push(bytes.subarray(at, at + size))
}

describe('an answer compressed without a request for it', () => {
  const encodings: readonly [string, (text: string) => Buffer][] = [
    ['gzip', (text) => zlib.gzipSync(text)],
    ['x-gzip', (text) => zlib.gzipSync(text)],
    ['deflate', (text) => zlib.deflateSync(text)],
    ['br', (text) => zlib.brotliCompressSync(text)],
    ['GZIP', (text) => zlib.gzipSync(text)],
  ]

  test.each(encodings)('%s is decoded, cut anywhere', async (encoding, compress) => {
    const output = new Output()
    const filter = filterOf({ 'content-encoding': encoding }, output)
    pushInPieces(filter, compress(TEXT), 37)
    filter.end()
    expect(await output.outcome).toBe('end')
    expect(output.text).toBe(TEXT)
  })

  test('its head no longer speaks of encoding and length', () => {
    const head = { status: 200, headers: { 'content-encoding': 'gzip', 'content-length': '12', etag: 'x' } }
    const filtered = filterBody(head, undefined, new Output())
    expect(filtered).toMatchObject({ kind: 'filtered', head: { status: 200, headers: { etag: 'x' } } })
    expect(JSON.stringify(filtered)).not.toContain('content-')
  })

  test('one that ends too early fails', async () => {
    const output = new Output()
    const filter = filterOf({ 'content-encoding': 'gzip' }, output)
    filter.push(zlib.gzipSync(TEXT).subarray(0, 100))
    filter.end()
    expect(await output.outcome).toContain('cannot be read')
  })

  test('one that is not what it says fails', async () => {
    const output = new Output()
    filterOf({ 'content-encoding': 'br' }, output).push(Buffer.from('{"plain":true}'))
    expect(await output.outcome).toContain('cannot be read')
  })

  test('a bomb is held back: what the reader does not take is not unpacked', async () => {
    const output = new Output()
    const filter = filterOf({ 'content-encoding': 'gzip' }, output)
    filter.pause()
    const bomb = zlib.gzipSync(Buffer.concat([randomBytes(300_000), Buffer.alloc(64 * 1024 * 1024)]))
    const taken: boolean[] = []
    for (let at = 0; at < bomb.byteLength; at += 1024) taken.push(filter.push(bomb.subarray(at, at + 1024)))
    expect(taken).toContain(false)
    for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve))
    expect(output.chunks).toEqual([])
    filter.destroy()
  })

  test.each(['compress', 'gzip, br', 'unknown'])('%s is refused', (encoding) => {
    const filtered = filterBody(
      { status: 200, headers: { 'content-encoding': encoding } },
      undefined,
      new Output(),
    )
    expect(filtered.kind).toBe('refused')
  })

  test.each([{}, { 'content-encoding': 'identity' }])('%j passes as it is', (headers) => {
    const head = { status: 200, headers }
    expect(filterBody(head, undefined, new Output())).toEqual({ kind: 'filtered', head, filter: undefined })
  })
})

describe('an event stream of AWS', () => {
  const headers = { 'content-type': 'application/vnd.amazon.eventstream' }
  const start = { type: 'message_start', message: { id: 'msg_1' } }
  const delta = { type: 'content_block_delta', delta: { type: 'text_delta', text: 'Grüße 你好' } }
  const wrapped = (event: object): Buffer =>
    eventStreamFrame(
      { ':message-type': 'event', ':event-type': 'chunk', ':content-type': 'application/json' },
      JSON.stringify({ bytes: Buffer.from(JSON.stringify(event)).toString('base64'), p: 'abcd' }),
    )

  test.each([1, 2, 3, 11, 64, 4096])('cut into pieces of %i bytes gives the SSE it wraps', async (size) => {
    const output = new Output()
    const filter = filterOf(headers, output)
    pushInPieces(filter, Buffer.concat([wrapped(start), wrapped(delta), wrapped(delta)]), size)
    filter.end()
    expect(await output.outcome).toBe('end')
    const sse = (event: { type: string }): string =>
      `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
    expect(output.text).toBe(sse(start) + sse(delta) + sse(delta))
  })

  test('is announced as SSE', () => {
    const filtered = filterBody({ status: 200, headers }, 'aws-event-stream', new Output())
    expect(filtered).toMatchObject({ head: { headers: { 'content-type': 'text/event-stream' } } })
  })

  test('an error answer, plain JSON, passes as it is', () => {
    const head = { status: 400, headers: { 'content-type': 'application/json' } }
    expect(filterBody(head, 'aws-event-stream', new Output())).toEqual({
      kind: 'filtered',
      head,
      filter: undefined,
    })
  })

  test.each([
    ['throttlingException', 'rate_limit_error'],
    ['validationException', 'invalid_request_error'],
    ['serviceUnavailableException', 'overloaded_error'],
    ['somethingNew', 'api_error'],
  ])('the exception %s becomes the error event %s', async (exception, type) => {
    const output = new Output()
    const filter = filterOf(headers, output)
    const exceptionHeaders = { ':message-type': 'exception', ':exception-type': exception }
    filter.push(eventStreamFrame(exceptionHeaders, '{"message":"slow down"}'))
    filter.end()
    await output.outcome
    expect(output.text).toBe(
      `event: error\ndata: {"type":"error","error":{"type":"${type}","message":"slow down"}}\n\n`,
    )
  })

  test('a flipped bit fails the checksum', async () => {
    const output = new Output()
    const frame = wrapped(start)
    frame[40] = (frame[40] ?? 0) ^ 1
    filterOf(headers, output).push(frame)
    expect(await output.outcome).toContain('checksum')
  })

  test.each([0, 15, 0x7fffffff])('a frame of length %i is impossible', async (length) => {
    const output = new Output()
    const frame = Buffer.alloc(12)
    frame.writeUInt32BE(length)
    filterOf(headers, output).push(frame)
    expect(await output.outcome).toContain('impossible length')
  })

  test('an end inside a frame fails', async () => {
    const output = new Output()
    const filter = filterOf(headers, output)
    filter.push(wrapped(start).subarray(0, 30))
    filter.end()
    expect(await output.outcome).toContain('ends inside a frame')
  })
})
