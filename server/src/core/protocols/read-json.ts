/** Typed reads of JSON of unknown shape: the value if it has the requested type, otherwise `undefined`. */
import { isJsonArray } from '../canonical/json-text.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'

export type Maybe = JsonValue | undefined

const NOTHING: readonly JsonValue[] = []

export function textOf(value: Maybe): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** A text that is not empty: many vendors send empty strings for `null`. */
export function wordOf(value: Maybe): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** The value of a `type` or `role`, to switch on; empty if there is none. */
export function tagOf(value: Maybe): string {
  return typeof value === 'string' ? value : ''
}

export function numberOf(value: Maybe): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}

/** A counter: whole and never negative. */
export function countOf(value: Maybe): number | undefined {
  return typeof value === 'number' && value >= 0 && Number.isFinite(value) ? Math.trunc(value) : undefined
}

export function flagOf(value: Maybe): boolean | undefined {
  return typeof value === 'boolean' ? value : undefined
}

export function objectOf(value: Maybe): JsonObject | undefined {
  return isJsonObject(value) ? value : undefined
}

/** Arrays only; anything else is an empty list. */
export function listOf(value: Maybe): readonly JsonValue[] {
  return isJsonArray(value) ? value : NOTHING
}
