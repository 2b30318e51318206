/** Windows and slots of one subject: one row, its windows packed as JSON arrays. */
import type { LimitState, Subject, WindowState } from '../../../core/ledger/hot-rows.ts'
import { jsonInteger, parseStored } from '../stored-json.ts'
import { numberOf, type StoredRow, type Table, textOf } from '../table.ts'

/**
 * A quota's window has the carried-over amount as its last value; other windows, and those of older releases, do not.
 */
type PackedWindow = readonly [
  tier: string,
  anchor: number,
  used: number | string,
  held: number | string,
  grant?: number | string,
  carried?: number | string,
  since?: number,
]

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
  return JSON.stringify(windows.map(packWindow))
}

function packWindow({ tier, anchor, used, held, carry }: WindowState): PackedWindow {
  const [usedUnits, heldUnits] = [jsonInteger(used), jsonInteger(held)]
  if (carry === undefined) return [tier, anchor, usedUnits, heldUnits]
  const { grant, carried, since } = carry
  return [tier, anchor, usedUnits, heldUnits, jsonInteger(grant), jsonInteger(carried), since]
}

function decodeWindows(text: string): readonly WindowState[] {
  return parseStored<readonly PackedWindow[]>(text).map(unpackWindow)
}

function unpackWindow([tier, anchor, used, held, grant, carried, since]: PackedWindow): WindowState {
  const window = { tier, anchor, used: BigInt(used), held: BigInt(held) }
  if (grant === undefined || carried === undefined || since === undefined) return window
  return { ...window, carry: { grant: BigInt(grant), carried: BigInt(carried), since } }
}
