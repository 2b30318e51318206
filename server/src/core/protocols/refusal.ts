/** Refusals as values: a request that cannot mean anything, with the field that says so (decisions, Requests). */
import type { Refused } from './protocol.ts'

export function refused(field: string, message: string): Refused {
  return { kind: 'refused', field, message: `${field}: ${message}` }
}

export function isRefused(value: unknown): value is Refused {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'refused'
}
