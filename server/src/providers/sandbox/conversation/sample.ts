import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.ts'
import { items, object, strings } from './prompt.ts'

/** Schemas may refer to themselves; below this depth only what is required is filled in, and that with null. */
const DEPTH_MAX = 12

/** The simplest value that a JSON schema allows: defaults, first choices, smallest numbers. The same every time. */
export function sampleOf(schema: JsonValue | undefined, subject: string): JsonValue {
  return sample(schema, { root: object(schema), subject, depth: 0 })
}

interface Place {
  readonly root: JsonObject
  /** Content of strings without other rules. */
  readonly subject: string
  readonly depth: number
}

function sample(given: JsonValue | undefined, place: Place): JsonValue {
  const schema = resolve(given, place)
  if (place.depth > DEPTH_MAX) return null
  const below = { ...place, depth: place.depth + 1 }
  const fixed = schema['const'] ?? schema['default'] ?? first(schema['enum']) ?? first(schema['examples'])
  if (fixed !== undefined) return fixed
  const choices = items(schema['anyOf'] ?? schema['oneOf'])
  if (choices.length > 0)
    return sample(
      choices.find((choice) => typeOf(resolve(choice, place)) !== 'null'),
      below,
    )
  const all = items(schema['allOf'])
  if (all.length > 0) return sample(merge(all.map((part) => resolve(part, place))), below)
  switch (typeOf(schema) ?? 'string') {
    case 'object':
      return sampleObject(schema, below)
    case 'array':
      return sampleArray(schema, below)
    case 'integer':
    case 'number':
      return smallest(schema)
    case 'boolean':
      return true
    case 'null':
      return null
    default:
      return sampleString(schema, place.subject)
  }
}

function sampleObject(schema: JsonObject, place: Place): JsonValue {
  const properties = object(schema['properties'])
  const required = strings(schema['required'])
  const names = schema['required'] === undefined ? Object.keys(properties) : required
  return Object.fromEntries(names.map((name) => [name, sample(properties[name], place)]))
}

function sampleArray(schema: JsonObject, place: Place): JsonValue {
  const count = typeof schema['minItems'] === 'number' ? Math.min(schema['minItems'], 16) : 1
  return Array.from({ length: count }, () => sample(schema['items'], place))
}

function smallest(schema: JsonObject): number {
  if (typeof schema['minimum'] === 'number') return schema['minimum']
  if (typeof schema['exclusiveMinimum'] === 'number') return Math.floor(schema['exclusiveMinimum']) + 1
  return typeof schema['maximum'] === 'number' ? Math.min(1, schema['maximum']) : 1
}

const FORMATS: Readonly<Record<string, string>> = {
  'date-time': '2026-01-01T00:00:00Z',
  date: '2026-01-01',
  time: '00:00:00Z',
  duration: 'PT1H',
  email: 'sandbox@example.com',
  hostname: 'example.com',
  uri: 'https://example.com/',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uuid: '00000000-0000-4000-8000-000000000000',
}

function sampleString(schema: JsonObject, subject: string): string {
  const format = schema['format']
  const formatted = typeof format === 'string' ? FORMATS[format] : undefined
  if (formatted !== undefined) return formatted
  const max = typeof schema['maxLength'] === 'number' ? schema['maxLength'] : 200
  const min = typeof schema['minLength'] === 'number' ? Math.min(schema['minLength'], 1000) : 0
  return subject.slice(0, max).padEnd(min, '.')
}

function typeOf(schema: JsonObject): string | undefined {
  const named = strings(schema['type']).find((type) => type !== 'null') ?? strings(schema['type'])[0]
  if (named !== undefined) return named.toLowerCase()
  return isJsonObject(schema['properties']) ? 'object' : undefined
}

function first(value: JsonValue | undefined): JsonValue | undefined {
  return items(value)[0]
}

function merge(parts: readonly JsonObject[]): JsonObject {
  let merged: JsonObject = {}
  for (const part of parts) {
    merged = {
      ...merged,
      ...part,
      properties: { ...object(merged['properties']), ...object(part['properties']) },
      required: [...strings(merged['required']), ...strings(part['required'])],
    }
  }
  return merged
}

/** Follows references within the schema, a few steps at most. */
function resolve(given: JsonValue | undefined, place: Place): JsonObject {
  let schema = object(given)
  for (let step = 0; step < DEPTH_MAX; step += 1) {
    const reference = schema['$ref']
    if (typeof reference !== 'string' || !reference.startsWith('#')) return schema
    let target: JsonValue | undefined = place.root
    for (const name of reference.slice(1).split('/').slice(1)) target = object(target)[name]
    schema = object(target)
  }
  return {}
}
