/** A schema of the document as lines for people: a field, its type, what it means; nested ones indented. */
import { isJsonArray } from '../../../core/canonical/json-text.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.ts'
import { htmlText, markedText } from './html-text.ts'

/** Deeper levels are only in the document, since a page with them would be unreadable. */
const DEPTH_MAX = 4
/** Objects with at least this many fields get a place of their own. */
const SHARED_FIELDS_MIN = 4

/** Depth of a protocol’s own objects: deeper levels are in the protocol’s documentation. */
const NAMED_DEPTH_MAX = 2
/** With more alternatives only their kinds are listed. */
const ALTERNATIVES_MAX = 6

/** Where objects and lists of parameters and errors were shown before, so that each is shown once. */
export class Outline {
  readonly #places = new Map<string, { readonly anchor: string; readonly title: string }>()
  readonly #named: JsonObject

  /** @param named the schemas that others refer to by name */
  constructor(named: JsonObject) {
    this.#named = named
  }

  /** HTML for a `pre`. `title`: that of the operation, for links from later ones. */
  lines(schema: JsonValue | undefined, title: string): string {
    return this.#type(schema, { title, depth: 0, depthMax: DEPTH_MAX })
  }

  /** A link to the operation that showed the same text before; undefined: none did, so this one shows it. */
  linkToEarlier(
    text: string,
    operation: { readonly id: string; readonly title: string },
  ): string | undefined {
    const before = this.#places.get(text)
    if (before === undefined) this.#places.set(text, { anchor: operation.id, title: operation.title })
    return before && `<a href="#${before.anchor}">as of ${htmlText(before.title)}</a>`
  }

  #type(schema: JsonValue | undefined, at: Place): string {
    if (!isJsonObject(schema)) return 'any'
    if (typeof schema['$ref'] === 'string') return this.#reference(nameOf(schema['$ref']), at)
    const options = ['anyOf', 'oneOf'].flatMap((word) => listOf(schema[word]))
    if (options.length > ALTERNATIVES_MAX) return `one of ${options.map(kindOf).join(', ')}`
    if (options.length > 0) return options.map((option) => this.#type(option, at)).join(' | ')
    if (schema['const'] !== undefined) return htmlText(JSON.stringify(schema['const']))
    if (isJsonArray(schema['enum']))
      return schema['enum'].map((value) => htmlText(JSON.stringify(value))).join(' | ')
    const types = isJsonArray(schema['type']) ? schema['type'] : [schema['type']]
    return types.map((type) => this.#simple(type, schema, at)).join(' | ')
  }

  /** Shown in full at its first use. */
  #reference(name: string, at: Place): string {
    const anchor = `s-${name}`
    if (this.#places.has(anchor)) return `<a href="#${anchor}">${htmlText(name)}</a>`
    this.#places.set(anchor, { anchor, title: name })
    const depthMax = Math.min(at.depthMax, at.depth + NAMED_DEPTH_MAX)
    return `<i id="${anchor}">${htmlText(name)}</i> ${this.#type(this.#named[name], { ...at, depthMax })}`
  }

  #simple(type: JsonValue | undefined, schema: JsonObject, at: Place): string {
    if (type === 'array') return `list of ${this.#type(schema['items'], at)}`
    if (type === 'object' || (type === undefined && isJsonObject(schema['properties'])))
      return this.#object(schema, at)
    if (type === 'string') return typeof schema['format'] === 'string' ? formatOf(schema['format']) : 'string'
    return typeof type === 'string' ? htmlText(type) : 'any'
  }

  #object(schema: JsonObject, at: Place): string {
    const fields = Object.entries(isJsonObject(schema['properties']) ? schema['properties'] : {})
    const rest = schema['additionalProperties']
    if (fields.length === 0)
      return isJsonObject(rest) && Object.keys(rest).length > 0 ? `map of ${this.#type(rest, at)}` : 'object'
    if (at.depth >= at.depthMax) return '{…}'
    const shared = fields.length < SHARED_FIELDS_MIN ? undefined : JSON.stringify(schema)
    const before = shared === undefined ? undefined : this.#places.get(shared)
    if (before !== undefined) return `{…} <a href="#${before.anchor}">as in ${htmlText(before.title)}</a>`
    const anchor = `o${this.#places.size}`
    if (shared !== undefined) this.#places.set(shared, { anchor, title: at.title })
    const opening = shared === undefined ? '{' : `<i id="${anchor}">{</i>`
    const needed = new Set(listOf(schema['required']))
    const indent = '  '.repeat(at.depth + 1)
    const lines = fields.map(([name, field]) => {
      const mark = needed.has(name) ? '' : '?'
      const type = this.#type(field, { ...at, depth: at.depth + 1 })
      return `${indent}<b>${htmlText(name)}</b>${mark}: ${type}${meaning(field)}`
    })
    return `${opening}\n${lines.join('\n')}\n${'  '.repeat(at.depth)}}`
  }
}

interface Place {
  readonly title: string
  readonly depth: number
  /** Deeper objects are only `{…}`. */
  readonly depthMax: number
}

const formatOf = (name: string): string => TEXT_FORMATS[name] ?? 'string'
const TEXT_FORMATS: Readonly<Record<string, string>> = { 'date-time': 'time', binary: 'bytes' }

const nameOf = (reference: string): string => reference.split('/').at(-1) ?? reference

/** The kind of an alternative: by its `type`, its only field, or its name. */
function kindOf(option: JsonValue): string {
  if (!isJsonObject(option)) return 'any'
  if (typeof option['$ref'] === 'string') return htmlText(nameOf(option['$ref']))
  const properties = isJsonObject(option['properties']) ? option['properties'] : {}
  const type = isJsonObject(properties['type']) ? properties['type'] : {}
  const kinds = [type['const'] ?? [], type['enum'] ?? []].flat().filter((kind) => typeof kind === 'string')
  const [field] = listOf(option['required'])
  return htmlText(kinds.length > 0 ? kinds.join(', ') : typeof field === 'string' ? `{${field}}` : 'object')
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return isJsonArray(value) ? value : []
}

function meaning(field: JsonValue | undefined): string {
  const words = isJsonObject(field) ? field['description'] : undefined
  return typeof words === 'string' ? ` <s>${markedText(words)}</s>` : ''
}
