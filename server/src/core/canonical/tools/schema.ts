/**
 * Schema dialects. Clients send full JSON Schema; Anthropic's structured output takes a strict part of it, Gemini's
 * `parameters` a part of OpenAPI 3.0 that refuses every unknown keyword (docs/protocols.md#gemini-requests and
 * docs/protocols.md#structured-output-without-support). What a dialect cannot express is moved into `description`, where
 * the model still reads it. All traversals are bounded in depth and number of nodes.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../../json.ts'
import { isJsonArray } from '../json-text.ts'

/** Levels of a schema that are kept; deeper ones accept anything. Real schemas have under 20. */
const DEPTH_MAX = 64
/** Nodes written in all, so that references into references cannot grow without end. */
const NODES_MAX = 20_000

/** A schema for Anthropic's structured output: closed objects, `anyOf` for `oneOf`, no numeric or length keywords. */
export function toAnthropicSchema(schema: JsonValue): JsonObject {
  return anthropicNode(schema, { left: NODES_MAX }, DEPTH_MAX)
}

/** A schema for Gemini's `parameters` and `responseSchema`: references inlined, unknown keywords gone. */
export function toOpenApiSubset(schema: JsonValue): JsonObject {
  const walk: OpenApiWalk = { root: schema, left: NODES_MAX }
  return openApiNode(schema, { walk, depth: DEPTH_MAX, references: [] })
}

/** Gemini's OpenAPI form (`STRING`, `nullable`, numbers as text) as JSON Schema; JSON Schema stays as it is. */
export function toJsonSchema(schema: JsonValue): JsonValue {
  return jsonSchemaNode(schema, { left: NODES_MAX }, DEPTH_MAX)
}

/**
 * A schema for a messages tool: an object at the top, without the combinators Anthropic refuses there and without
 * `$schema`. Everything below the top is plain JSON Schema to it.
 */
export function toToolInputSchema(schema: JsonValue | undefined): JsonObject {
  if (schema === undefined || !isJsonObject(schema)) return { type: 'object', properties: {} }
  const { $schema: _dialect, ...kept } = schema
  const combined = TOP_COMBINATORS.some((keyword) => kept[keyword] !== undefined)
  const flat = combined ? withoutTopCombinators(kept) : kept
  return flat.type === 'object' ? flat : { ...flat, type: 'object' }
}

interface Budget {
  left: number
}

const TOP_COMBINATORS = ['oneOf', 'anyOf', 'allOf'] as const

/** The union of the alternatives' properties; only what all of them demand stays required. */
function withoutTopCombinators(schema: JsonObject): JsonObject {
  const { oneOf, anyOf, allOf, ...rest } = schema
  const alternatives = [...objectsIn(oneOf), ...objectsIn(anyOf)]
  const conjuncts = objectsIn(allOf)
  const properties = [rest, ...conjuncts, ...alternatives].flatMap((part) =>
    isJsonObject(part.properties) ? Object.entries(part.properties) : [],
  )
  const demanded = [...stringsIn(rest.required), ...conjuncts.flatMap((part) => stringsIn(part.required))]
  const [first, ...others] = alternatives.map((part) => stringsIn(part.required))
  const shared = (first ?? []).filter((name) => others.every((names) => names.includes(name)))
  const required = [...new Set([...demanded, ...shared])]
  return {
    ...rest,
    properties: Object.fromEntries(properties),
    ...(required.length === 0 ? {} : { required }),
  }
}

function objectsIn(value: JsonValue | undefined): readonly JsonObject[] {
  return isJsonArray(value) ? value.filter(isJsonObject) : []
}

function stringsIn(value: JsonValue | undefined): readonly string[] {
  return isJsonArray(value) ? value.filter((item) => typeof item === 'string') : []
}

const ANTHROPIC_FORMATS: readonly string[] = [
  'date-time',
  'time',
  'date',
  'duration',
  'email',
  'hostname',
  'uri',
  'ipv4',
  'ipv6',
  'uuid',
]

/** Keywords Anthropic's grammar compiler takes as they are. */
const ANTHROPIC_PLAIN: ReadonlySet<string> = new Set([
  'type',
  'title',
  'description',
  'enum',
  'const',
  'default',
  'required',
  '$ref',
])

function anthropicNode(schema: JsonValue, budget: Budget, depth: number): JsonObject {
  if (!isJsonObject(schema) || depth === 0 || budget.left-- <= 0) return {}
  const node: Record<string, JsonValue> = {}
  const notes: string[] = []
  for (const [keyword, value] of Object.entries(schema)) {
    if (value === undefined || keyword === '$schema' || keyword === 'additionalProperties') continue
    const kept = anthropicKeyword({ keyword, value, budget, depth: depth - 1 })
    if (kept === undefined) notes.push(`${keyword}: ${JSON.stringify(value)}`)
    else Object.assign(node, kept)
  }
  if (allowsObject(node)) node.additionalProperties = false
  return withNotes(node, notes)
}

interface Keyword {
  readonly keyword: string
  readonly value: JsonValue
  readonly budget: Budget
  readonly depth: number
}

/** The keyword in the strict dialect; undefined: it can only be described in words. */
function anthropicKeyword({ keyword, value, budget, depth }: Keyword): JsonObject | undefined {
  if (ANTHROPIC_PLAIN.has(keyword)) return own(keyword, value)
  switch (keyword) {
    case 'properties':
    case '$defs':
    case 'definitions':
      return own(
        keyword,
        mapValues(value, (child) => anthropicNode(child, budget, depth)),
      )
    case 'items':
      return { items: anthropicNode(value, budget, depth) }
    case 'oneOf':
    case 'anyOf':
      return { anyOf: mapItems(value, (child) => anthropicNode(child, budget, depth)) }
    case 'allOf':
      return { allOf: mapItems(value, (child) => anthropicNode(child, budget, depth)) }
    case 'format':
      return typeof value === 'string' && ANTHROPIC_FORMATS.includes(value) ? { format: value } : undefined
    case 'minItems':
      return value === 0 || value === 1 ? { minItems: value } : undefined
    default:
      return undefined
  }
}

function allowsObject(node: JsonObject): boolean {
  return (
    node.type === 'object' || (isJsonArray(node.type) && node.type.includes('object')) || 'properties' in node
  )
}

/** A member under any name, `__proto__` included. */
function own(name: string, value: JsonValue): JsonObject {
  return Object.fromEntries([[name, value]])
}

function mapValues(value: JsonValue, change: (child: JsonValue) => JsonValue): JsonObject {
  if (!isJsonObject(value)) return {}
  return Object.fromEntries(Object.entries(value).map(([name, child]) => [name, change(child ?? {})]))
}

function mapItems(value: JsonValue, change: (child: JsonValue) => JsonValue): readonly JsonValue[] {
  return isJsonArray(value) ? value.map(change) : []
}

function withNotes(node: JsonObject, notes: readonly string[]): JsonObject {
  if (notes.length === 0) return node
  const told = `(${notes.join('; ')})`
  const description = typeof node.description === 'string' ? `${node.description} ${told}` : told
  return { ...node, description }
}

interface OpenApiWalk {
  readonly root: JsonValue
  left: number
}

interface OpenApiPlace {
  readonly walk: OpenApiWalk
  readonly depth: number
  /** References being inlined above this node; one that comes again is a recursion and accepts anything. */
  readonly references: readonly string[]
}

const OPEN_API_TYPES: Readonly<Record<string, string>> = {
  string: 'STRING',
  number: 'NUMBER',
  integer: 'INTEGER',
  boolean: 'BOOLEAN',
  array: 'ARRAY',
  object: 'OBJECT',
}

const OPEN_API_FORMATS: readonly string[] = ['date-time', 'enum', 'int32', 'int64', 'float', 'double']
const OPEN_API_PLAIN: ReadonlySet<string> = new Set(['title', 'description', 'pattern', 'minimum', 'maximum'])
/** int64 in the protocol, so written as text. */
const OPEN_API_COUNTS: ReadonlySet<string> = new Set([
  'minItems',
  'maxItems',
  'minLength',
  'maxLength',
  'minProperties',
  'maxProperties',
])
/** Removed without a note: they are of no use to a model. */
const OPEN_API_SILENT: ReadonlySet<string> = new Set([
  '$schema',
  '$id',
  '$comment',
  '$anchor',
  '$defs',
  'definitions',
  'additionalProperties',
  'propertyOrdering',
  'examples',
  'example',
  'default',
  'nullable',
  'strict',
])

function openApiNode(schema: JsonValue, place: OpenApiPlace): JsonObject {
  if (!isJsonObject(schema) || place.depth === 0 || place.walk.left-- <= 0) return {}
  if (typeof schema.$ref === 'string') return openApiReference(schema.$ref, schema, place)
  if (isJsonArray(schema.allOf)) {
    const used = objectsIn(schema.allOf).flatMap((part) => (typeof part.$ref === 'string' ? [part.$ref] : []))
    const references = [...place.references, ...used]
    return openApiNode(mergeAllOf(schema, place), { ...deeper(place), references })
  }
  const node: Record<string, JsonValue> = {}
  const notes: string[] = []
  for (const [keyword, value] of Object.entries(schema)) {
    if (value === undefined || OPEN_API_SILENT.has(keyword)) continue
    const kept = openApiKeyword({ keyword, value, place: deeper(place) })
    if (kept === undefined) notes.push(`${keyword}: ${JSON.stringify(value)}`)
    else Object.assign(node, kept)
  }
  if (schema.nullable === true) node.nullable = true
  return withNotes(completed(node), notes)
}

function deeper(place: OpenApiPlace): OpenApiPlace {
  return { ...place, depth: place.depth - 1 }
}

interface OpenApiKeyword {
  readonly keyword: string
  readonly value: JsonValue
  readonly place: OpenApiPlace
}

function openApiKeyword({ keyword, value, place }: OpenApiKeyword): JsonObject | undefined {
  if (OPEN_API_PLAIN.has(keyword)) return own(keyword, value)
  if (OPEN_API_COUNTS.has(keyword)) return typeof value === 'number' ? own(keyword, `${value}`) : {}
  switch (keyword) {
    case 'type':
      return openApiType(value)
    case 'properties':
      return { properties: mapValues(value, (child) => openApiNode(child, place)) }
    case 'required':
      return { required: stringsIn(value) }
    case 'items':
      return { items: openApiNode(value, place) }
    case 'prefixItems':
      return { items: { anyOf: mapItems(value, (child) => openApiNode(child, place)) } }
    case 'oneOf':
    case 'anyOf':
      return openApiAlternatives(value, place)
    case 'enum':
      return openApiEnum(isJsonArray(value) ? value : [])
    case 'const':
      return openApiEnum([value])
    case 'format':
      return typeof value === 'string' && OPEN_API_FORMATS.includes(value) ? { format: value } : undefined
    case 'exclusiveMinimum':
      return typeof value === 'number' ? { minimum: value } : undefined
    case 'exclusiveMaximum':
      return typeof value === 'number' ? { maximum: value } : undefined
    default:
      return undefined
  }
}

function openApiType(value: JsonValue): JsonObject {
  const names = typeof value === 'string' ? [value] : stringsIn(value)
  const types = names.flatMap((name) => OPEN_API_TYPES[name.toLowerCase()] ?? [])
  const nullable = names.some((name) => name.toLowerCase() === 'null') ? { nullable: true } : {}
  const [first, ...others] = types
  if (first === undefined) return nullable
  if (others.length === 0) return { type: first, ...nullable }
  return { anyOf: types.map((type) => ({ type })), ...nullable }
}

function openApiAlternatives(value: JsonValue, place: OpenApiPlace): JsonObject {
  const alternatives = objectsIn(value)
  const real = alternatives.filter((alternative) => alternative.type !== 'null')
  const nullable = real.length < alternatives.length ? { nullable: true } : {}
  const nodes = real.map((alternative) => openApiNode(alternative, place))
  const [only, ...others] = nodes
  if (only === undefined) return nullable
  return others.length === 0 ? { ...only, ...nullable } : { anyOf: nodes, ...nullable }
}

/** Only texts can be enumerated; other constants are left to the description. */
function openApiEnum(values: readonly JsonValue[]): JsonObject | undefined {
  const texts = values.filter((value) => typeof value === 'string')
  const withoutNull = values.filter((value) => value !== null)
  if (texts.length === 0 || texts.length < withoutNull.length) return undefined
  return { type: 'STRING', enum: texts, ...(withoutNull.length < values.length ? { nullable: true } : {}) }
}

/** Gemini refuses an object without `properties` in some versions and an array without `items` in all. */
function completed(node: JsonObject): JsonObject {
  if (node.type === 'ARRAY' && node.items === undefined) return { ...node, items: { type: 'STRING' } }
  if (node.type === undefined && node.anyOf === undefined && node.properties !== undefined) {
    return { ...node, type: 'OBJECT' }
  }
  return node
}

function openApiReference(reference: string, schema: JsonObject, place: OpenApiPlace): JsonObject {
  const { $ref: _reference, ...beside } = schema
  if (place.references.includes(reference)) return openApiNode({ ...beside, type: 'object' }, deeper(place))
  const target = findReference(reference, place.walk.root)
  const merged = isJsonObject(target) ? { ...target, ...beside } : beside
  return openApiNode(merged, { ...deeper(place), references: [...place.references, reference] })
}

/** Only references into the same document: nothing is fetched. */
function findReference(reference: string, root: JsonValue): JsonValue | undefined {
  if (!reference.startsWith('#')) return undefined
  let found: JsonValue | undefined = root
  for (const step of reference.slice(1).split('/').slice(1)) {
    if (found === undefined || !isJsonObject(found)) return undefined
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~')
    found = Object.hasOwn(found, name) ? found[name] : undefined
  }
  return found
}

function mergeAllOf(schema: JsonObject, place: OpenApiPlace): JsonObject {
  const { allOf, ...rest } = schema
  let merged: JsonObject = rest
  for (const conjunct of objectsIn(allOf)) {
    const target =
      typeof conjunct.$ref === 'string' && !place.references.includes(conjunct.$ref)
        ? findReference(conjunct.$ref, place.walk.root)
        : conjunct
    if (target !== undefined && isJsonObject(target)) merged = mergeSchemas(merged, target)
  }
  return merged
}

function mergeSchemas(into: JsonObject, from: JsonObject): JsonObject {
  const { allOf: _nested, $ref: _reference, ...plain } = from
  const properties = {
    ...(isJsonObject(plain.properties) ? plain.properties : {}),
    ...(isJsonObject(into.properties) ? into.properties : {}),
  }
  const required = [...new Set([...stringsIn(into.required), ...stringsIn(plain.required)])]
  return {
    ...plain,
    ...into,
    ...(Object.keys(properties).length === 0 ? {} : { properties }),
    ...(required.length === 0 ? {} : { required }),
  }
}

const JSON_TYPES: Readonly<Record<string, string>> = {
  STRING: 'string',
  NUMBER: 'number',
  INTEGER: 'integer',
  BOOLEAN: 'boolean',
  ARRAY: 'array',
  OBJECT: 'object',
  NULL: 'null',
}

function jsonSchemaNode(schema: JsonValue, budget: Budget, depth: number): JsonValue {
  if (!isJsonObject(schema)) return schema
  if (depth === 0 || budget.left-- <= 0) return {}
  const node = Object.fromEntries(
    Object.entries(schema).flatMap(([keyword, value]) =>
      value === undefined || keyword === 'nullable' || keyword === 'propertyOrdering'
        ? []
        : [[keyword, jsonSchemaKeyword({ keyword, value, budget, depth: depth - 1 })]],
    ),
  )
  return schema.nullable === true ? nullableNode(node) : node
}

function jsonSchemaKeyword({ keyword, value, budget, depth }: Keyword): JsonValue {
  switch (keyword) {
    case 'type':
      return typeof value === 'string' ? (JSON_TYPES[value] ?? value) : value
    case 'properties':
      return mapValues(value, (child) => jsonSchemaNode(child, budget, depth))
    case 'items':
      return jsonSchemaNode(value, budget, depth)
    case 'anyOf':
      return mapItems(value, (child) => jsonSchemaNode(child, budget, depth))
    default:
      return OPEN_API_COUNTS.has(keyword) && typeof value === 'string' ? Number(value) : value
  }
}

function nullableNode(node: JsonObject): JsonObject {
  if (typeof node.type === 'string') return { ...node, type: [node.type, 'null'] }
  if (isJsonArray(node.anyOf)) return { ...node, anyOf: [...node.anyOf, { type: 'null' }] }
  return node
}
