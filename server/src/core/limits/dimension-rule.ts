import type { Counts, Used } from '../metering/quantities.ts'

/** Everything that the windows need to know about one dimension. */
export interface DimensionRule {
  /** Code a full window refuses with (docs/reference/contract.md#D-errors-11). */
  readonly code: 42902 | 42903 | 42910
  /**
   * How a call counts when it is admitted (docs/reference/contract.md#D-admission-12). `count`: charged at once, given
   * back when the upstream never generated. `hold`: held until settlement, which charges what was really used. `room`:
   * nothing is taken, but a window that is full already refuses the call; charged at settlement.
   */
  readonly admission: 'count' | 'hold' | 'room'
  /** Counts what is sent upstream, whatever its result: a call that was sent does not give it back. */
  readonly bySending?: boolean
  /** The unit in messages to clients: `one` for a limit of 1. */
  readonly unit: { readonly one: string; readonly many: string }
  /** Units a window counts in for 1 of the policy's limit. */
  readonly unitsPerLimit: bigint
  /**
   * How much a call takes at admission; 0: the dimension does not apply. `room` takes nothing, so any positive number
   * will do.
   */
  asks(counts: Counts): number
  /** Units the whole call used, known at settlement; undefined: what was taken at admission stands. */
  uses(consumed: Consumed): bigint | undefined
}

/** What a settled call used, and what it cost. */
export interface Consumed {
  readonly used: Used
  /** µCr. */
  readonly amount: bigint
}
