/** The differences found, up to a limit: the first thousand show a broken ledger as well as all of them. */
import type { LedgerDifference } from '../../stores/records.ts'

export const DIFFERENCES_MAX = 1_000

export interface Comparison {
  readonly subject: string
  readonly what: string
  readonly expected: bigint
  readonly found: bigint
}

export class Differences {
  readonly found: LedgerDifference[] = []

  /** Adds a difference if the two are not equal. */
  compare({ subject, what, expected, found }: Comparison): void {
    if (expected !== found) {
      this.add({ subject, what, expected: expected.toString(), found: found.toString() })
    }
  }

  add(difference: LedgerDifference): void {
    if (this.found.length < DIFFERENCES_MAX) this.found.push(difference)
  }
}
