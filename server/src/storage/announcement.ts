/** What an instance announces to the others after a write. */
import type { AccountId, ChainId } from '../core/ids.ts'

/** What changed, so that a cache can forget it. */
export type Announcement =
  | { readonly kind: 'catalogue' }
  | { readonly kind: 'key'; readonly hash: string }
  | { readonly kind: 'account'; readonly accountId: AccountId }
  /** A video task has progressed: a waiting POST reads it again. */
  | { readonly kind: 'video'; readonly id: string }
  /** An operator declared this chain healthy again. */
  | { readonly kind: 'chain'; readonly chainId: ChainId }
  /** The connection to the other instances was lost and is back: drop all caches. */
  | { readonly kind: 'everything' }
