/**
 * A request about a file that the vendor fetches: the vendor is asked for a place, the file is posted there, and then the
 * request is sent with the file's address in it. Until then nothing has been ordered, whatever fails.
 */
import { isJsonObject } from '../../core/json.ts'
import { type BodyPiece, isInMemory, type Span, spliceChunks } from '../../core/passthrough/splice.ts'
import type { FormedRequest, UploadForm, UploadPlace } from '../../providers/provider.ts'
import type {
  TransportFailure,
  Upstream,
  UpstreamCall,
  UpstreamExchange,
  UpstreamHead,
  GuardedSink,
} from '../../upstream/upstream.ts'
import { NO_KEY } from './polled-task.ts'
import { parseJson } from './classify.ts'
import { askSmall } from './small-answer.ts'

/** A place is a page, and a store that has taken a file says nothing. */
const ANSWER_BYTES_MAX = 1_048_576
/** Of a file's beginning: what tells its kind. */
const BEGINNING_BYTES = 16

export interface UploadedFirstParts {
  readonly upstream: Pick<Upstream, 'open'>
  /** To addresses that the vendor names. */
  readonly openRemote: Upstream['open']
  /** Sends the request. */
  readonly openOrder: (order: UpstreamCall, sink: GuardedSink) => UpstreamExchange
  readonly ask: Omit<FormedRequest, 'method'>
  readonly uploads: Pick<UploadForm, 'place' | 'withFile'>
  readonly file: FileSource
}

/** A file inside of a form. */
export interface FileSource {
  readonly id: string
  readonly form: readonly BodyPiece[]
  /** Of its content. */
  readonly span: Span
}

/** @param call the request, whose body is one document without its file */
export function openUploadedFirst(
  parts: UploadedFirstParts,
  call: UpstreamCall,
  sink: GuardedSink,
): UpstreamExchange {
  const uploaded = new UploadedFirst(parts, call, sink)
  uploaded.ask()
  return uploaded
}

class UploadedFirst implements UpstreamExchange {
  readonly #parts: UploadedFirstParts
  readonly #call: UpstreamCall
  readonly #sink: GuardedSink
  #current: UpstreamExchange | undefined
  #order: UpstreamExchange | undefined

  constructor(parts: UploadedFirstParts, call: UpstreamCall, sink: GuardedSink) {
    this.#parts = parts
    this.#call = call
    this.#sink = sink
  }

  get sent(): boolean {
    return this.#order?.sent ?? false
  }

  get isTask(): boolean {
    return this.#order?.isTask ?? false
  }

  pause(): void {
    this.#order?.pause()
  }

  resume(): void {
    this.#order?.resume()
  }

  abort(): void {
    const current = this.#order ?? this.#current
    current?.abort()
  }

  ask(): void {
    const { upstream, ask } = this.#parts
    const { auth, credential, timeouts } = this.#call
    const request = { method: 'GET' as const, ...ask }
    const call = { request, auth, credential, timeouts, body: undefined, bodyLength: 0 }
    this.#current = askSmall(upstream.open, call, ANSWER_BYTES_MAX, {
      ended: (head, body) => this.#takePlace(head, body),
      fail: (failure) => this.#fail(failure),
      broke: (error) => this.#sink.broke(error),
    })
  }

  #takePlace(head: UpstreamHead, body: Uint8Array): void {
    const parsed = head.status >= 200 && head.status < 300 ? parseJson(body) : undefined
    const { id, span, form } = this.#parts.file
    const file = { id, size: span.end - span.start, beginning: beginningOf(form, span) }
    const place = isJsonObject(parsed) ? this.#parts.uploads.place(parsed, file) : undefined
    if (place === undefined) this.#answer(head, body)
    else if (place.kind === 'open') this.#post(place)
    else this.#answer({ status: place.status, headers: JSON_TYPE }, Buffer.from(JSON.stringify(place.answer)))
  }

  #post(place: Extract<UploadPlace, { kind: 'open' }>): void {
    const { id, form, span } = this.#parts.file
    const boundary = `sluice-${id}`
    const { chunks, length } = spliceChunks(form, [
      { start: 0, end: span.start, replacement: formHead(boundary, place) },
      { start: span.end, end: lengthOf(form), replacement: Buffer.from(`\r\n--${boundary}--\r\n`) },
    ])
    const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` }
    const call = {
      request: { method: 'POST' as const, url: place.url, headers },
      ...NO_KEY,
      timeouts: this.#call.timeouts,
      body: chunks,
      bodyLength: length,
    }
    this.#current = askSmall(this.#parts.openRemote, call, ANSWER_BYTES_MAX, {
      ended: ({ status }) => {
        if (status >= 200 && status < 300) this.#send(place.address)
        else
          this.#fail({ kind: 'connect', sent: false, detail: `the place of a file answered with ${status}` })
      },
      fail: (failure) => this.#fail(failure),
      broke: (error) => this.#sink.broke(error),
    })
  }

  #send(address: string): void {
    const request = parseJson(Buffer.concat((this.#call.body ?? []).filter(isInMemory)))
    if (!isJsonObject(request)) throw new Error('a request about a file is no document')
    const body = Buffer.from(JSON.stringify(this.#parts.uploads.withFile(request, address)))
    const call = { ...this.#call, body: [body], bodyLength: body.byteLength }
    this.#order = this.#parts.openOrder(call, this.#sink)
  }

  #answer(head: UpstreamHead, body: Uint8Array): void {
    this.#sink.head(head)
    if (body.byteLength > 0) this.#sink.data(body)
    this.#sink.end()
  }

  /** Nothing was ordered, so all of it may be done again. */
  #fail({ kind, detail }: TransportFailure): void {
    const isUnread = kind === 'protocol' || kind === 'reset'
    this.#sink.fail({
      kind: isUnread ? 'connect' : kind,
      sent: false,
      detail: `before a file was there: ${detail}`,
    })
  }
}

const JSON_TYPE = { 'content-type': 'application/json' }

function lengthOf(form: readonly BodyPiece[]): number {
  return form.reduce((sum, { length }) => sum + length, 0)
}

/** As far as it is in memory; what lies in a file has no kind. */
function beginningOf(form: readonly BodyPiece[], { start, end }: Span): Uint8Array {
  const until = Math.min(end, start + BEGINNING_BYTES)
  const { chunks } = spliceChunks(form, [
    { start: 0, end: start, replacement: NOTHING },
    { start: until, end: lengthOf(form), replacement: NOTHING },
  ])
  return Buffer.concat(chunks.filter(isInMemory))
}

const NOTHING = new Uint8Array(0)

function formHead(
  boundary: string,
  { fields, fileName }: Extract<UploadPlace, { kind: 'open' }>,
): Uint8Array {
  const parts = Object.entries(fields).map(
    ([name, value]) => `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  )
  const file = `content-disposition: form-data; name="file"; filename="${fileName}"\r\ncontent-type: application/octet-stream`
  return Buffer.from(`${parts.join('')}--${boundary}\r\n${file}\r\n\r\n`)
}
