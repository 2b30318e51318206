/**
 * A batch of hot operations and their results as one JSON text each. Structured clone of the same objects costs about
 * ten times as much, and it is paid for every call.
 */
import type { CallLogRow } from '../../../core/ledger/log-row.ts'
import type { Granted, HotOperation, SettleOperation, VideoEnd } from '../../../core/ledger/operations.ts'
import type { Recipe } from '../../../core/ledger/recipe.ts'
import type { Used } from '../../../core/metering/quantities.ts'
import { microCredits, type MicroCredits } from '../../../core/money.ts'
import type { HotResult } from '../../sql/calls/hot-batch.ts'
import { parseStored } from '../../sql/stored-json.ts'

export function encodeOperations(operations: readonly HotOperation[]): string {
  return JSON.stringify(operations.map(plainOperation))
}

/** Reads what `encodeOperations` of the same process wrote. */
export function decodeOperations(text: string): readonly HotOperation[] {
  return parseStored<readonly HotOperation[]>(text).map(fullOperation)
}

export function encodeResults(results: readonly HotResult[]): string {
  return JSON.stringify(results.map(plainResult))
}

export function decodeResults(text: string): readonly HotResult[] {
  return parseStored<readonly HotResult[]>(text).map(fullResult)
}

/** JSON has no bigint: amounts are sent as decimal text. */
function plainOperation(operation: HotOperation): unknown {
  switch (operation.kind) {
    case 'settle':
      return {
        ...operation,
        amount: operation.amount.toString(),
        ...saidOnce(operation),
        log: plainLog(operation.log),
        ...(operation.task !== undefined && { task: plainEnd(operation.task) }),
      }
    case 'abandon':
      return {
        ...operation,
        log: plainLog(operation.log),
        ...(operation.task !== undefined && { task: plainEnd(operation.task) }),
      }
    case 'log':
      return { ...operation, log: plainLog(operation.log) }
    case 'reserve':
      return operation.granted === undefined
        ? operation
        : { ...operation, granted: plainGranted(operation.granted) }
    case 'claim':
    case 'unclaim':
    case 'progress':
      return operation
  }
}

function plainGranted(granted: Granted): unknown {
  const { held, monthHeld, memberHeld, quotaHeld } = granted
  return {
    ...granted,
    held: held.toString(),
    monthHeld: monthHeld.toString(),
    memberHeld: memberHeld.toString(),
    quotaHeld: quotaHeld.toString(),
  }
}

function fullGranted(granted: Granted): Granted {
  const { held, monthHeld, memberHeld, quotaHeld } = granted
  return {
    ...granted,
    held: money(held),
    monthHeld: money(monthHeld),
    memberHeld: money(memberHeld),
    quotaHeld: money(quotaHeld),
  }
}

function plainLog(log: CallLogRow): unknown {
  const { amount, deducted, owed } = log
  return { ...log, amount: amount.toString(), deducted: deducted.toString(), owed: owed.toString() }
}

/** Fields that a settlement shares with its log row are sent with the row only. */
function saidOnce({ recipe, used, log }: SettleOperation) {
  return {
    recipe: recipe === log.recipe ? undefined : recipe,
    used: used.usage === log.usage ? { ...used, usage: undefined } : used,
  }
}

/** As `saidOnce` left it. */
interface SaidOnce extends Pick<SettleOperation, 'log'> {
  readonly recipe?: Recipe
  readonly used: Omit<Used, 'usage'> & Partial<Pick<Used, 'usage'>>
}

function saidAgain({ used, log, recipe = log.recipe }: SaidOnce): Pick<SettleOperation, 'recipe' | 'used'> {
  if (recipe === undefined) throw new Error('a settlement came without its recipe')
  return { recipe, used: { usage: log.usage, ...used } }
}

/**
 * JSON has no `undefined`, and a field present as `undefined` is to be cleared: it is sent as null, which no field of a
 * task can be.
 */
function plainEnd(end: VideoEnd): unknown {
  const patch = Object.entries(end.patch).map(([name, value]): [string, unknown] => [name, value ?? null])
  return { id: end.id, patch: Object.fromEntries<unknown>(patch) }
}

function fullEnd(end: VideoEnd): VideoEnd {
  const patch = Object.entries(end.patch).map(([name, value]): [string, unknown] => [
    name,
    value ?? undefined,
  ])
  return { id: end.id, patch: Object.fromEntries<unknown>(patch) }
}

/** Changed in place: nothing else refers to the parsed object. */
function fullOperation(operation: HotOperation): HotOperation {
  switch (operation.kind) {
    case 'settle':
      return Object.assign(operation, saidAgain(operation), {
        amount: money(operation.amount),
        log: fullLog(operation.log),
        ...(operation.task !== undefined && { task: fullEnd(operation.task) }),
      })
    case 'abandon':
      return Object.assign(operation, {
        log: fullLog(operation.log),
        ...(operation.task !== undefined && { task: fullEnd(operation.task) }),
      })
    case 'log':
      return Object.assign(operation, { log: fullLog(operation.log) })
    case 'reserve':
      return operation.granted === undefined
        ? operation
        : Object.assign(operation, { granted: fullGranted(operation.granted) })
    case 'claim':
    case 'unclaim':
    case 'progress':
      return operation
  }
}

function fullLog(log: CallLogRow): CallLogRow {
  const { amount, deducted, owed } = log
  return Object.assign(log, { amount: money(amount), deducted: money(deducted), owed: money(owed) })
}

function plainResult(result: HotResult): unknown {
  if (result.kind === 'impossible') return result
  const { outcome } = result
  if (outcome.kind === 'reserved')
    return { ...result, outcome: { ...outcome, held: outcome.held.toString() } }
  if (outcome.kind === 'settled')
    return { ...result, outcome: { ...outcome, deducted: outcome.deducted.toString() } }
  return result
}

function fullResult(result: HotResult): HotResult {
  if (result.kind === 'impossible') return result
  const { outcome } = result
  if (outcome.kind === 'reserved') return { ...result, outcome: { ...outcome, held: money(outcome.held) } }
  if (outcome.kind === 'settled')
    return { ...result, outcome: { ...outcome, deducted: money(outcome.deducted) } }
  return result
}

/** The decimal text of a transmitted amount. */
function money(amount: MicroCredits | string): MicroCredits {
  return microCredits(BigInt(amount))
}
