/** Bodies that are not plain bytes: compressed although that was not requested, or framed as AWS does. */
import { Transform } from 'node:stream'
import zlib from 'node:zlib'
import { EventStreamUnwrapper } from './event-stream.ts'
import type { UpstreamCall, UpstreamHead } from './upstream.ts'
import type { BodyFilter, FilterOutput } from './filter.ts'

export type Filtered =
  | { readonly kind: 'filtered'; readonly head: UpstreamHead; readonly filter: BodyFilter | undefined }
  | { readonly kind: 'refused'; readonly detail: string }

/** Decoded bytes buffered while the reader is behind. */
const BUFFER_BYTES = 65_536

/** The head as the sink should see it, and the filter for the body; none for a plain body. */
export function filterBody(
  head: UpstreamHead,
  framing: UpstreamCall['framing'],
  output: FilterOutput,
): Filtered {
  const encoding = String(head.headers['content-encoding'] ?? 'identity')
    .trim()
    .toLowerCase()
  const framed = framing !== undefined && String(head.headers['content-type']).startsWith(EVENT_STREAM_TYPE)
  if ((encoding === 'identity' || encoding === '') && !framed)
    return { kind: 'filtered', head, filter: undefined }
  const { 'content-encoding': _encoding, 'content-length': _length, ...headers } = head.headers
  if (framed) {
    if (encoding !== 'identity') return { kind: 'refused', detail: 'a compressed event stream' }
    const seen = { status: head.status, headers: { ...headers, 'content-type': 'text/event-stream' } }
    return { kind: 'filtered', head: seen, filter: new EventStreamUnwrapper(output) }
  }
  const decoder = decoderOf(encoding)
  if (decoder === undefined) {
    return {
      kind: 'refused',
      detail: `an answer in a content-encoding that cannot be read: ${encoding.slice(0, 40)}`,
    }
  }
  return {
    kind: 'filtered',
    head: { status: head.status, headers },
    filter: new Decompression(decoder, output),
  }
}

const EVENT_STREAM_TYPE = 'application/vnd.amazon.eventstream'

function decoderOf(encoding: string): Transform | undefined {
  const options = {
    chunkSize: 16_384,
    readableHighWaterMark: BUFFER_BYTES,
    writableHighWaterMark: BUFFER_BYTES,
  }
  switch (encoding) {
    case 'gzip':
    case 'x-gzip':
      return zlib.createGunzip(options)
    case 'deflate':
      return zlib.createInflate(options)
    case 'br':
      return zlib.createBrotliDecompress(options)
    case 'zstd':
      return createZstd(options)
  }
  return undefined
}

/** Node has it from 22.15 on, so neither the oldest supported Node nor its types have the name. */
function createZstd(options: zlib.ZlibOptions): Transform | undefined {
  const create: unknown = Reflect.get(zlib, 'createZstdDecompress')
  if (typeof create !== 'function') return undefined
  const decoder: unknown = Reflect.apply(create, zlib, [options])
  return decoder instanceof Transform ? decoder : undefined
}

class Decompression implements BodyFilter {
  readonly #decoder: Transform
  #ended = false

  constructor(decoder: Transform, output: FilterOutput) {
    this.#decoder = decoder
    decoder
      .on('data', (chunk: Buffer) => output.data(chunk))
      .on('drain', () => output.drain())
      .on('error', (error) => output.fail(`a compressed answer that cannot be read: ${error.message}`))
      .on('end', () => {
        this.#ended = true
        output.end()
      })
  }

  push(chunk: Uint8Array): boolean {
    // Bytes after the end of the compressed data: nothing more is read until the connection ends.
    return this.#ended || this.#decoder.write(chunk)
  }

  end(): void {
    this.#decoder.end()
  }

  pause(): void {
    this.#decoder.pause()
  }

  resume(): void {
    this.#decoder.resume()
  }

  destroy(): void {
    this.#decoder.destroy()
  }
}
