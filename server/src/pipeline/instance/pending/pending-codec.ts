/** Operations as text, so that they outlive the process: JSON in which an amount is `{"$n": "<decimal>"}`. */
import { readRecipe, type StoredRecipe } from '../../../core/ledger/recipe.ts'
import { type Kept, madeIn, piecesIn, type Used } from '../../../core/metering/quantities.ts'
import type { PendingOperation } from './pending-operation.ts'

const AMOUNT = '$n'

export function encodePending(operation: PendingOperation): string {
  return JSON.stringify(operation, (_, value: unknown) =>
    typeof value === 'bigint' ? { [AMOUNT]: value.toString() } : value,
  )
}

/**
 * Decodes a text that `encodePending` of this or an older build wrote and whose checksum was right; throws on anything
 * else.
 */
export function decodePending(text: string): PendingOperation {
  const value: unknown = JSON.parse(text)
  const operation = isFields(value)
    ? { ...revived(value), ...formerUse(value), log: revivedLog(value['log']) }
    : undefined
  if (!isPending(operation)) throw new Error('not an operation that ends a call')
  return operation
}

/** Approximate size as text, in bytes; good enough for a limit. */
export const sizeOf = (operation: PendingOperation): number => encodePending(operation).length

type Fields = Readonly<Record<string, unknown>>

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null

/** Only in amount fields: other fields contain arbitrary text, which may look like an amount. */
const AMOUNTS = ['amount', 'deducted', 'owed']

function revived(fields: Fields): Fields {
  const named = AMOUNTS.filter((name) => name in fields)
  const amounts = Object.fromEntries(named.map((name): [string, bigint] => [name, amountOf(fields[name])]))
  const { recipe } = fields
  const rate = isFields(recipe) ? { recipe: readRecipe(recipe as unknown as StoredRecipe) } : {}
  return { ...fields, ...amounts, ...rate }
}

/** The format of older builds: each quantity in a field of its own, and the tokens in the log row. */
function formerUse(fields: Fields): { readonly used?: Used } {
  const { kind, used, log } = fields
  if (kind !== 'settle' || used !== undefined || !isFields(log)) return {}
  const { images, videoSeconds = 0, characters, audioSeconds } = fields as Kept<Used>
  const { usage } = log as Kept<Used>
  return { used: { ...piecesIn({ characters, audioSeconds }), ...madeIn({ usage, images }), videoSeconds } }
}

const revivedLog = (log: unknown): unknown => (isFields(log) ? revived(log) : log)

function amountOf(part: unknown): bigint {
  const digits = isFields(part) ? part[AMOUNT] : undefined
  if (typeof digits !== 'string' || !/^-?\d+$/.test(digits)) throw new Error('no amount')
  return BigInt(digits)
}

const KINDS: readonly unknown[] = [
  'settle',
  'abandon',
  'lost-reservation',
] satisfies PendingOperation['kind'][]

function isPending(value: unknown): value is PendingOperation {
  if (!isFields(value)) return false
  const { kind, callId, log, amount } = value
  const isPriced = kind !== 'settle' || typeof amount === 'bigint'
  return KINDS.includes(kind) && typeof callId === 'string' && isFields(log) && isPriced
}
