/** Encodes tool parameters for a chain, and detects values that are not schemas. */
import { nestsTooDeep } from '../canonical/json-text.ts'
import { toOpenApiSubset, toToolInputSchema } from '../canonical/tools/schema.ts'
import { isJsonObject, type JsonValue } from '../json.ts'
import type { Capabilities } from './protocol.ts'
import type { Maybe } from './read-json.ts'

/** An error message if no dialect accepts it; absent parameters are fine. */
export function findSchemaProblem(schema: Maybe): string | undefined {
  if (schema === undefined || schema === null) return undefined
  if (!isJsonObject(schema)) return 'must be a JSON Schema object'
  return nestsTooDeep(schema) ? 'is nested too deeply' : undefined
}

/** In the dialect the chain accepts; without `$schema`, which a model does not need and some vendors refuse. */
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
