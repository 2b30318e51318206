/** Tool parameters on their way to a chain, and what is no schema at all. */
import { nestsTooDeep } from '../canonical/json-text.ts'
import { toOpenApiSubset, toToolInputSchema } from '../canonical/tools/schema.ts'
import { isJsonObject, type JsonValue } from '../json.ts'
import type { Capabilities } from './protocol.ts'
import type { Maybe } from './read-json.ts'

/** A sentence when no dialect could take it; absent parameters are none. */
export function findSchemaProblem(schema: Maybe): string | undefined {
  if (schema === undefined || schema === null) return undefined
  if (!isJsonObject(schema)) return 'must be a JSON Schema object'
  return nestsTooDeep(schema) ? 'is nested too deeply' : undefined
}

/** In the dialect the chain takes; `$schema` says nothing a model needs and some vendors refuse it. */
export function encodeSchema(schema: JsonValue, dialect: Capabilities['schemaDialect']): JsonValue {
  switch (dialect) {
    case 'openapi-subset':
      return toOpenApiSubset(schema)
    case 'anthropic':
      return toToolInputSchema(schema)
    case 'json-schema': {
      if (!isJsonObject(schema)) return schema
      const { $schema: _dialect, ...kept } = schema
      return kept
    }
  }
}
