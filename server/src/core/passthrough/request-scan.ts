/**
 * What the gateway reads of a request body, from its bytes as they arrive: the names it routes and logs by, and what
 * sizes the hold. Everything else is checked to be JSON and otherwise left alone (contract §1.4; decisions, Requests).
 */
import type { ProtocolId } from '../catalogue.ts'
import type { JsonKind, JsonSink } from './json-scanner.ts'
import { parseJsonBytes, readTextPrefix, type TextPrefix } from './json-text.ts'
import { REQUEST_FIELDS, type RequestRole } from './request-fields.ts'
import { SpanReader } from './span-reader.ts'
import type { Span } from './splice.ts'
import { compileWatchTree, type WatchNode } from './watch-tree.ts'

/** Longer than any model name; a longer one is cut and marked, so that it can match nothing. */
const MODEL_CHARACTERS_MAX = 512
/** What the log keeps of `user`. Ids clients send are under 200 characters; the rest is cut off. */
const USER_CHARACTERS_MAX = 512
const STATE_ID_CHARACTERS_MAX = 256
/** A number longer than this is nonsense for a count of tokens or candidates. */
const NUMBER_BYTES_MAX = 24

export type RequestScan = ScannedRequest | RefusedRequest

export interface ScannedRequest {
  readonly kind: 'scanned'
  /** The last `model` of the body; undefined only for gemini, whose path names it. */
  readonly model: string | undefined
  /** Every top-level `model` value: all are replaced (decisions, Requests). Empty for gemini. */
  readonly modelSpans: readonly Span[]
  /** Literally `true`; any other value means no. */
  readonly stream: boolean
  /** Opaque end-user id for the log, cut to a bounded length; only where it is a string. */
  readonly user: string | undefined
  /** The client's own output cap, tokens; undefined when it named none or nonsense. */
  readonly maxOutputTokens: number | undefined
  /** How many answers were asked for; undefined when none or nonsense was. */
  readonly candidates: number | undefined
  readonly previousResponseId: string | undefined
  /** The client wants nothing of the answer kept (`store: false`). Responses only. */
  readonly forget: boolean
  /** Where `stream_options` stands, for `inject.ts`. Chat only. */
  readonly streamOptions: StreamOptionsPlace
  /** Bytes of the body, and how many of them are images, sound and files written into it (they are no prompt text). */
  readonly bodyBytes: number
  readonly mediaBytes: number
  readonly mediaCount: number
}

export interface RefusedRequest {
  readonly kind: 'refused'
  readonly code: 40000 | 40002
  readonly message: string
}

export interface StreamOptionsPlace {
  /** Just behind the body's opening brace. */
  readonly rootStart: number
  /** The last top-level `stream_options`, if any. */
  readonly value: StreamOptionsValue | undefined
}

export interface StreamOptionsValue extends Span {
  readonly kind: JsonKind
  /** Nothing but white space between its braces. */
  readonly empty: boolean
  readonly includeUsage: ValuePlace | undefined
}

interface ValuePlace extends Span {
  readonly kind: JsonKind
}

export interface RequestScanner {
  /** False once the body is known to be refused; pushing more is harmless. */
  push(chunk: Uint8Array): boolean
  end(): RequestScan
}

export function createRequestScanner(protocol: ProtocolId): RequestScanner {
  const reading = new RequestReading()
  const reader = new SpanReader(TREES[protocol], reading)
  reading.reader = reader
  return {
    push: (chunk) => reader.push(chunk) && isObject(reader.rootKind),
    end() {
      if (reader.length === 0) return refuse(40000, 'the request body is empty')
      reader.end()
      if (reader.rootKind !== undefined && !isObject(reader.rootKind)) {
        return refuse(40000, 'the request body must be a JSON object')
      }
      const { failure } = reader
      if (failure !== undefined) {
        return refuse(
          40000,
          `the request body is not valid JSON: ${failure.reason} at byte ${failure.offset}`,
        )
      }
      return protocol === 'gemini'
        ? reading.scanned(reader.length)
        : withModel(reading.scanned(reader.length))
    },
  }
}

function isObject(kind: JsonKind | undefined): boolean {
  return kind === undefined || kind === 'object'
}

function withModel(scanned: ScannedRequest): RequestScan {
  if (scanned.modelSpans.length === 0) return refuse(40002, 'model is required')
  if (scanned.model === undefined) return refuse(40002, 'model must be a string')
  if (scanned.model === '') return refuse(40002, 'model must not be empty')
  return scanned
}

function refuse(code: 40000 | 40002, message: string): RefusedRequest {
  return { kind: 'refused', code, message }
}

const ROLES: readonly RequestRole[] = [
  'root',
  'model',
  'stream',
  'user',
  'user-holder',
  'user-inside',
  'output-cap',
  'caps-holder',
  'output-cap-inside',
  'candidates',
  'candidates-inside',
  'previous-response',
  'store',
  'stream-options',
  'include-usage',
  'media',
]

const WANTED: ReadonlySet<RequestRole> = new Set([
  'model',
  'user',
  'user-inside',
  'output-cap',
  'output-cap-inside',
  'candidates',
  'candidates-inside',
  'previous-response',
  'stream-options',
])

function treeOf(protocol: ProtocolId): WatchNode {
  const paths = Object.entries(REQUEST_FIELDS[protocol]).map(([path, role]) => ({
    path,
    watch: ROLES.indexOf(role),
    wanted: WANTED.has(role),
  }))
  return compileWatchTree([{ path: '', watch: ROLES.indexOf('root'), wanted: false }, ...paths])
}

const TREES: Readonly<Record<ProtocolId, WatchNode>> = {
  chat: treeOf('chat'),
  responses: treeOf('responses'),
  messages: treeOf('messages'),
  gemini: treeOf('gemini'),
}

/**
 * The scanner's findings as they come. A value inside an object counts only with the last object of that name, as in
 * JSON.parse, so it waits until its holder ends.
 */
class RequestReading implements JsonSink {
  reader: SpanReader | undefined
  #rootStart = 0
  readonly #modelSpans: Span[] = []
  #model: string | undefined
  #stream = false
  #user: string | undefined
  #userInside: string | undefined
  #outputCap: number | undefined
  #outputCapInside: number | undefined
  #candidates: number | undefined
  #candidatesInside: number | undefined
  #previousResponseId: string | undefined
  #forget = false
  #includeUsage: ValuePlace | undefined
  #streamOptions: StreamOptionsPlace['value']
  #mediaBytes = 0
  #mediaCount = 0

  onValue(watch: number, kind: JsonKind, start: number, end: number): void {
    const role = ROLES[watch]
    switch (role) {
      case 'root':
        this.#rootStart = start + 1
        return
      case 'model':
        this.#modelSpans.push({ start, end })
        this.#model = this.#marked(this.#text({ kind, start, end }, MODEL_CHARACTERS_MAX))
        return
      case 'stream':
        this.#stream = kind === 'true'
        return
      case 'user':
        this.#user = this.#text({ kind, start, end }, USER_CHARACTERS_MAX)?.text
        return
      case 'user-inside':
        this.#userInside = this.#text({ kind, start, end }, USER_CHARACTERS_MAX)?.text
        return
      case 'user-holder':
        this.#user = this.#userInside
        this.#userInside = undefined
        return
      case 'output-cap':
        this.#raiseOutputCap(this.#count(kind, start, end))
        return
      case 'output-cap-inside':
        this.#outputCapInside = this.#count(kind, start, end)
        return
      case 'candidates':
        this.#candidates = this.#count(kind, start, end)
        return
      case 'candidates-inside':
        this.#candidatesInside = this.#count(kind, start, end)
        return
      case 'caps-holder':
        this.#outputCap = this.#outputCapInside
        this.#candidates = this.#candidatesInside
        this.#outputCapInside = undefined
        this.#candidatesInside = undefined
        return
      case 'previous-response':
        this.#previousResponseId = this.#marked(this.#text({ kind, start, end }, STATE_ID_CHARACTERS_MAX))
        return
      case 'store':
        this.#forget = kind === 'false'
        return
      case 'include-usage':
        this.#includeUsage = { kind, start, end }
        return
      case 'stream-options':
        this.#streamOptions = this.#optionsAt(kind, start, end)
        this.#includeUsage = undefined
        return
      case 'media':
        if (kind !== 'string') return
        this.#mediaBytes += end - start
        this.#mediaCount++
        return
      case undefined:
        return
    }
  }

  #optionsAt(kind: JsonKind, start: number, end: number): StreamOptionsValue {
    const empty = kind === 'object' && this.#isBlank(start + 1, end - 1)
    return { kind, start, end, empty, includeUsage: this.#includeUsage }
  }

  scanned(bodyBytes: number): ScannedRequest {
    return {
      kind: 'scanned',
      model: this.#model,
      modelSpans: this.#modelSpans,
      stream: this.#stream,
      user: this.#user,
      maxOutputTokens: this.#outputCap,
      candidates: this.#candidates,
      previousResponseId: this.#previousResponseId,
      forget: this.#forget,
      streamOptions: { rootStart: this.#rootStart, value: this.#streamOptions },
      bodyBytes,
      mediaBytes: this.#mediaBytes,
      mediaCount: this.#mediaCount,
    }
  }

  #text({ kind, start, end }: ValuePlace, charactersMax: number): TextPrefix | undefined {
    if (kind !== 'string' || this.reader === undefined) return undefined
    return readTextPrefix(this.reader.read(start + 1, end - 1), charactersMax)
  }

  /** A cut name must not be taken for another one. */
  #marked(prefix: TextPrefix | undefined): string | undefined {
    if (prefix === undefined || prefix.whole) return prefix?.text
    return `${prefix.text}…`
  }

  /** A chat body may carry two caps; the hold has to cover the larger. */
  #raiseOutputCap(cap: number | undefined): void {
    if (cap !== undefined) this.#outputCap = Math.max(cap, this.#outputCap ?? 0)
  }

  #isBlank(start: number, end: number): boolean {
    return this.reader?.read(start, end).every((byte) => byte <= 0x20) ?? false
  }

  /** A whole number from 1 on; anything else is the upstream's to judge. */
  #count(kind: JsonKind, start: number, end: number): number | undefined {
    if (kind !== 'number' || end - start > NUMBER_BYTES_MAX || this.reader === undefined) return undefined
    const value = parseJsonBytes(this.reader.read(start, end))
    return typeof value === 'number' && Number.isSafeInteger(value) && value >= 1 ? value : undefined
  }
}
