/**
 * JSON that came from outside and is written again: bounded in depth, so that serializing it cannot exhaust the stack.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'

/**
 * Levels of arrays and objects a schema or a set of tool arguments may have. No tool needs 100; V8's
 * `JSON.stringify` gives up at a few thousand, and upstreams refuse far less.
 */
export const JSON_DEPTH_MAX = 256

/** True when writing the value out could exhaust the stack. Visits each node once. */
export function nestsTooDeep(value: JsonValue | undefined, levelsLeft = JSON_DEPTH_MAX): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levelsLeft === 0) return true
  const children: readonly (JsonValue | undefined)[] = isJsonArray(value) ? value : Object.values(value)
  return children.some((child) => nestsTooDeep(child, levelsLeft - 1))
}

export function isJsonArray(value: unknown): value is readonly JsonValue[] {
  return Array.isArray(value)
}

/** The parsed text, or undefined when it is not JSON. */
export function parseJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/**
 * Tool arguments for protocols that carry them as an object. Empty text means no arguments; text that is not a JSON
 * object is kept under one name, so that a model's mistake does not block the conversation
 * (docs/protocols.md#requests-between-protocols).
 */
export function argumentsObject(text: string): JsonObject {
  if (text.trim() === '') return {}
  const value = parseJson(text)
  return value !== undefined && isJsonObject(value) && !nestsTooDeep(value) ? value : { arguments: text }
}

/** Arguments that came as JSON, as the raw text the canonical form keeps; undefined if too deep to serialize. */
export function argumentsText(value: JsonValue | undefined): string {
  if (value === undefined || value === null || nestsTooDeep(value)) return '{}'
  return JSON.stringify(value)
}
