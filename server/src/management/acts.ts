/** What acts that move an account's money share: idempotency and refusals. */
import { createHash } from 'node:crypto'
import type { Idempotency } from '../storage/stores/customers.ts'

/** Who requests it, when, and under which idempotency key. */
export interface Asking {
  readonly at: number
  /** undefined: every request is a separate act. */
  readonly idempotencyKey: string | undefined
}

/** The same act requested again has the same fingerprint, however its JSON was formatted. */
export function idempotencyOf(asking: Asking, asked: readonly (string | boolean)[]): Idempotency | undefined {
  if (asking.idempotencyKey === undefined) return undefined
  const fingerprint = createHash('sha256').update(JSON.stringify(asked), 'utf8').digest('hex')
  return { key: asking.idempotencyKey, fingerprint }
}
