/** What applying a gateway file would change, as text for people and values for programs. */
import type { JsonObject, JsonValue } from '../../core/json.ts'

export interface Difference {
  readonly action: 'create' | 'change' | 'disable' | 'remove' | 'grant'
  /** The kind of row: vendor, credential, model, chain, … */
  readonly what: string
  /** Its natural key, outermost part first: `owner@example.com / laptop`. */
  readonly name: string
  readonly fields: readonly FieldDifference[]
}

export interface FieldDifference {
  readonly field: string
  /** undefined: there was no such row, or the value is secret. */
  readonly from: JsonValue | undefined
  readonly to: JsonValue
}

/** Placeholder for a secret that is set or replaced; secrets are never printed. */
export const HIDDEN = '[secret]'

/** Members that differ. A member only one side has counts as null on the other. */
export function compareForms(from: JsonObject, to: JsonObject): readonly FieldDifference[] {
  const fields = [...new Set([...Object.keys(from), ...Object.keys(to)])]
  return fields.flatMap((field) => {
    const before = from[field] ?? null
    const after = to[field] ?? null
    return isSame(before, after) ? [] : [{ field, from: before, to: after }]
  })
}

/** All fields of a new row that are not empty. */
export function fieldsOfNew(form: JsonObject): readonly FieldDifference[] {
  return Object.entries(form).flatMap(([field, value]) =>
    value === undefined || value === null || isEmpty(value) ? [] : [{ field, from: undefined, to: value }],
  )
}

/** Equal as JSON, whatever the order of members. */
export function isSame(left: JsonValue | undefined, right: JsonValue | undefined): boolean {
  return canonicalJson(left ?? null) === canonicalJson(right ?? null)
}

function canonicalJson(value: JsonValue): string {
  return JSON.stringify(value, (_name, part: JsonValue) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([one], [other]) => (one < other ? -1 : 1)))
      : part,
  )
}

function isEmpty(value: JsonValue): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0
}
