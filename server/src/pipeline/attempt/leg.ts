/** One chain that a call is tried over, and how. */
import type { Chain, Model } from '../../core/catalogue.ts'
import type { AttemptRecord } from '../../core/ledger/log-row.ts'

/** One chain of one model, with who pays for it. */
export interface Leg {
  readonly chain: Chain
  readonly model: Model
  readonly byok: boolean
  readonly why: AttemptRecord['why']
  /** The upstream could not read the signed reasoning of the history, so it is sent without. */
  readonly unsigned?: true
}
