/** What every act of an admin has in common: the actor, and how differences are written to the audit log. */
import { type Sentence, withoutLine } from '../../core/sentences/say.ts'
import type { Mistake } from '../../config/gateway-file/file-node.ts'
import type { AuditActor, AuditedChange } from '../../storage/stores/audit.ts'
import type { Storage } from '../../storage/storage.ts'
import type { VendorKindRules } from '../../config/gateway-file/check-rows.ts'
import type { Difference } from '../gateway-file/difference.ts'
import type { FieldMistake } from '../keys/keys.ts'

/** What the services of this module use. */
export interface AdminParts {
  readonly storage: Storage
  /** Vendor kinds that have a provider. */
  readonly kinds: readonly VendorKindRules[]
  /** The country of phone numbers without a country code; absent: the code is required. */
  readonly phoneRegion?: string | undefined
}

/** Who acts, and when (epoch ms). */
export interface Actor extends AuditActor {
  readonly at: number
}

/** The paths of `mistakes` refer to the request's body. */
export type Done<Value> =
  | { readonly kind: 'done'; readonly value: Value }
  | { readonly kind: 'mistakes'; readonly mistakes: readonly FieldMistake[] }
  | { readonly kind: 'missing' }
  /** The target's state does not allow this. */
  | { readonly kind: 'conflict'; readonly message: Sentence }

export function done<Value>(value: Value): Done<Value> {
  return { kind: 'done', value }
}

/** Differences as stored in the audit log: with the row's name before the field if several rows changed. */
export function auditedChanges(differences: readonly Difference[]): readonly AuditedChange[] {
  return differences.flatMap(({ action, what, name, fields }): readonly AuditedChange[] => {
    const row = differences.length > 1 ? `${what} ${name}` : ''
    if (fields.length === 0) return [{ field: row === '' ? what : row, from: null, to: action }]
    return fields.map(({ field, from, to }) => ({
      field: row === '' ? field : `${row}: ${field}`,
      from: from ?? null,
      to,
    }))
  })
}

/**
 * Converts a mistake found by the gateway file's readers to a path in the request's body, without the added prefix
 * `vendors[0].`.
 */
export function bodyMistake({ place, message }: Mistake, prefix: string): FieldMistake {
  const path = place.path === prefix ? '' : place.path.replace(`${prefix}.`, '')
  return { path, message: withoutLine(message) }
}

/** A mistake in a file that a request contains: the position in the file, then the mistake. */
export function fileMistake({ place, message }: Mistake): FieldMistake {
  const path = `file:${place.line}:${place.column}${place.path === '' ? '' : ` ${place.path}`}`
  return { path, message }
}
