import type { AccountId } from '../../core/ids.ts'

/**
 * Limit for answers that are still read after their clients disconnected: many clients that reconnect at once must not
 * accumulate them.
 */
const ALL_MAX = 1_000
const OF_ONE_ACCOUNT_MAX = 50

export interface ReadOn {
  /** False: there are too many already, so this answer is cut at once. True: `end` has to follow. */
  begin(account: AccountId): boolean
  end(account: AccountId): void
}

export function createReadOn(): ReadOn {
  const counts = new Map<AccountId, number>()
  let all = 0
  return {
    begin(account) {
      const own = counts.get(account) ?? 0
      if (all >= ALL_MAX || own >= OF_ONE_ACCOUNT_MAX) return false
      counts.set(account, own + 1)
      all += 1
      return true
    },
    end(account) {
      const own = counts.get(account)
      if (own === undefined) return
      all -= 1
      if (own > 1) counts.set(account, own - 1)
      else counts.delete(account)
    },
  }
}
