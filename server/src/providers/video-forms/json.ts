/** JSON requests and reading of JSON answers: absent values, and values of another type, are `undefined`. */
import { type JsonObject, type JsonValue, isJsonObject } from '../../core/json.ts'
import type { HttpRequest } from '../../core/http-request.ts'

/** The object at the end of the path; `{}` if there is none, so that reading can continue. */
export function objectAt(value: JsonValue | undefined, ...path: readonly string[]): JsonObject {
  let at: JsonObject = isJsonObject(value) ? value : {}
  for (const name of path) {
    const next: unknown = at[name]
    at = isJsonObject(next) ? next : {}
  }
  return at
}

/** The objects of a list; empty where there is no list. */
export function objectsIn(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}

/** Non-empty text; a number is returned as text, since ids may be either. */
export function textIn(value: JsonValue | undefined): string | undefined {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value.trim() !== '' ? value : undefined
}

/** A text that an address can hold: half a character cannot be encoded. */
export function idIn(value: JsonValue | undefined): string | undefined {
  const text = textIn(value)
  return text === undefined || /\p{Surrogate}/u.test(text) ? undefined : text
}

/** A number, also one written as text: `"5.1"`. */
export function numberIn(value: JsonValue | undefined): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined
}

/** A row of a table by an external word, which may be the name of an inherited property. */
export function rowOf<Row>(table: Readonly<Record<string, Row>>, word: string): Row | undefined {
  return Object.hasOwn(table, word) ? table[word] : undefined
}

/** An address a file can be fetched from. */
export function linkIn(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' && /^https?:\/\//i.test(value.trim()) ? value.trim() : undefined
}

/** Scheme and host of an address. */
export function originOf(url: string): string {
  return (/^https?:\/\/[^/?#]+/i.exec(url)?.[0] ?? '').toLowerCase()
}

export function postJson(url: string, body: JsonObject): HttpRequest {
  return {
    method: 'POST',
    url,
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify(body),
  }
}

export function getJson(url: string): HttpRequest {
  return { method: 'GET', url, headers: { accept: 'application/json' } }
}
