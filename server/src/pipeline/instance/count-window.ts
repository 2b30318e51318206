import type { AccountId } from '../../core/ids.ts'

const WINDOW_MS = 60_000
/** Accounts counted at once; beyond that all counts are reset, which only allows more. */
const ACCOUNTS_MAX = 50_000

/**
 * How many token counts an account may request per minute, on this instance: they are free, so they have a window of
 * their own. Returns how long to wait, ms; undefined: proceed.
 */
export type CountWindow = (account: AccountId, at: number) => number | undefined

export function createCountWindow(countsPerMinuteMax: number): CountWindow {
  const windows = new Map<AccountId, { readonly from: number; counts: number }>()
  return (account, at) => {
    const known = windows.get(account)
    if (known !== undefined && at - known.from < WINDOW_MS) {
      if (known.counts >= countsPerMinuteMax) return WINDOW_MS - (at - known.from)
      known.counts += 1
      return undefined
    }
    if (windows.size >= ACCOUNTS_MAX) windows.clear()
    windows.set(account, { from: at, counts: 1 })
    return countsPerMinuteMax > 0 ? undefined : WINDOW_MS
  }
}
