/**
 * What each chain brought in and what it cost, from the log. Costs are counted from the same quantities the customer was
 * billed for, at the prices the operator stated for the chain; where none are stated, only the revenue is told.
 */
import type { CallLogRow } from '../../core/calls/log-row.ts'
import type { RecipeLine } from '../../core/calls/operations.ts'
import type { DecimalText, Pricing } from '../../core/catalogue.ts'
import type { ChainId } from '../../core/ids.ts'
import { type MicroCredits, microCredits, ZERO } from '../../core/money.ts'
import { recomputeAmount } from '../../core/pricing/price.ts'
import type { Storage } from '../../storage/storage.ts'
import { creditsText } from '../amounts.ts'

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
  /** False: the period has more calls than one report reads; these are the newest. */
  readonly complete: boolean
}

const PAGE_ROWS = 1_000
/** A report reads the log itself; a longer look is put together from shorter ones. */
const CALLS_MAX = 50_000

export async function readMargin(
  storage: Pick<Storage, 'logs' | 'prices'>,
  period: { readonly from: number; readonly to: number },
): Promise<MarginReport> {
  const costs = await storage.prices.costs()
  const sums = new Map<ChainId, Sums>()
  let cursor: string | undefined
  let calls = 0
  do {
    const page = await storage.logs.page(period, { limit: PAGE_ROWS, cursor })
    for (const row of page.rows) {
      if (row.chainId === undefined || row.recipe === undefined) continue
      calls += 1
      addCall(sums, row, costs.get(row.chainId))
    }
    cursor = page.next
  } while (cursor !== undefined && calls < CALLS_MAX)
  const chains = [...sums].map(([id, one]) => viewSums(id, one, costs.has(id)))
  return {
    chains: chains.sort((one, other) => one.chain_id - other.chain_id),
    calls,
    complete: cursor === undefined,
  }
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

function addCall(sums: Map<ChainId, Sums>, row: CallLogRow, cost: Pricing | undefined): void {
  if (row.chainId === undefined) return
  const one = sums.get(row.chainId) ?? {
    model: row.model,
    vendor: row.vendorCode,
    calls: 0,
    free: 0,
    byok: 0,
    revenue: 0n,
    cost: 0n,
  }
  sums.set(row.chainId, one)
  one.calls += 1
  if (row.byok) {
    one.byok += 1
    return
  }
  if (row.deducted === 0n) one.free += 1
  one.revenue += row.deducted
  if (cost !== undefined) one.cost += costOf(row, cost)
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

/** The call's own recipe at the operator's prices, without multipliers. */
function costOf({ recipe }: CallLogRow, cost: Pricing): MicroCredits {
  if (recipe === undefined) return ZERO
  return recomputeAmount({
    creditsPerYuan: recipe.creditsPerYuan,
    rateMultiplier: '1',
    userRate: '100',
    lines: recipe.lines.map((line) => ({ ...line, price: priceOf(line.class, cost) ?? '0' })),
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
