/**
 * What each chain brought in and what it cost. Costs are counted from the same quantities the customer was
 * billed for, at the prices the operator stated for the chain; where none are stated, only the revenue is told.
 */
import { DAY_MS } from '../../core/durations.ts'
import type { DecimalText, Pricing, Settings } from '../../core/catalogue.ts'
import type { ChainId } from '../../core/ids.ts'
import { type MicroCredits, microCredits } from '../../core/money.ts'
import { knownRateOf } from '../../core/pricing/currency.ts'
import { recomputeAmount } from '../../core/pricing/price.ts'
import type { ChainUsage } from '../../storage/stores/customers.ts'
import type { Storage } from '../../storage/storage.ts'
import { creditsText } from '../money/amounts.ts'
import type { RecipeLine } from '../../core/ledger/recipe.ts'

export interface ChainMargin {
  readonly chain_id: number
  readonly model: string | null
  readonly vendor_code: string | null
  readonly calls: number
  /** Calls nothing was deducted for. */
  readonly free_calls: number
  /** Calls over the customer's own credential: no revenue and no cost of ours. */
  readonly byok_calls: number
  readonly revenue: string
  /** null: no cost prices are stated for the chain. */
  readonly cost: string | null
  readonly margin: string | null
}

export interface MarginReport {
  readonly chains: readonly ChainMargin[]
  readonly calls: number
  /** Always: sums are as complete for a year as for a day. */
  readonly complete: true
}

/** Both ends included. */
export async function readMargin(
  storage: Pick<Storage, 'customers' | 'prices' | 'catalogue'>,
  period: { readonly from: number; readonly to: number },
): Promise<MarginReport> {
  const costs = await storage.prices.costs()
  const { settings } = await storage.catalogue.read()
  const sums = new Map<ChainId, Sums>()
  const end = period.to + 1
  for (let from = period.from; from < end; from = nextDay(from)) {
    const until = Math.min(nextDay(from), end)
    for (const used of await storage.customers.usage.chains({ from, until })) {
      addUsage(sums, used, knownCost(costs.get(used.chainId), settings))
    }
  }
  const chains = [...sums].map(([id, one]) => viewSums(id, one, costs.has(id)))
  return {
    chains: chains.sort((one, other) => one.chain_id - other.chain_id),
    calls: chains.reduce((calls, chain) => calls + chain.calls, 0),
    complete: true,
  }
}

function nextDay(at: number): number {
  return at - (at % DAY_MS) + DAY_MS
}

interface Sums {
  readonly model: string | undefined
  readonly vendor: string | undefined
  calls: number
  free: number
  byok: number
  revenue: bigint
  cost: bigint
}

/** Stated prices with what their currency is worth today. */
interface Cost {
  readonly pricing: Pricing
  readonly creditsPerUnit: DecimalText
}

function knownCost(pricing: Pricing | undefined, settings: Settings): Cost | undefined {
  if (pricing === undefined) return undefined
  return { pricing, creditsPerUnit: knownRateOf(settings, pricing.currency) }
}

function addUsage(sums: Map<ChainId, Sums>, used: ChainUsage, cost: Cost | undefined): void {
  const one = sums.get(used.chainId) ?? {
    model: used.model,
    vendor: used.vendorCode,
    calls: 0,
    free: 0,
    byok: 0,
    revenue: 0n,
    cost: 0n,
  }
  sums.set(used.chainId, one)
  one.calls += used.calls
  one.byok += used.byok
  one.free += used.free
  one.revenue += used.deducted
  if (cost !== undefined) one.cost += costOf(used, cost)
}

function viewSums(id: ChainId, one: Sums, known: boolean): ChainMargin {
  const credits = (amount: bigint): string => creditsText(microCredits(amount))
  return {
    chain_id: id,
    model: one.model ?? null,
    vendor_code: one.vendor ?? null,
    calls: one.calls,
    free_calls: one.free,
    byok_calls: one.byok,
    revenue: credits(one.revenue),
    cost: known ? credits(one.cost) : null,
    margin: known ? credits(one.revenue - one.cost) : null,
  }
}

/** What was billed at the operator's prices, without multipliers; rounded once, not for each call. */
function costOf({ billed }: ChainUsage, { pricing, creditsPerUnit }: Cost): MicroCredits {
  const line = (part: RecipeLine['class'], per: RecipeLine['per']): RecipeLine => ({
    class: part,
    quantity: billed[part],
    price: priceOf(part, pricing) ?? '0',
    per,
  })
  return recomputeAmount({
    creditsPerUnit,
    rateMultiplier: '1',
    userRate: '100',
    lines: [
      line('input', 1_000_000),
      line('cached_input', 1_000_000),
      line('cache_write', 1_000_000),
      line('cache_write_1h', 1_000_000),
      line('output', 1_000_000),
      line('image', 1),
      line('video_second', 1),
      line('request', 1),
    ],
  })
}

function priceOf(part: RecipeLine['class'], cost: Pricing): DecimalText | null {
  switch (part) {
    case 'input':
      return cost.inputPrice
    case 'cached_input':
      return cost.cacheInputPrice ?? cost.inputPrice
    case 'cache_write':
      return cost.cacheWritePrice ?? cost.inputPrice
    case 'cache_write_1h':
      return cost.cacheWrite1hPrice ?? cost.inputPrice
    case 'output':
      return cost.outputPrice
    case 'image':
      return cost.imagePrice
    case 'video_second':
      return cost.videoPrice
    case 'request':
      return cost.requestPrice
  }
}
