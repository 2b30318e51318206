import type { LoggedCall } from '../call.ts'

/** Log rows per second for refused calls without a known key: an attacker must not fill the disk. */
const ANONYMOUS_ROWS_PER_SECOND = 20

/** Whether a refused call gets a log row of its own; excess calls that cannot be charged to anyone are only counted. */
export function createRefusalBudget(): (call: LoggedCall, at: number) => boolean {
  let second = 0
  let rows = 0
  return (call, at) => {
    if (call.key !== undefined) return true
    const now = Math.floor(at / 1_000)
    if (second !== now) {
      second = now
      rows = 0
    }
    rows += 1
    return rows <= ANONYMOUS_ROWS_PER_SECOND
  }
}
