/** Checked looks into JSON of unknown shape: the value when it has the type asked for, otherwise `undefined`. */
import { isJsonArray } from '../canonical/json-text.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'

export type Maybe = JsonValue | undefined

const NOTHING: readonly JsonValue[] = []

export function textOf(value: Maybe): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** A text that says something: empty strings count as absent, as many vendors send them for `null`. */
export function wordOf(value: Maybe): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** The word a `type` or `role` says, to switch on; empty when it says none. */
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
