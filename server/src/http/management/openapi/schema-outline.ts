/** A schema of the document as lines for people: a field, its type, what it means; nested ones indented. */
import { isJsonArray } from '../../../core/canonical/json-text.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.ts'
import { htmlText, markedText } from './html-text.ts'

/** Deeper ones are in the document: nobody reads them on a page. */
const DEPTH_MAX = 4
/** Fields from which an object is worth a place of its own. */
const SHARED_FIELDS_MIN = 4

/** Where objects were shown before, so that each is shown once. */
export class Outline {
  readonly #places = new Map<string, { readonly anchor: string; readonly title: string }>()

  /** HTML for a `pre`. `title`: of the operation, for links from later ones. */
  lines(schema: JsonValue | undefined, title: string): string {
    return this.#type(schema, { title, depth: 0 })
  }

  #type(schema: JsonValue | undefined, at: Place): string {
    if (!isJsonObject(schema)) return 'any'
    const options = ['anyOf', 'oneOf'].flatMap((word) => listOf(schema[word]))
    if (options.length > 0) return options.map((option) => this.#type(option, at)).join(' | ')
    if (schema['const'] !== undefined) return htmlText(JSON.stringify(schema['const']))
    if (isJsonArray(schema['enum']))
      return schema['enum'].map((value) => htmlText(JSON.stringify(value))).join(' | ')
    const types = isJsonArray(schema['type']) ? schema['type'] : [schema['type']]
    return types.map((type) => this.#simple(type, schema, at)).join(' | ')
  }

  #simple(type: JsonValue | undefined, schema: JsonObject, at: Place): string {
    if (type === 'array') return `list of ${this.#type(schema['items'], at)}`
    if (type === 'object' || isJsonObject(schema['properties'])) return this.#object(schema, at)
    if (type === 'string') return typeof schema['format'] === 'string' ? formatOf(schema['format']) : 'string'
    return typeof type === 'string' ? htmlText(type) : 'any'
  }

  #object(schema: JsonObject, at: Place): string {
    const fields = Object.entries(isJsonObject(schema['properties']) ? schema['properties'] : {})
    const rest = schema['additionalProperties']
    if (fields.length === 0)
      return isJsonObject(rest) && Object.keys(rest).length > 0 ? `map of ${this.#type(rest, at)}` : 'object'
    if (at.depth === DEPTH_MAX) return '{…}'
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
}

const formatOf = (name: string): string => TEXT_FORMATS[name] ?? 'string'
const TEXT_FORMATS: Readonly<Record<string, string>> = { 'date-time': 'time', binary: 'bytes' }

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return isJsonArray(value) ? value : []
}

function meaning(field: JsonValue | undefined): string {
  const words = isJsonObject(field) ? field['description'] : undefined
  return typeof words === 'string' ? ` <s>${markedText(words)}</s>` : ''
}
