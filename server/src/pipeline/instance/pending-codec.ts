/** Operations as text, so that they outlive the process: JSON in which an amount is `{"$n": "<decimal>"}`. */
import type { PendingOperation } from './pending-operation.ts'

const AMOUNT = '$n'

export function encodePending(operation: PendingOperation): string {
  return JSON.stringify(operation, (_, value: unknown) =>
    typeof value === 'bigint' ? { [AMOUNT]: value.toString() } : value,
  )
}

/** Of a text that `encodePending` made and whose checksum was right; throws on anything else. */
export function decodePending(text: string): PendingOperation {
  const value: unknown = JSON.parse(text, (_, part: unknown) =>
    isAmount(part) ? BigInt(part[AMOUNT]) : part,
  )
  if (!isPending(value)) throw new Error('no operation that ends a call')
  return value
}

/** Bytes as text, near enough for a bound. */
export const sizeOf = (operation: PendingOperation): number => encodePending(operation).length

function isAmount(part: unknown): part is Readonly<Record<typeof AMOUNT, string>> {
  if (typeof part !== 'object' || part === null || Object.keys(part).length !== 1) return false
  const digits = (part as Readonly<Record<string, unknown>>)[AMOUNT]
  return typeof digits === 'string' && /^-?\d+$/.test(digits)
}

const KINDS: readonly unknown[] = [
  'settle',
  'abandon',
  'lost-reservation',
] satisfies PendingOperation['kind'][]

function isPending(value: unknown): value is PendingOperation {
  if (typeof value !== 'object' || value === null) return false
  const { kind, callId, log } = value as Readonly<Record<string, unknown>>
  return KINDS.includes(kind) && typeof callId === 'string' && typeof log === 'object' && log !== null
}
