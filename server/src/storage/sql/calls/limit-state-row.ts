/** Windows and slots of one subject: one row, its windows packed as JSON arrays. */
import type { LimitState, Subject, WindowState } from '../../../core/calls/hot-rows.ts'
import { jsonInteger, parseStored } from '../stored-json.ts'
import { numberOf, type StoredRow, type Table, textOf } from '../table.ts'

type PackedWindow = readonly [tier: string, anchor: number, used: number | string, held: number | string]

export const limitStates: Table<LimitState> = {
  name: 'limit_states',
  columns: { subject: 'text', slots: 'integer', windows: 'text' },
  encode: (state) => [state.subject, state.slots, encodeWindows(state.windows)],
}

export function decodeLimitState(row: StoredRow): LimitState {
  return {
    // The column holds what `encode` put there.
    subject: textOf(row, 'subject') as Subject,
    slots: numberOf(row, 'slots'),
    windows: decodeWindows(textOf(row, 'windows')),
  }
}

function encodeWindows(windows: readonly WindowState[]): string {
  return JSON.stringify(
    windows.map(
      ({ tier, anchor, used, held }): PackedWindow => [tier, anchor, jsonInteger(used), jsonInteger(held)],
    ),
  )
}

function decodeWindows(text: string): readonly WindowState[] {
  return parseStored<readonly PackedWindow[]>(text).map(([tier, anchor, used, held]) => ({
    tier,
    anchor,
    used: BigInt(used),
    held: BigInt(held),
  }))
}
