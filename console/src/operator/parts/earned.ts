/** What models or chains brought in and cost, in Credits, exact. */
import { isZero, sumDecimals } from '../../parts/values/decimal.ts'

/** As the gateway tells it of a chain or an account; null: the costs are not known. */
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
  /** Of them, those that nothing was deducted for; calls over the customers' own credentials are none of these. */
  readonly free: number
  readonly revenue: string
  /** undefined: of a chain that was called the costs are not known. */
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
