/** Helpers that describe the answers of calls: JSON Schema 2020-12, closed unless stated otherwise. */
import type { JsonObject, JsonValue } from '../../../../core/json.ts'

export const text: JsonObject = { type: 'string' }
/** A non-empty text. */
export const word: JsonObject = { type: 'string', minLength: 1 }
export const whole: JsonObject = { type: 'integer' }
export const count: JsonObject = { type: 'integer', minimum: 0 }
export const decimal: JsonObject = { type: 'number' }
export const flag: JsonObject = { type: 'boolean' }
export const nothing: JsonObject = { type: 'null' }

/** Content that the gateway does not read: a client's schema, a tool's arguments, an upstream's text. */
export const anyJson: JsonObject = {}
export const anyObject: JsonObject = { type: 'object' }

export const exactly = (value: JsonValue): JsonObject => ({ const: value })
export const among = (...values: readonly string[]): JsonObject => ({ type: 'string', enum: values })
export const list = (items: JsonObject): JsonObject => ({ type: 'array', items })
export const mapOf = (values: JsonObject): JsonObject => ({ type: 'object', additionalProperties: values })
export const either = (...schemas: readonly JsonObject[]): JsonObject => ({ anyOf: schemas })
/** Also null. */
export function maybe(schema: JsonObject): JsonObject {
  if (Object.keys(schema).length === 0) return schema
  const isPlain = typeof schema['type'] === 'string' && schema['enum'] === undefined
  return isPlain ? { ...schema, type: [schema['type'] ?? '', 'null'] } : either(schema, nothing)
}

/** A schema of `components`. */
export const named = (name: string): JsonObject => ({ $ref: `#/components/schemas/${name}` })

/** An object with all of the first fields, any of the second, and no others. */
export function closed(required: JsonObject, optional: JsonObject = {}): JsonObject {
  const names = Object.keys(required)
  return {
    type: 'object',
    properties: { ...required, ...optional },
    ...(names.length === 0 ? {} : { required: names }),
    additionalProperties: false,
  }
}

/** An object with a fixed `type`. */
export function typed(type: string, required: JsonObject = {}, optional: JsonObject = {}): JsonObject {
  return closed({ type: exactly(type), ...required }, optional)
}

export const described = (description: string, schema: JsonObject): JsonObject => ({ description, ...schema })
