/** What one instance tells the others when it has written. */
import type { AccountId, ChainId } from '../core/ids.ts'

/** What changed, so that a cache can forget it. */
export type Announcement =
  | { readonly kind: 'catalogue' }
  | { readonly kind: 'key'; readonly hash: string }
  | { readonly kind: 'account'; readonly accountId: AccountId }
  /** A video task moved on: a POST that waits for it looks again. */
  | { readonly kind: 'video'; readonly id: string }
  /** An operator says that this chain is well again. */
  | { readonly kind: 'chain'; readonly chainId: ChainId }
  /** The link to the other instances was lost and is back: forget everything. */
  | { readonly kind: 'everything' }
