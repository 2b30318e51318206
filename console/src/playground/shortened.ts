import { isRecord, type Json, type JsonRecord } from '../parts/values/json.ts'

/** Texts up to this many characters are shown completely. */
const TEXT_MAX = 600
const BEGINNING = 60

/** Shortens images and long texts, so that the rest can be read. */
export function shortened(body: JsonRecord): JsonRecord {
  return Object.fromEntries(Object.entries(body).map(([name, value]) => [name, short(value ?? null)]))
}

function short(value: Json): Json {
  if (typeof value === 'string')
    return value.length <= TEXT_MAX ? value : `${value.slice(0, BEGINNING)}… (${value.length})`
  if (Array.isArray(value)) return (value as readonly Json[]).map(short)
  return isRecord(value) ? shortened(value) : value
}
