/** Queries of the call log. */
import type { AccountId, KeyId } from '../../core/ids.ts'
import type { MicroCredits } from '../../core/money.ts'
import type { CallLogRow } from '../../core/ledger/log-row.ts'

export interface LogFilter {
  readonly accountId?: AccountId
  readonly keyId?: KeyId
  /** Any of these keys; empty: no calls. */
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
  /** µCr deducted, minimum and maximum. */
  readonly deductedMin?: MicroCredits
  readonly deductedMax?: MicroCredits
  /** Only failed calls, or only successful ones. */
  readonly failed?: boolean
  /** Calls with impossible reported usage. */
  readonly suspect?: true
}

export interface LogStore {
  /** Newest first; `cursor` from an earlier page, else `InvalidCursor`. */
  page(filter: LogFilter, page: LogPageOptions): Promise<LogPage>
  /** When each of these keys was last used according to the log, epoch ms; unused keys are absent. */
  lastUses(keys: readonly KeyId[]): Promise<ReadonlyMap<KeyId, number>>
  /** Removes expired rows, and prepares for new ones. Returns how many were removed; money stays in the ledger. */
  keep(upkeep: LogUpkeep): Promise<number>
}

/** Periodic maintenance of the log. */
export interface LogUpkeep {
  /** Epoch ms. */
  readonly at: number
  /** Rows created before this are not kept; undefined: all are. */
  readonly keepSince: number | undefined
}

export interface LogPageOptions {
  readonly limit: number
  readonly cursor: string | undefined
  /** Part of something larger, such as an export: other pages do not wait for it. */
  readonly bulk?: true
}

export interface LogPage {
  readonly rows: readonly CallLogRow[]
  readonly next: string | undefined
}
