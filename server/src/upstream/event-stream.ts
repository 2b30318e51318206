/**
 * AWS's binary event stream, as Bedrock frames Anthropic's events: each frame holds `{"bytes": base64 of one event's
 * JSON}`. Converted to the equivalent SSE. Frame: total length, headers length, prelude CRC, headers, payload, CRC, all
 * numbers big-endian.
 */
import { Buffer } from 'node:buffer'
import { crc32 } from 'node:zlib'
import { isJsonObject } from '../core/json.ts'
import type { BodyFilter, FilterOutput } from './filter.ts'

const PRELUDE_BYTES = 12
const TRAILER_BYTES = 4
/** The format's own limit for a message. */
const FRAME_BYTES_MAX = 16 * 1024 * 1024

export class EventStreamUnwrapper implements BodyFilter {
  readonly #output: FilterOutput
  #pending: Buffer[] = []
  #pendingBytes = 0
  #wanted = PRELUDE_BYTES
  #over = false

  constructor(output: FilterOutput) {
    this.#output = output
  }

  push(chunk: Uint8Array): boolean {
    if (this.#over) return true
    this.#pending.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength))
    this.#pendingBytes += chunk.byteLength
    while (!this.#over && this.#pendingBytes >= this.#wanted) this.#takeFrame()
    return true
  }

  end(): void {
    if (this.#over) return
    this.#over = true
    if (this.#pendingBytes > 0) this.#output.fail('an event stream that ends inside a frame')
    else this.#output.end()
  }

  pause(): void {}

  resume(): void {}

  destroy(): void {
    this.#over = true
  }

  #takeFrame(): void {
    const bytes = this.#joined()
    const total = bytes.readUInt32BE(0)
    if (total < PRELUDE_BYTES + TRAILER_BYTES || total > FRAME_BYTES_MAX) {
      this.#refuse('an event stream with a frame of impossible length')
      return
    }
    if (bytes.byteLength < total) {
      this.#wanted = total
      return
    }
    this.#pending = [bytes.subarray(total)]
    this.#pendingBytes = bytes.byteLength - total
    this.#wanted = PRELUDE_BYTES
    const frame = bytes.subarray(0, total)
    if (crc32(frame.subarray(0, total - TRAILER_BYTES)) !== frame.readUInt32BE(total - TRAILER_BYTES)) {
      this.#refuse('an event stream whose frame fails its checksum')
      return
    }
    this.#unwrap(frame)
  }

  #joined(): Buffer {
    const first = this.#pending[0]
    if (this.#pending.length === 1 && first !== undefined) return first
    const joined = Buffer.concat(this.#pending, this.#pendingBytes)
    this.#pending = [joined]
    return joined
  }

  #unwrap(frame: Buffer): void {
    const headersEnd = PRELUDE_BYTES + frame.readUInt32BE(4)
    if (headersEnd > frame.byteLength - TRAILER_BYTES) {
      this.#refuse('an event stream with headers beyond their frame')
      return
    }
    const headers = readHeaders(frame.subarray(PRELUDE_BYTES, headersEnd))
    const payload = frame.toString('utf8', headersEnd, frame.byteLength - TRAILER_BYTES)
    const event = headers.get(':message-type') === 'event' ? wrappedEvent(payload) : undefined
    const sse = event ?? exceptionEvent(headers.get(':exception-type') ?? headers.get(':error-code'), payload)
    this.#output.data(Buffer.from(sse))
  }

  #refuse(detail: string): void {
    this.#over = true
    this.#output.fail(detail)
  }
}

/** Value lengths of header types without a length of their own: true, false, byte, short, int, long, …, timestamp, uuid. */
const FIXED_BYTES: Readonly<Record<number, number>> = { 0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16 }
const STRING_TYPE = 7

function readHeaders(bytes: Buffer): ReadonlyMap<string, string> {
  const headers = new Map<string, string>()
  let at = 0
  while (at + 2 <= bytes.byteLength) {
    const nameEnd = at + 1 + bytes.readUInt8(at)
    if (nameEnd >= bytes.byteLength) break
    const name = bytes.toString('utf8', at + 1, nameEnd)
    const type = bytes.readUInt8(nameEnd)
    const fixed = FIXED_BYTES[type]
    const lengthEnd = nameEnd + 1 + (fixed === undefined ? 2 : 0)
    if (lengthEnd > bytes.byteLength) break
    at = lengthEnd + (fixed ?? bytes.readUInt16BE(nameEnd + 1))
    if (type === STRING_TYPE) headers.set(name, bytes.toString('utf8', lengthEnd, at))
  }
  return headers
}

/** undefined: not a wrapped event of the messages protocol. */
function wrappedEvent(payload: string): string | undefined {
  const outer = parse(payload)
  if (!isJsonObject(outer) || typeof outer['bytes'] !== 'string') return undefined
  const text = Buffer.from(outer['bytes'], 'base64').toString('utf8')
  const event = parse(text)
  if (!isJsonObject(event) || typeof event['type'] !== 'string') return undefined
  return `event: ${event['type']}\ndata: ${text}\n\n`
}

/** An exception frame, in the messages protocol's own error shape. */
function exceptionEvent(exception: string | undefined, payload: string): string {
  const body = parse(payload)
  const message = isJsonObject(body) && typeof body['message'] === 'string' ? body['message'] : payload
  const type = EXCEPTION_TYPES[exception ?? ''] ?? 'api_error'
  return `event: error\ndata: ${JSON.stringify({ type: 'error', error: { type, message } })}\n\n`
}

const EXCEPTION_TYPES: Readonly<Record<string, string>> = {
  throttlingException: 'rate_limit_error',
  validationException: 'invalid_request_error',
  modelTimeoutException: 'timeout_error',
  serviceUnavailableException: 'overloaded_error',
  modelStreamErrorException: 'api_error',
  internalServerException: 'api_error',
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
