/**
 * A request in the form the pipeline takes, and its body as it arrives: decoded, limited in time, possibly refused
 * before its end.
 */
import * as zlib from 'node:zlib'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Transform } from 'node:stream'
import { asError } from '../../core/errors/as-error.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { callId } from '../../core/ids.ts'
import type { Soon } from '../../core/soon.ts'
import type { Arrival, ArrivingCall, NothingFound, OnChunk } from '../../pipeline/call.ts'
import { readForm } from './read-form.ts'
import type { BodyReader, BodySource } from './wire.ts'
import { type Indexed, IndexedSet } from '../../core/indexed-set.ts'

export interface IncomingOptions extends Pick<Arrival, 'asked'> {
  readonly id: string
  readonly at: number
  readonly endpoint: ArrivingCall['endpoint']
  readonly address: ArrivingCall['address']
  readonly ip: string
  readonly bodyWatch: BodyWatch
  /** Limit for the whole body, ms. */
  readonly bodyTimeoutMs: number
  /** Limit for the text parts of a form, bytes. */
  readonly textBytesMax: number
}

/** A request whose head was read. */
export interface IncomingRequest {
  readonly headers: ArrivingCall['headers']
  readonly body: BodySource
}

/** A request in the form the pipeline takes: headers unchanged, the body not read yet. */
export function arrivalOf(request: IncomingRequest, options: IncomingOptions): Arrival {
  const { asked, textBytesMax } = options
  const readBody: ArrivingCall['readBody'] = (onChunk) =>
    readIncomingBody(request.body, {
      encoding: request.headers['content-encoding'],
      onChunk,
      watch: options.bodyWatch,
      totalTimeoutMs: options.bodyTimeoutMs,
    })
  const call: ArrivingCall & NothingFound = {
    stage: 'incoming',
    callId: callId(options.id),
    requestId: options.id,
    at: options.at,
    endpoint: options.endpoint,
    address: options.address,
    ip: options.ip,
    headers: request.headers,
    keyInQuery: asked.query !== '' && new URLSearchParams(asked.query).has('key'),
    contentLength: contentLengthOf(request),
    readBody,
    key: undefined,
    account: undefined,
    catalogue: undefined,
    body: undefined,
    scan: undefined,
    modelId: undefined,
    stream: undefined,
    user: undefined,
    past: undefined,
    model: undefined,
    fallback: undefined,
    demand: undefined,
    fallbackDemand: undefined,
    reservation: undefined,
  }
  return {
    asked,
    call,
    readForm: (onBytes) =>
      readForm({ contentType: request.headers['content-type'], readBody, onBytes, textBytesMax }),
  }
}

function contentLengthOf(request: IncomingRequest): number | undefined {
  const text = request.headers['content-length']
  return text === undefined ? undefined : Number(text)
}

export interface BodyReading {
  /** The header Content-Encoding. */
  readonly encoding: string | undefined
  /** Called with the decompressed bytes; may throw to refuse the rest. */
  readonly onChunk: OnChunk
  readonly watch: BodyWatch
  /** Limit for the whole body, ms. */
  readonly totalTimeoutMs: number
}

/**
 * Throws or rejects with what `onChunk` threw, or if the client disconnects, is silent for too long, or sends too slowly. A
 * small body has often arrived with its head: then it has been read when this returns.
 */
export function readIncomingBody(source: BodySource, reading: BodyReading): Soon<void> {
  const decoder = openBodyDecoder(reading.encoding)
  const body = new IncomingBody(source, reading, decoder)
  if (decoder !== undefined) body.decodeBy(decoder, reading.encoding)
  source.read(body)
  return body.whole()
}

/** A body while it arrives. */
class IncomingBody implements BodyReader {
  readonly #source: BodySource
  readonly #watch: BodyWatch
  /** undefined: the body is over. The source refers to this reader for as long as the answer lasts. */
  #onChunk: OnChunk | undefined
  readonly #decoder: Transform | undefined
  readonly #watched: WatchedBody
  #waiting: { readonly resolve: () => void; readonly reject: (error: Error) => void } | undefined
  #failure: Error | undefined
  /** The body was read completely, or abandoned. */
  #over = false
  /** Everything has arrived; a decoder may still be working on it. */
  #arrived = false
  /** Pieces that are still being processed. */
  #busy = 0
  #ended = false

  constructor(source: BodySource, reading: BodyReading, decoder: Transform | undefined) {
    this.#source = source
    this.#watch = reading.watch
    this.#onChunk = reading.onChunk
    this.#decoder = decoder
    this.#watched = reading.watch.add(() => this.#fail(tooLate()), reading.totalTimeoutMs)
  }

  /** Once all of it was processed. Throws or rejects with the reason if it cannot be read. */
  whole(): Soon<void> {
    if (this.#failure !== undefined) throw this.#failure
    if (this.#over) return undefined
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject }
    })
  }

  decodeBy(decoder: Transform, encoding: string | undefined): void {
    decoder.on('drain', () => {
      if (!this.#over) this.#source.resume()
    })
    decoder.on('data', (chunk: Buffer) => this.#process(chunk))
    decoder.on('end', () => this.#done())
    decoder.on('error', (error: Error) => this.#fail(undecodable(encoding, error)))
  }

  take(chunk: Buffer): void {
    if (this.#decoder === undefined) return this.#process(chunk)
    if (this.#over) return
    this.#watched.alive = true
    if (!this.#decoder.write(chunk)) this.#source.pause()
  }

  arrived(): void {
    this.#arrived = true
    if (this.#decoder === undefined) this.#done()
    else if (!this.#over) this.#decoder.end()
  }

  cut(): void {
    if (!this.#arrived && !this.#over) this.#fail(cutShort())
  }

  #process(chunk: Buffer): void {
    if (this.#onChunk === undefined) return
    this.#watched.alive = true
    try {
      const busy = this.#onChunk(chunk)
      if (busy !== undefined) this.#waitFor(busy)
    } catch (error) {
      this.#fail(asError(error))
    }
  }

  /** Nothing more is read until what arrived is processed. */
  #waitFor(busy: Promise<void>): void {
    const source = this.#decoder ?? this.#source
    source.pause()
    this.#busy += 1
    busy.then(
      () => {
        this.#busy -= 1
        this.#watched.alive = true
        if (this.#ended) this.#done()
        else if (!this.#over) source.resume()
      },
      (error: unknown) => this.#fail(asError(error)),
    )
  }

  /** A paused stream still emits its end, with its last piece. */
  #done(): void {
    this.#ended = true
    if (this.#busy > 0) return
    if (this.#leave()) this.#waiting?.resolve()
  }

  #fail(error: Error): void {
    if (!this.#leave()) return
    this.#source.pause()
    this.#decoder?.destroy()
    this.#failure = error
    this.#waiting?.reject(error)
  }

  #leave(): boolean {
    if (this.#over) return false
    this.#over = true
    this.#onChunk = undefined
    this.#watch.remove(this.#watched)
    return true
  }
}

function tooLate(): GatewayError {
  return new GatewayError(40000, { status: 408, message: 'the request body did not arrive in time' })
}

function cutShort(): GatewayError {
  return new GatewayError(40000, { message: 'the request body ended before it was complete' })
}

function undecodable(encoding: string | undefined, cause: Error): GatewayError {
  return new GatewayError(40000, {
    message: `the request body is not what its Content-Encoding (${encoding ?? ''}) says: ${cause.message}`,
    cause,
  })
}

/** Whether the head announces a body. */
export function announcesBody({ headers }: IncomingMessage): boolean {
  const length = headers['content-length']
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0')
}

/**
 * Call before sending an answer while the request may be unread: the rest of the body would otherwise be read and
 * discarded for as long as the client sends.
 */
export function closeUnlessRead(request: IncomingMessage, response: ServerResponse): void {
  if (!request.complete && announcesBody(request) && !response.headersSent)
    response.setHeader('connection', 'close')
}

/** A body that is arriving; `alive` is set whenever a part of it arrives. */
export interface WatchedBody extends Indexed {
  alive: boolean
  readonly onLate: () => void
  /** Consecutive checks that found nothing new. */
  quietLooks: number
  /** Checks left until the whole body must have arrived. */
  looksLeft: number
}

/**
 * Ends bodies that stall or arrive too slowly, with one timer for all of them: otherwise every small call would need a
 * timer.
 */
export interface BodyWatch {
  /**
   * `onLate` is called if nothing arrived for the idle time-out, or if the body is incomplete after `totalTimeoutMs`.
   */
  add(onLate: () => void, totalTimeoutMs: number): WatchedBody
  remove(body: WatchedBody): void
  stop(): void
}

/** So that a deadline of seconds is met within seconds, however long the idle time-out is. */
const LOOK_MS_MAX = 2_500

/** Checks at least twice per time-out, so that a silent body ends after one to one and a half time-outs. */
export function createBodyWatch(idleTimeoutMs: number): BodyWatch {
  const bodies = new IndexedSet<WatchedBody>()
  const everyMs = Math.max(1, Math.min(LOOK_MS_MAX, Math.ceil(idleTimeoutMs / 2)))
  const quietLooksMax = Math.ceil(idleTimeoutMs / everyMs)
  const look = (): void =>
    bodies.visit((body) => {
      body.quietLooks = body.alive ? 0 : body.quietLooks + 1
      body.alive = false
      body.looksLeft -= 1
      if (body.quietLooks >= quietLooksMax || body.looksLeft <= 0) body.onLate()
    })
  const timer = setInterval(look, everyMs)
  timer.unref()
  return {
    add(onLate, totalTimeoutMs) {
      // The first check may come at once, so there is one more than fits into the time.
      const looksLeft = Math.ceil(totalTimeoutMs / everyMs) + 1
      const body: WatchedBody = { alive: true, onLate, quietLooks: 0, looksLeft, position: undefined }
      bodies.add(body)
      return body
    },
    remove: (body) => bodies.remove(body),
    stop: () => clearInterval(timer),
  }
}

type OpenDecoder = () => Transform

/** Larger windows are refused: no real client needs a window of more than 8 MiB (RFC 8878 §3.1.1.1.2). */
const ZSTD_WINDOW_LOG_MAX = 23
/** `ZSTD_d_windowLogMax` of zstd.h. */
const ZSTD_WINDOW_LOG_PARAMETER = 100

const DECODERS: ReadonlyMap<string, OpenDecoder> = new Map<string, OpenDecoder>([
  ['gzip', () => zlib.createGunzip()],
  ['x-gzip', () => zlib.createGunzip()],
  ['deflate', () => zlib.createInflate()],
  ['br', () => zlib.createBrotliDecompress()],
  ...zstd(),
])

/** The encodings accepted, as a server may list them by RFC 7694. */
const READABLE = [...DECODERS.keys()].filter((name) => name !== 'x-gzip').join(', ')

/** Node has zstd from 22.15 and 23.8 on; the types used for building are older. */
interface ZstdAware {
  readonly createZstdDecompress: (options: { readonly params: Readonly<Record<number, number>> }) => Transform
}

function zstd(): readonly (readonly [string, OpenDecoder])[] {
  if (!knowsZstd(zlib)) return []
  const { createZstdDecompress } = zlib
  const params = { [ZSTD_WINDOW_LOG_PARAMETER]: ZSTD_WINDOW_LOG_MAX }
  return [['zstd', () => createZstdDecompress({ params })]]
}

function knowsZstd(module: object): module is ZstdAware {
  return 'createZstdDecompress' in module
}

/** A decoder for a body; undefined: none is needed. Throws 415/40000 for an unsupported encoding. */
export function openBodyDecoder(contentEncoding: string | undefined): Transform | undefined {
  if (contentEncoding === undefined) return undefined
  const name = contentEncoding.trim().toLowerCase()
  if (name === '' || name === 'identity') return undefined
  const open = DECODERS.get(name)
  if (open !== undefined) return open()
  const shown = JSON.stringify(name.slice(0, SHOWN_CHARACTERS_MAX))
  throw new GatewayError(40000, {
    status: 415,
    message: `a request body with Content-Encoding ${shown} cannot be read here: send it plain, or as one of ${READABLE}`,
    headers: { 'accept-encoding': READABLE },
  })
}

const SHOWN_CHARACTERS_MAX = 60
