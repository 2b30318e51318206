/** What acts that move an account's money share: how they are asked for once, and what they may be refused with. */
import { createHash } from 'node:crypto'
import type { Idempotency } from '../storage/stores/customers.ts'

/** Who asks, when, and under which idempotency key. */
export interface Asking {
  readonly at: number
  /** undefined: every request is an act of its own. */
  readonly idempotencyKey: string | undefined
}

/** The same act asked for again has the same fingerprint, however its JSON was written. */
export function idempotencyOf(asking: Asking, asked: readonly (string | boolean)[]): Idempotency | undefined {
  if (asking.idempotencyKey === undefined) return undefined
  const fingerprint = createHash('sha256').update(JSON.stringify(asked), 'utf8').digest('hex')
  return { key: asking.idempotencyKey, fingerprint }
}
