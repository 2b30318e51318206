import { createTermsReader, type TermsReader } from '../pricing/read-terms.ts'
import { decideAbandon } from './ends/decide-abandon.ts'
import { decideClaim } from './decide-claim.ts'
import { decideProgress } from './decide-progress.ts'
import { decideReserve } from './decide-reserve.ts'
import { decideSettle } from './ends/decide-settle.ts'
import { decideUnclaim } from './decide-unclaim.ts'
import { type Draft, openDraft } from '../ledger/draft.ts'
import type { HotChanges, HotRows } from '../ledger/hot-rows.ts'
import type { HotOperation, HotOutcome } from '../ledger/operations.ts'

export interface BatchDecision {
  /** One per operation, in order. */
  readonly outcomes: readonly HotOutcome[]
  readonly changes: HotChanges
}

/**
 * All arithmetic of the hot verbs, for every engine (docs/decisions/0004-storage-engines.md). Operations run in order,
 * each on the rows its predecessors left. Only changed rows come back, each once. A store that keeps one `reader` parses
 * each price text only once per process.
 */
export function decideBatch(
  rows: HotRows,
  operations: readonly HotOperation[],
  reader: TermsReader = createTermsReader(),
): BatchDecision {
  const draft = openDraft(rows, reader)
  const outcomes = operations.map((operation) => decideOperation(draft, operation))
  return { outcomes, changes: draft.changes() }
}

function decideOperation(draft: Draft, operation: HotOperation): HotOutcome {
  switch (operation.kind) {
    case 'reserve':
      return decideReserve(draft, operation)
    case 'claim':
      return decideClaim(draft, operation)
    case 'unclaim':
      return decideUnclaim(draft, operation)
    case 'progress':
      return decideProgress(draft, operation)
    case 'settle':
      return decideSettle(draft, operation)
    case 'abandon':
      return decideAbandon(draft, operation)
    case 'log':
      draft.log(operation.log)
      return { kind: 'done' }
  }
}
