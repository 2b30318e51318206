/** The call log as it is asked for. */
import type { AccountId, KeyId } from '../../core/ids.ts'
import type { MicroCredits } from '../../core/money.ts'
import type { CallLogRow } from '../../core/ledger/log-row.ts'

export interface LogFilter {
  readonly accountId?: AccountId
  readonly keyId?: KeyId
  /** Any of these; none: nothing. */
  readonly keyIds?: readonly KeyId[]
  readonly from?: number
  readonly to?: number
  readonly model?: string
  readonly requestId?: string
  readonly appId?: string
  readonly customId?: string
  readonly user?: string
  /** An HTTP status. */
  readonly status?: number
  /** µCr deducted, at least and at most. */
  readonly deductedMin?: MicroCredits
  readonly deductedMax?: MicroCredits
  /** Calls that failed, or calls that did not. */
  readonly failed?: boolean
  /** Calls whose reported usage could not be. */
  readonly suspect?: true
}

export interface LogStore {
  /** Newest first; `cursor` as a former page gave it, else `InvalidCursor`. */
  page(
    filter: LogFilter,
    page: { readonly limit: number; readonly cursor: string | undefined },
  ): Promise<LogPage>
  /** When the last call that is still in the log was made with each of these keys, epoch ms; unused ones are not there. */
  lastUses(keys: readonly KeyId[]): Promise<ReadonlyMap<KeyId, number>>
  /** Removes rows past their retention, and makes room for those to come. Returns how many went; money stays in the ledger. */
  keep(upkeep: LogUpkeep): Promise<number>
}

/** What is done to the log from time to time. */
export interface LogUpkeep {
  /** Epoch ms. */
  readonly at: number
  /** Rows created before this are not kept; undefined: all are. */
  readonly keepSince: number | undefined
}

export interface LogPage {
  readonly rows: readonly CallLogRow[]
  readonly next: string | undefined
}
