/** Revenue and cost of models or chains, in Credits, exact. */
import { isZero, sumDecimals } from '../../parts/values/decimal.ts'

/** As the gateway reports it for a chain or an account; null: the costs are not known. */
interface ChainMargin {
  readonly calls: number
  readonly free_calls: number
  readonly byok_calls: number
  readonly revenue: string
  readonly cost: string | null
  readonly margin: string | null
}

export interface Earned {
  readonly calls: number
  /** Calls for which nothing was deducted, except those over customers' own credentials. */
  readonly free: number
  readonly revenue: string
  /** undefined: the costs of a chain that was called are not known. */
  readonly cost: string | undefined
  readonly margin: string | undefined
  /** Of the revenue, 0 to 1; undefined: unknown, or there was none. */
  readonly share: number | undefined
}

export function earnedOf(chains: readonly ChainMargin[]): Earned {
  const called = chains.filter(({ calls, byok_calls: own }) => calls > own)
  const known = called.every(({ cost }) => cost !== null)
  const revenue = sumDecimals(called.map((chain) => chain.revenue))
  const margin = known ? sumDecimals(called.map((chain) => chain.margin ?? '0')) : undefined
  return {
    calls: chains.reduce((sum, { calls }) => sum + calls, 0),
    free: chains.reduce((sum, { free_calls: free }) => sum + free, 0),
    revenue,
    cost: known ? sumDecimals(called.map((chain) => chain.cost ?? '0')) : undefined,
    margin,
    share: margin === undefined || isZero(revenue) ? undefined : Number(margin) / Number(revenue),
  }
}
