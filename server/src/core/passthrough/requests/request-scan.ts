/**
 * What the gateway reads of a request body, from its bytes as they arrive: the names it routes and logs by, and what
 * sizes the hold. Everything else is checked to be JSON and otherwise left alone
 * (docs/reference/contract.md#1-32, #1-33).
 */
import type { ProtocolId } from '../../catalogue.ts'
import {
  ExtrasReading,
  ITEM_ID_CHARACTERS_MAX,
  type ItemReference,
  ItemReferencesReading,
  type RequestExtras,
  VALUE_BYTES_MAX,
} from './request-extras.ts'
import { type JsonFailure, type JsonKind, type JsonSink, SCAN_DEPTH_MAX } from '../json-scanner.ts'
import { parseJsonBytes, readTextPrefix, type TextPrefix } from '../json-text.ts'
import { REQUEST_FIELDS, type RequestRole } from './request-fields.ts'
import { SpanReader } from '../span-reader.ts'
import type { Span } from '../splice.ts'
import { compileWatchTree, type WatchNode } from '../watch-tree.ts'

/** Longer than any model name; a longer one is cut and marked, so that it can match nothing. */
const MODEL_CHARACTERS_MAX = 512
/** What the log keeps of `user`. Ids clients send are under 200 characters; the rest is cut off. */
const USER_CHARACTERS_MAX = 512
const STATE_ID_CHARACTERS_MAX = 256
/** Each is replaced by itself; no client writes the name twice. */
const MODEL_SPANS_MAX = 16
/** A number longer than this is no count of tokens or candidates. */
const NUMBER_BYTES_MAX = 24

export type RequestScan = ScannedRequest | RefusedRequest

export interface ScannedRequest {
  readonly kind: 'scanned'
  /** The last `model` of the body; undefined only for gemini, whose path names it. */
  readonly model: string | undefined
  /** Every top-level `model` value: all are replaced (docs/reference/contract.md#D-requests-12). Empty for gemini. */
  readonly modelSpans: readonly Span[]
  /** `true`; `false`, `null` and nothing mean no, and any other value is refused. */
  readonly stream: boolean
  /** Opaque end-user id for the log, cut to a bounded length; only where it is a string. */
  readonly user: string | undefined
  /** The client's own output cap, tokens; undefined when it named none, or none that can be read. */
  readonly maxOutputTokens: number | undefined
  /** How many answers were asked for; undefined when none was, or none that can be read. */
  readonly candidates: number | undefined
  readonly previousResponseId: string | undefined
  /** The client wants nothing of the answer kept (`store: false`). Responses only. */
  readonly forget: boolean
  /** Any top-level `background` that is not plainly off: upstreams read "true" and 1 as yes. Responses only. */
  readonly background: boolean
  /** Where `stream_options` stands, for `inject.ts`. Chat only. */
  readonly streamOptions: StreamOptionsPlace
  /** Bytes of the body, and how many of them are images, sound and files written into it (they are no prompt text). */
  readonly bodyBytes: number
  readonly mediaBytes: number
  readonly mediaCount: number
  /** Things that are each read with what is repeated, and its bytes. */
  readonly items: number
  readonly repeatedBytes: number
  readonly extras: RequestExtras
  /** Items that are only named, in order. Responses only. */
  readonly references: readonly ItemReference[]
  /** Members of objects and items of arrays, at every depth, and the body itself: what building the document costs. */
  readonly values: number
}

/** What a body may hold beyond its size. The settings that say so are named where a body is refused. */
export interface BodyBounds {
  /** Members of objects and items of arrays, at every depth. */
  readonly bodyMembersMax: number
  /** Items of `messages`, `input` or `contents`. */
  readonly bodyMessagesMax: number
  /** Containers open at once. */
  readonly bodyDepthMax: number
}

/** For bodies that were judged before. */
const UNBOUNDED: BodyBounds = {
  bodyMembersMax: Number.POSITIVE_INFINITY,
  bodyMessagesMax: Number.POSITIVE_INFINITY,
  bodyDepthMax: SCAN_DEPTH_MAX,
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

/** `bounds` absent: only the scanner's own depth bounds the body. */
export function createRequestScanner(
  of: ProtocolId | RequestForm,
  bounds: BodyBounds = UNBOUNDED,
): RequestScanner {
  const form = typeof of === 'string' ? REQUEST_FORMS[of] : of
  const reading = new RequestReading()
  const reader = new SpanReader(form.tree, reading, bounds.bodyDepthMax)
  reading.reader = reader
  let excess: RefusedRequest | undefined
  return {
    push(chunk) {
      if (excess !== undefined) return false
      const goesOn = reader.push(chunk) && isObject(reader.rootKind)
      excess = goesOn ? (excessOf(reader.values, reading, bounds) ?? ambiguityOf(reader, reading)) : undefined
      return goesOn && excess === undefined
    },
    end() {
      if (excess !== undefined) return excess
      if (reader.length === 0) return refuse(40000, 'the request body is empty')
      reader.end()
      if (reader.rootKind !== undefined && !isObject(reader.rootKind)) {
        return refuse(40000, 'the request body must be a JSON object')
      }
      const { failure } = reader
      if (failure !== undefined) return refuse(40000, unreadable(failure, bounds))
      const scanned = reading.scanned(reader.length, reader.values)
      return form.modelPlace === 'path' ? scanned : withModel(scanned)
    },
  }
}

/** Judged after each piece, so that a body far beyond a bound is not read to its end. */
function excessOf(values: number, reading: RequestReading, bounds: BodyBounds): RefusedRequest | undefined {
  // The document itself is no member of anything.
  if (values - 1 > bounds.bodyMembersMax) {
    return refuse(
      40000,
      `the request body holds more than ${bounds.bodyMembersMax} members and items (SLUICE_BODY_MEMBERS_LIMIT)`,
    )
  }
  if (reading.messages > bounds.bodyMessagesMax) {
    return refuse(
      40000,
      `the request body holds more than ${bounds.bodyMessagesMax} messages (SLUICE_BODY_MESSAGES_LIMIT)`,
    )
  }
  return reading.names > MODEL_SPANS_MAX
    ? refuse(40000, `the request body names its model more than ${MODEL_SPANS_MAX} times`)
    : undefined
}

/** What an upstream may read otherwise than it is read here, so that another call would be made than is paid for. */
function ambiguityOf(
  { lookAlike }: SpanReader,
  { streamIsClear }: RequestReading,
): RefusedRequest | undefined {
  if (lookAlike !== undefined)
    return refuse(40000, `${JSON.stringify(lookAlike)}: field names are lower case`)
  return streamIsClear ? undefined : refuse(40000, 'stream must be true or false')
}

function unreadable({ reason, offset }: JsonFailure, { bodyDepthMax }: BodyBounds): string {
  const setting =
    reason.startsWith('more than') && bodyDepthMax < SCAN_DEPTH_MAX ? ' (SLUICE_BODY_DEPTH_LIMIT)' : ''
  return setting === ''
    ? `the request body is not valid JSON: ${reason} at byte ${offset}`
    : `the request body holds ${reason}${setting}`
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
  'background',
  'stream-options',
  'include-usage',
  'message',
  'item-type',
  'item-role',
  'item-id',
  'media',
  'item',
  'repeated',
  'dear-field',
  'tool',
  'tool-type',
  'tool-uses',
  'tool-uses-cap',
  'hosted-tool',
  'unseen-input',
  'content-type',
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
  'item-type',
  'item-id',
  'dear-field',
  'tool-type',
  'tool-uses',
  'tool-uses-cap',
  'content-type',
])

/** Roles whose fields are told apart by their last name; watched by a number of their own behind the roles'. */
const NAMED: ReadonlySet<RequestRole> = new Set(['dear-field', 'hosted-tool'])

const NAMED_FIELDS: readonly { readonly role: RequestRole; readonly name: string }[] = Object.values(
  REQUEST_FIELDS,
).flatMap((fields) =>
  Object.entries(fields)
    .filter(([, role]) => NAMED.has(role))
    .map(([path, role]) => ({ role, name: nameOf(path) })),
)

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('.') + 1)
}

function watchOf(path: string, role: RequestRole): number {
  if (!NAMED.has(role)) return ROLES.indexOf(role)
  const name = nameOf(path)
  return ROLES.length + NAMED_FIELDS.findIndex((field) => field.role === role && field.name === name)
}

/** What is read of the requests of one wire form. */
export interface RequestForm {
  readonly tree: WatchNode
  /** Where a request names its model. */
  readonly modelPlace: 'body' | 'path'
}

/** Roles that are told apart by the names of known protocols are none of a form of its own. */
export type FormRole = Exclude<RequestRole, 'root' | 'dear-field' | 'hosted-tool'>

/** A form that names its model in the body. */
export function requestForm(fields: Readonly<Record<string, FormRole>>): RequestForm {
  return { tree: treeOf(fields, { looksAlike: true }), modelPlace: 'body' }
}

function treeOf(
  fields: Readonly<Record<string, RequestRole>>,
  options: { readonly looksAlike: boolean },
): WatchNode {
  const paths = Object.entries(fields).map(([path, role]) => ({
    path,
    watch: watchOf(path, role),
    wanted: WANTED.has(role),
  }))
  const root = { path: '', watch: ROLES.indexOf('root'), wanted: false }
  return compileWatchTree([root, ...paths], options)
}

export const REQUEST_FORMS: Readonly<Record<ProtocolId, RequestForm>> = {
  chat: requestFormOf('chat'),
  responses: requestFormOf('responses'),
  messages: requestFormOf('messages'),
  // Gemini's names have capitals of their own, and Google minds them.
  gemini: { tree: treeOf(REQUEST_FIELDS.gemini, { looksAlike: false }), modelPlace: 'path' },
}

function requestFormOf(protocol: ProtocolId): RequestForm {
  return { tree: treeOf(REQUEST_FIELDS[protocol], { looksAlike: true }), modelPlace: 'body' }
}

type ItemRole = Extract<RequestRole, 'message' | 'item-type' | 'item-role' | 'item-id'>

/** Roles of what a request asks for besides words. */
const EXTRA_ROLES = [
  'tool',
  'tool-type',
  'tool-uses',
  'tool-uses-cap',
  'content-type',
  'dear-field',
  'hosted-tool',
  'unseen-input',
] as const satisfies readonly RequestRole[]

type ExtraRole = (typeof EXTRA_ROLES)[number]

const EXTRAS: ReadonlySet<unknown> = new Set(EXTRA_ROLES)

function isExtra(role: RequestRole | undefined): role is ExtraRole {
  return EXTRAS.has(role)
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
  /** False: it was said in words that some upstreams read as yes, such as "true" and 1. */
  streamIsClear = true
  #user: string | undefined
  #userInside: string | undefined
  #outputCap: number | undefined
  #outputCapInside: number | undefined
  #candidates: number | undefined
  #candidatesInside: number | undefined
  #capsHolders = 0
  #previousResponseId: string | undefined
  #forget = false
  #background = false
  #includeUsage: ValuePlace | undefined
  #streamOptions: StreamOptionsPlace['value']
  #mediaBytes = 0
  #mediaCount = 0
  #items = 0
  #repeatedBytes = 0
  readonly #extras = new ExtrasReading()
  readonly #references = new ItemReferencesReading()
  /** Items of the conversation so far. */
  messages = 0

  /** How often the model was named so far. */
  get names(): number {
    return this.#modelSpans.length
  }

  onValue(watch: number, kind: JsonKind, start: number, end: number): void {
    const named = NAMED_FIELDS[watch - ROLES.length]
    const role = named?.role ?? ROLES[watch]
    if (isExtra(role)) return this.#noteExtra(role, named?.name ?? '', { kind, start, end })
    switch (role) {
      case 'root':
        this.#rootStart = start + 1
        return
      case 'model':
        this.#modelSpans.push({ start, end })
        this.#model = this.#marked(this.#text({ kind, start, end }, MODEL_CHARACTERS_MAX))
        return
      case 'stream':
      case 'store':
      case 'background':
        return this.#flag(role, kind)
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
        this.#candidates = larger(this.#candidates, this.#loosely(kind, start, end))
        return
      case 'candidates-inside':
        this.#candidatesInside = larger(this.#candidatesInside, this.#loosely(kind, start, end))
        return
      case 'caps-holder':
        this.#takeCaps()
        return
      case 'previous-response':
        this.#previousResponseId = this.#marked(this.#text({ kind, start, end }, STATE_ID_CHARACTERS_MAX))
        return
      case 'include-usage':
        this.#includeUsage = { kind, start, end }
        return
      case 'stream-options':
        this.#streamOptions = this.#optionsAt(kind, start, end)
        this.#includeUsage = undefined
        return
      case 'message':
      case 'item-type':
      case 'item-role':
      case 'item-id':
        this.#noteItem(role, { kind, start, end })
        return
      case 'media':
      case 'item':
      case 'repeated':
        return this.#measure(role, { kind, start, end })
      case undefined:
        return
    }
  }

  #measure(role: 'media' | 'item' | 'repeated', { kind, start, end }: ValuePlace): void {
    switch (role) {
      case 'media':
        if (kind !== 'string') return
        this.#mediaBytes += end - start
        this.#mediaCount++
        return
      case 'item':
        this.#items++
        return
      case 'repeated':
        this.#repeatedBytes = Math.max(this.#repeatedBytes, end - start)
        return
    }
  }

  #noteItem(role: ItemRole, place: ValuePlace): void {
    switch (role) {
      case 'message':
        this.messages++
        return this.#references.end(place)
      case 'item-type': {
        const type = this.#value(place)
        this.#extras.contentType(type)
        return this.#references.type(type)
      }
      case 'item-role':
        return this.#references.role()
      case 'item-id': {
        const id = this.#text(place, ITEM_ID_CHARACTERS_MAX)
        return this.#references.id(id?.whole === true ? id.text : undefined)
      }
    }
  }

  #noteExtra(role: ExtraRole, name: string, place: ValuePlace): void {
    switch (role) {
      case 'tool':
        return this.#extras.toolEnd()
      case 'tool-type':
        return this.#extras.toolType(this.#value(place))
      case 'tool-uses':
        return this.#extras.toolUses(this.#loosely(place.kind, place.start, place.end))
      case 'tool-uses-cap':
        return this.#extras.usesCap(this.#loosely(place.kind, place.start, place.end))
      case 'content-type':
        return this.#extras.contentType(this.#value(place))
      case 'dear-field':
        return this.#extras.dearField(name, place.kind, this.#value(place))
      case 'hosted-tool':
        return this.#extras.hostedTool(name, place.kind)
      case 'unseen-input':
        return this.#extras.unseenInput(place.kind)
    }
  }

  /** Of a short string. */
  #value(place: ValuePlace): string | undefined {
    return place.end - place.start > VALUE_BYTES_MAX ? undefined : this.#text(place, VALUE_BYTES_MAX)?.text
  }

  #flag(role: 'stream' | 'store' | 'background', kind: JsonKind): void {
    switch (role) {
      case 'stream':
        this.streamIsClear &&= kind === 'true' || kind === 'false' || kind === 'null'
        this.#stream = kind === 'true'
        return
      case 'store':
        this.#forget = kind === 'false'
        return
      case 'background':
        this.#background ||= kind !== 'false' && kind !== 'null'
        return
    }
  }

  #optionsAt(kind: JsonKind, start: number, end: number): StreamOptionsValue {
    const empty = kind === 'object' && this.#isBlank(start + 1, end - 1)
    return { kind, start, end, empty, includeUsage: this.#includeUsage }
  }

  scanned(bodyBytes: number, values: number): ScannedRequest {
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
      background: this.#background,
      streamOptions: { rootStart: this.#rootStart, value: this.#streamOptions },
      bodyBytes,
      mediaBytes: this.#mediaBytes,
      mediaCount: this.#mediaCount,
      items: this.#items,
      repeatedBytes: this.#repeatedBytes,
      extras: this.#extras.extras(),
      references: this.#references.references(),
      values,
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

  /** Where both spellings of the holder come, which one counts is the upstream's to say: the larger of everything is held for. */
  #takeCaps(): void {
    const cap = this.#outputCapInside
    if (this.#capsHolders === 0) this.#outputCap = cap
    else if (cap === undefined) this.#outputCap = undefined
    else if (this.#outputCap !== undefined) this.#outputCap = Math.max(cap, this.#outputCap)
    this.#candidates = larger(this.#candidates, this.#candidatesInside)
    this.#capsHolders++
    this.#outputCapInside = undefined
    this.#candidatesInside = undefined
  }

  #isBlank(start: number, end: number): boolean {
    return this.reader?.read(start, end).every((byte) => byte <= 0x20) ?? false
  }

  /** Some upstreams read "3" as 3, and which of several they take is theirs to say: the largest is held for. */
  #loosely(kind: JsonKind, start: number, end: number): number | undefined {
    if (kind !== 'string') return this.#count(kind, start, end)
    const text = this.#text({ kind, start, end }, NUMBER_BYTES_MAX)?.text.trim() ?? ''
    const value = /^\d+$/.test(text) ? Number(text) : 0
    return value >= 1 && Number.isSafeInteger(value) ? value : undefined
  }

  /** A whole number from 1 on; anything else is the upstream's to judge. */
  #count(kind: JsonKind, start: number, end: number): number | undefined {
    if (kind !== 'number' || end - start > NUMBER_BYTES_MAX || this.reader === undefined) return undefined
    const value = parseJsonBytes(this.reader.read(start, end))
    return typeof value === 'number' && Number.isSafeInteger(value) && value >= 1 ? value : undefined
  }
}

function larger(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || (other !== undefined && other > one) ? other : one
}
