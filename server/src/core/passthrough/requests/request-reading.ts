/** What the scanner finds in a request body, as it arrives. */
import type { JsonKind, JsonSink } from '../json-scanner.ts'
import { countCodePoints, parseJsonBytes, readTextPrefix, type TextPrefix } from '../json-text.ts'
import type { SpanReader } from '../span-reader.ts'
import type { Span } from '../splice.ts'
import { ITEM_ID_CHARACTERS_MAX, ItemReferencesReading, NO_REFERENCES } from './item-references.ts'
import { COUNT_MAX, looseCount } from './count-in-text.ts'
import { ExtrasReading, NO_EXTRAS, VALUE_BYTES_MAX } from './request-extras.ts'
import type { RequestRole } from './request-fields.ts'
import { NAMED_FIELDS, ROLES } from './request-form.ts'
import type { ScannedRequest, StreamOptionsPlace, StreamOptionsValue, ValuePlace } from './scanned-request.ts'

/** Longer than any model name; a longer one is cut and marked, so that it can match nothing. */
const MODEL_CHARACTERS_MAX = 512
/** What the log keeps of `user`. Ids clients send are under 200 characters; the rest is cut off. */
const USER_CHARACTERS_MAX = 512
const STATE_ID_CHARACTERS_MAX = 256
/** A longer number is not a count of tokens or candidates. */
const NUMBER_BYTES_MAX = 24

type ItemRole = Extract<RequestRole, 'message' | 'item-type' | 'item-role' | 'item-id'>

/** Used if the vendor decides how many there are and the request has no limit: the most that Ark makes. */
const CANDIDATES_OPEN_MAX = 15

type CandidatesRole = Extract<
  RequestRole,
  'candidates' | 'candidates-most' | 'candidates-open' | 'candidates-inside'
>

type MeasuredRole = Extract<RequestRole, 'model-resource' | 'media' | 'item' | 'repeated'>

/** Roles of what a request asks for besides text. */
const EXTRA_ROLES = [
  'tool',
  'tool-type',
  'tool-uses',
  'tool-uses-cap',
  'content-type',
  'extra-cost-field',
  'hosted-tool',
  'unseen-input',
] as const satisfies readonly RequestRole[]

type ExtraRole = (typeof EXTRA_ROLES)[number]

const EXTRAS: ReadonlySet<unknown> = new Set(EXTRA_ROLES)

function isExtra(role: RequestRole | undefined): role is ExtraRole {
  return EXTRAS.has(role)
}

/**
 * The scanner's findings, in order. A value inside an object counts only with the last object of that name, as in
 * JSON.parse, so it waits until its holder ends.
 */
export class RequestReading implements JsonSink {
  reader: SpanReader | undefined
  #rootStart = 0
  readonly #modelSpans: Span[] = []
  readonly #resourceSpans: Span[] = []
  #model: string | undefined
  #stream = false
  /** False: the value is one that some upstreams read as yes, such as "true" and 1. */
  streamIsClear = true
  #user: string | undefined
  #userInside: string | undefined
  #outputCap: number | undefined
  #outputCapInside: number | undefined
  #candidates: number | undefined
  #candidatesMost: number | undefined
  #candidatesOpen = false
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
  #spokenCharacters = 0
  #spokenBytes = 0
  /** Created only when needed: most bodies ask for text alone. */
  #extrasFound: ExtrasReading | undefined
  /** Set for bodies whose items have types and ids. */
  #referencesFound: ItemReferencesReading | undefined
  /** Items of the conversation so far. */
  messages = 0

  /** How often the model was named so far; if each of many requests names it, all of them count. */
  get names(): number {
    return this.#modelSpans.length + this.#resourceSpans.length / (this.messages + 1)
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
      case 'candidates-most':
      case 'candidates-open':
      case 'candidates-inside':
        return this.#takeCandidates(role, { kind, start, end })
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
        return this.#noteItem(role, { kind, start, end })
      case 'model-resource':
      case 'media':
      case 'item':
      case 'repeated':
        return this.#measure(role, { kind, start, end })
      case 'spoken':
        return this.#noteSpoken({ kind, start, end })
      case undefined:
        return
    }
  }

  #measure(role: MeasuredRole, { kind, start, end }: ValuePlace): void {
    switch (role) {
      case 'model-resource':
        this.#resourceSpans.push({ start, end })
        return
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

  /** Of several, it is up to the upstream which one is spoken, and how it reads a number: the longest is charged. */
  #noteSpoken({ kind, start, end }: ValuePlace): void {
    if (kind === 'null' || this.reader === undefined) return
    const isText = kind === 'string'
    const bytes = isText ? end - start - 2 : end - start
    const characters = isText ? countCodePoints(this.reader.read(start + 1, end - 1)) : bytes
    this.#spokenCharacters = Math.max(this.#spokenCharacters, characters)
    this.#spokenBytes = Math.max(this.#spokenBytes, bytes)
  }

  #noteItem(role: ItemRole, place: ValuePlace): void {
    switch (role) {
      case 'message':
        this.messages++
        return this.#referencesFound?.end(place)
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

  get #extras(): ExtrasReading {
    this.#extrasFound ??= new ExtrasReading()
    return this.#extrasFound
  }

  get #references(): ItemReferencesReading {
    this.#referencesFound ??= new ItemReferencesReading()
    return this.#referencesFound
  }

  #noteExtra(role: ExtraRole, name: string, place: ValuePlace): void {
    switch (role) {
      case 'tool':
        return this.#extrasFound?.toolEnd()
      case 'tool-type':
        return this.#extras.toolType(this.#value(place))
      case 'tool-uses':
        return this.#extras.toolUses(this.#loosely(place.kind, place.start, place.end))
      case 'tool-uses-cap':
        return this.#extras.usesCap(this.#loosely(place.kind, place.start, place.end))
      case 'content-type':
        return this.#extras.contentType(this.#value(place))
      case 'extra-cost-field':
        return this.#extras.extraCostField(name, place.kind, this.#value(place))
      case 'hosted-tool':
        return this.#extras.hostedTool(name, place.kind)
      case 'unseen-input':
        return this.#extras.unseenInput(place.kind)
    }
  }

  /** The value of a short string. */
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
    const most = this.#candidatesMost ?? (this.#candidatesOpen ? CANDIDATES_OPEN_MAX : undefined)
    return {
      kind: 'scanned',
      model: this.#model,
      modelSpans: this.#modelSpans,
      resourceSpans: this.#resourceSpans,
      stream: this.#stream,
      user: this.#user,
      maxOutputTokens: this.#outputCap,
      candidates: larger(this.#candidates, most),
      candidatesUncertain: (most ?? 0) > (this.#candidates ?? 1),
      previousResponseId: this.#previousResponseId,
      forget: this.#forget,
      background: this.#background,
      streamOptions: { rootStart: this.#rootStart, value: this.#streamOptions },
      bodyBytes,
      mediaBytes: this.#mediaBytes,
      mediaCount: this.#mediaCount,
      items: this.#items,
      repeatedBytes: this.#repeatedBytes,
      spokenCharacters: this.#spokenCharacters,
      spokenBytes: this.#spokenBytes,
      extras: this.#extrasFound?.extras() ?? NO_EXTRAS,
      references: this.#referencesFound?.references() ?? NO_REFERENCES,
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

  /**
   * If both spellings of the holder are present, it is up to the upstream which one counts: the larger of each value is
   * held for.
   */
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

  /** Of several the largest counts, since it is not known which one the upstream reads. */
  #takeCandidates(role: CandidatesRole, place: ValuePlace): void {
    if (role === 'candidates-open') {
      this.#candidatesOpen = place.kind !== 'null' && this.#value(place) !== 'disabled'
      return
    }
    const count = this.#loosely(place.kind, place.start, place.end)
    if (role === 'candidates') this.#candidates = larger(this.#candidates, count)
    else if (role === 'candidates-most') this.#candidatesMost = larger(this.#candidatesMost, count)
    else this.#candidatesInside = larger(this.#candidatesInside, count)
  }

  #isBlank(start: number, end: number): boolean {
    return this.reader?.read(start, end).every((byte) => byte <= 0x20) ?? false
  }

  /**
   * Some upstreams read "3" as 3, and it is up to them which of several they take: the largest is held for. A count that
   * is written in too many bytes to be read may be any.
   */
  #loosely(kind: JsonKind, start: number, end: number): number | undefined {
    if (kind !== 'string' && kind !== 'number') return undefined
    if (this.reader === undefined) return undefined
    if (kind === 'number') {
      if (end - start > NUMBER_BYTES_MAX) return COUNT_MAX
      return looseCount(new TextDecoder().decode(this.reader.read(start, end)))
    }
    const read = readTextPrefix(this.reader.read(start + 1, end - 1), NUMBER_BYTES_MAX)
    return read.whole ? looseCount(read.text) : COUNT_MAX
  }

  /** A whole number from 1 on; anything else is left to the upstream. */
  #count(kind: JsonKind, start: number, end: number): number | undefined {
    if (kind !== 'number' || end - start > NUMBER_BYTES_MAX || this.reader === undefined) return undefined
    const value = parseJsonBytes(this.reader.read(start, end))
    return typeof value === 'number' && Number.isSafeInteger(value) && value >= 1 ? value : undefined
  }
}

function larger(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || (other !== undefined && other > one) ? other : one
}
