/**
 * Refusals as values: a request without meaning, with the field at fault (docs/reference/contract.md#D-requests-63).
 */
import type { CanonicalField } from './client-fields.ts'
import type { Refused } from './protocol.ts'

/** A decoder's refusal: the field is a path of the client's own body. */
export function refused(field: string, message: string): Refused {
  return { kind: 'refused', field, message: `${field}: ${message}` }
}

/** An encoder's refusal: it knows only canonical fields, which `clientPath` translates into the client's paths. */
export function unsupported(field: CanonicalField, message: string): Refused {
  return { kind: 'refused', field, message }
}

export function isRefused(value: unknown): value is Refused {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'refused'
}
