/** What every act of an admin has in common: who does it, and how a difference becomes words in the audit log. */
import type { Mistake } from '../../config/gateway-file/file-node.ts'
import type { AuditActor, AuditedChange } from '../../storage/stores/audit.ts'
import type { Storage } from '../../storage/storage.ts'
import type { VendorKindRules } from '../../config/gateway-file/check-rows.ts'
import type { Difference } from '../gateway-file/difference.ts'
import type { FieldMistake } from '../keys/keys.ts'

/** What the services of this module stand on. */
export interface AdminParts {
  readonly storage: Storage
  /** Vendor kinds there is a provider for. */
  readonly kinds: readonly VendorKindRules[]
  /** The country of phone numbers written without one; absent: they need theirs. */
  readonly phoneRegion?: string | undefined
}

/** Who acts, and when (epoch ms). */
export interface Actor extends AuditActor {
  readonly at: number
}

/** `mistakes` have the paths of the request's body. */
export type Done<Value> =
  | { readonly kind: 'done'; readonly value: Value }
  | { readonly kind: 'mistakes'; readonly mistakes: readonly FieldMistake[] }
  | { readonly kind: 'missing' }
  /** The thing is not in a state that allows this. */
  | { readonly kind: 'conflict'; readonly message: string }

export function done<Value>(value: Value): Done<Value> {
  return { kind: 'done', value }
}

/** Differences as the log keeps them: with the row's name before the field where several rows are concerned. */
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

/** A mistake of the gateway file's readers, told as one of the request's body: `vendors[0].` is our own wrapping. */
export function bodyMistake({ place, message }: Mistake, prefix: string): FieldMistake {
  const path = place.path === prefix ? '' : place.path.replace(`${prefix}.`, '')
  return { path, message: message.replace(/; first in line \d+/, '') }
}

/** A mistake in a file that a request brings: where in the file, then what of it. */
export function fileMistake({ place, message }: Mistake): FieldMistake {
  const path = `file:${place.line}:${place.column}${place.path === '' ? '' : ` ${place.path}`}`
  return { path, message }
}
