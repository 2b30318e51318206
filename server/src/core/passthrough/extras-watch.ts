/**
 * Reads from a passing answer what vendors charge for besides tokens. It runs next to the lane, and only for models with
 * surcharges: the result is the same whether an answer is passed on or converted, streamed or whole.
 */
import type { ProtocolId } from '../catalogue.ts'
import type { ToldExtras } from '../metering/reported-extras.ts'
import { EventScan } from './event-scan.ts'
import { EXTRAS_TABLES, type ExtraRole, type ExtrasTable } from './extras-tables.ts'
import type { JsonKind, JsonSink } from './json-scanner.ts'
import { readTextPrefix } from './json-text.ts'
import { SpanReader } from './span-reader.ts'
import { compileWatchTree, type WatchNode } from './watch-tree.ts'

export interface ExtrasWatch {
  /** Called once, before the first piece, with the answer's form. */
  begin(form: 'stream' | 'whole'): void
  /** A response header that names the tier. */
  noteField(field: string, value: string): void
  /** A piece of the answer as it came from upstream. */
  push(chunk: Uint8Array): void
  /** What was reported so far. */
  read(): ToldExtras
}

export interface ExtrasWatchOptions {
  /** The vendor bills all searches of one answer as one. */
  readonly searchesAsOne?: boolean | undefined
}

export function watchExtras(protocol: ProtocolId, options: ExtrasWatchOptions = {}): ExtrasWatch {
  return new Watch(EXTRAS_TABLES[protocol], TREES[protocol], options.searchesAsOne === true)
}

/** Names and queries are compared up to this length. */
const TEXT_CHARACTERS_MAX = 256
/** Bytes kept of a value that comes in pieces: more than that many characters or any number can take. */
const VALUE_BYTES_KEPT = 4096
/** Different names, and different queries, that are remembered; further ones are ignored. */
const NAMES_MAX = 64
const QUERIES_MAX = 1_000

class Watch implements ExtrasWatch, JsonSink {
  readonly #table: ExtrasTable
  readonly #trees: CompiledExtras
  readonly #searchesAsOne: boolean
  readonly #fields = new Map<string, string>()
  readonly #counted = new Map<string, number>()
  /** Uses that were completed, and those that have begun. */
  readonly #done = new Map<string, number>()
  readonly #begun = new Map<string, number>()
  /** Uses in the last event that repeats them all. */
  #again = new Map<string, number>()
  #againHere = new Map<string, number>()
  readonly #queries = new Set<string>()
  #input: StreamInput | WholeInput | undefined
  // State of the event or item that is being read.
  #roles: readonly ExtraRole[] = []
  #type: string | undefined
  #name: string | undefined
  #action: string | undefined
  #eventType: string | undefined
  #eventFields: [field: string, value: string][] = []

  constructor(table: ExtrasTable, trees: CompiledExtras, searchesAsOne: boolean) {
    this.#table = table
    this.#trees = trees
    this.#searchesAsOne = searchesAsOne
  }

  begin(form: 'stream' | 'whole'): void {
    const { tree, roles } = this.#trees[form === 'stream' ? 'stream' : 'body']
    this.#roles = roles
    this.#input =
      form === 'stream' ? new StreamInput(tree, this, () => this.#closeEvent()) : new WholeInput(tree, this)
  }

  noteField(field: string, value: string): void {
    const told = toldValue(value)
    if (told !== undefined) this.#fields.set(field, told)
  }

  push(chunk: Uint8Array): void {
    this.#input?.push(chunk)
  }

  read(): ToldExtras {
    this.#input?.finish()
    const seen = new Map(this.#done)
    for (const uses of [this.#begun, this.#again])
      for (const [tool, count] of uses) seen.set(tool, Math.max(count, seen.get(tool) ?? 0))
    if (this.#queries.size > 0) seen.set(SEARCH, this.#searchesAsOne ? 1 : this.#queries.size)
    return { counted: this.#counted, seen, listed: this.#table.listed, fields: this.#fields }
  }

  onValue(watch: number, kind: JsonKind, start: number, end: number): void {
    const role = this.#roles[watch]
    switch (role?.kind) {
      case 'event-type':
        this.#eventType = this.#text(kind, start, end)
        return
      case 'item-type':
        this.#type = this.#text(kind, start, end)
        return
      case 'item-name':
        this.#name = this.#text(kind, start, end)
        return
      case 'item-action':
        this.#action = this.#text(kind, start, end)
        return
      case 'item':
        this.#closeItem()
        return
      case 'item-again':
        this.#countItem(this.#againHere)
        return
      case 'use':
        if (kind === 'object') add(this.#done, role.tool)
        return
      case 'query':
        this.#noteQuery(this.#text(kind, start, end))
        return
      case 'source':
        if (kind !== 'null' && kind !== 'false') this.#done.set(role.tool, 1)
        return
      case 'count':
        if (kind === 'number') this.#counted.set(role.tool, this.#number(start, end))
        return
      case 'field':
        this.#noteValue(role.field, this.#text(kind, start, end))
        return
      case undefined:
        return
    }
  }

  #noteQuery(query: string | undefined): void {
    if (query === undefined || query.trim() === '' || this.#queries.size >= QUERIES_MAX) return
    this.#queries.add(query)
  }

  #noteValue(field: string, value: string | undefined): void {
    if (value === undefined) return
    if (this.#table.fieldEvents === undefined || this.#input instanceof WholeInput)
      this.noteField(field, value)
    else this.#eventFields.push([field, value])
  }

  /** The tool used in the item that was just read; undefined: none. */
  #toolOf(): string | undefined {
    const { isUse, nameOf } = this.#table
    const type = this.#type ?? ''
    return isUse(type) ? nameOf(type, this.#name) : undefined
  }

  /** Opening a page, or searching in it, is not a search. */
  get #isLook(): boolean {
    return this.#action !== undefined && this.#action !== 'search'
  }

  /** A whole body shows every use once; in a stream the event says whether it begins or ends. */
  #closeItem(): void {
    if (this.#input instanceof WholeInput) this.#countItem(this.#done)
  }

  #countItem(uses: Map<string, number>): void {
    const tool = this.#toolOf()
    if (tool !== undefined && !this.#isLook) add(uses, tool)
    this.#clearItem()
  }

  #clearItem(): void {
    this.#type = undefined
    this.#name = undefined
    this.#action = undefined
  }

  #closeEvent(): void {
    const { itemEvents, fieldEvents } = this.#table
    const type = this.#eventType ?? ''
    const tool = this.#toolOf()
    if (tool !== undefined && type === itemEvents?.begin) add(this.#begun, tool)
    if (tool !== undefined && type === itemEvents?.end) {
      if (this.#isLook) add(this.#begun, tool, -1)
      else add(this.#done, tool)
    }
    if (fieldEvents?.has(type) === true)
      for (const [field, value] of this.#eventFields) this.noteField(field, value)
    if (this.#againHere.size > 0) {
      this.#again = this.#againHere
      this.#againHere = new Map()
    }
    this.#eventFields = []
    this.#eventType = undefined
    this.#clearItem()
  }

  #text(kind: JsonKind, start: number, end: number): string | undefined {
    if (kind !== 'string' || this.#input === undefined) return undefined
    return readTextPrefix(this.#input.read(start + 1, end - 1), TEXT_CHARACTERS_MAX).text
  }

  #number(start: number, end: number): number {
    const value = Number(new TextDecoder().decode(this.#input?.read(start, end)))
    return Number.isFinite(value) && value > 0 ? Math.ceil(value) : 0
  }
}

const SEARCH = 'web_search'

function add(uses: Map<string, number>, tool: string, count = 1): void {
  const before = uses.get(tool)
  if (before === undefined && uses.size >= NAMES_MAX) return
  uses.set(tool, Math.max(0, (before ?? 0) + count))
}

/** In one spelling; undefined: it has no meaning. */
function toldValue(value: string): string | undefined {
  const told = value.toLowerCase()
  if (SILENT.has(told)) return undefined
  return TRAFFIC.get(told) ?? told
}

/** `auto` only repeats the request. */
const SILENT: ReadonlySet<string> = new Set(['', 'auto', 'not_available', 'traffic_type_unspecified'])

/** Vertex names the traffic, not the tier. */
const TRAFFIC: ReadonlyMap<string, string> = new Map([
  ['on_demand', 'default'],
  ['on_demand_priority', 'priority'],
  ['on_demand_flex', 'flex'],
])

/** Events of a stream, each read in place. */
class StreamInput {
  readonly #events: EventScan
  readonly #onEvent: () => void

  constructor(tree: WatchNode, sink: JsonSink, onEvent: () => void) {
    this.#events = new EventScan(tree, {
      onEvent: () => undefined,
      onValue: (watch, kind, start, end) => sink.onValue(watch, kind, start, end),
    })
    this.#onEvent = onEvent
  }

  push(chunk: Uint8Array): void {
    const { framer } = this.#events
    framer.push(chunk)
    while (framer.next()) this.#read()
    this.#events.readAhead()
  }

  /** The last event may not end with a blank line. */
  finish(): void {
    if (this.#events.framer.finish()) this.#read()
  }

  read(start: number, end: number): Uint8Array {
    const { data, base } = this.#events
    return data.subarray(base + start, base + end)
  }

  #read(): void {
    if (this.#events.framer.dataLines === 0) return
    this.#events.show()
    this.#events.read()
    this.#onEvent()
  }
}

/** One document, split into pieces anywhere. */
class WholeInput {
  readonly #reader: SpanReader
  #readable = true

  constructor(tree: WatchNode, sink: JsonSink) {
    this.#reader = new SpanReader(tree, sink, undefined, VALUE_BYTES_KEPT)
  }

  finish(): void {
    this.#readable = false
  }

  push(chunk: Uint8Array): void {
    if (this.#readable) this.#readable = this.#reader.push(chunk)
  }

  read(start: number, end: number): Uint8Array {
    return this.#reader.read(start, end)
  }
}

interface CompiledExtras {
  readonly stream: CompiledRoles
  readonly body: CompiledRoles
}

interface CompiledRoles {
  readonly tree: WatchNode
  /** By watch number. */
  readonly roles: readonly ExtraRole[]
}

function compile({ stream, body }: ExtrasTable): CompiledExtras {
  return { stream: compileRoles(stream), body: compileRoles(body) }
}

function compileRoles(places: Readonly<Record<string, ExtraRole>>): CompiledRoles {
  const entries = Object.entries(places)
  return {
    tree: compileWatchTree(
      entries.map(([path, { kind }], watch) => ({
        path,
        watch,
        wanted: !UNREAD.has(kind),
      })),
    ),
    roles: entries.map(([, role]) => role),
  }
}

/** Roles for which only the position counts, not the value. */
const UNREAD: ReadonlySet<ExtraRole['kind']> = new Set(['item', 'item-again', 'use', 'source'])

const TREES: Readonly<Record<ProtocolId, CompiledExtras>> = {
  chat: compile(EXTRAS_TABLES.chat),
  responses: compile(EXTRAS_TABLES.responses),
  messages: compile(EXTRAS_TABLES.messages),
  gemini: compile(EXTRAS_TABLES.gemini),
}
