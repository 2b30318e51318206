/** Readers of untrusted JSON; unexpected values count as absent. */
export type Json = null | boolean | number | string | readonly Json[] | JsonRecord
export interface JsonRecord {
  readonly [name: string]: Json | undefined
}

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function recordOf(value: unknown): JsonRecord {
  return isRecord(value) ? value : {}
}

export function recordsOf(value: unknown): readonly JsonRecord[] {
  return Array.isArray(value) ? value.filter(isRecord) : []
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** The texts and numbers of a record, as form values. */
export function formFieldsOf(record: JsonRecord): readonly (readonly [string, string])[] {
  return Object.entries(record).flatMap(([name, value]) =>
    typeof value === 'string' || typeof value === 'number' ? [[name, String(value)]] : [],
  )
}

/** undefined: not valid JSON. */
export function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
