/**
 * Revenue and cost of each chain. Costs are computed from the quantities the customer was billed for, at the operator's
 * cost prices of the chain; without those, only the revenue is known.
 */
import { nextDay } from '../../core/calendar.ts'
import type { DecimalText, Pricing, Settings } from '../../core/catalogue.ts'
import type { AccountId, ChainId } from '../../core/ids.ts'
import { type MicroCredits, microCredits } from '../../core/money.ts'
import { knownRateOf } from '../../core/pricing/currency.ts'
import { recomputeAmount } from '../../core/pricing/price.ts'
import type { ChainQuestion, ChainUsage } from '../../storage/stores/customers.ts'
import type { Storage } from '../../storage/storage.ts'
import { creditsText } from '../money/amounts.ts'
import type { RecipeLine } from '../../core/ledger/recipe.ts'

export interface ChainMargin extends Margin {
  readonly chain_id: number
  readonly model: string | null
  readonly vendor_code: string | null
}

export interface Margin {
  readonly calls: number
  /** Calls without a deduction. */
  readonly free_calls: number
  /** Calls over the customer's own credential: no revenue and no cost for the platform. */
  readonly byok_calls: number
  readonly revenue: string
  /** null: a called chain has no cost prices. */
  readonly cost: string | null
  readonly margin: string | null
}

export interface MarginReport {
  readonly chains: readonly ChainMargin[]
  readonly calls: number
  /** Each day of the period in its time zone, oldest first; empty without a time zone. */
  readonly days: readonly MarginDay[]
  /** Always: sums are complete for any period. */
  readonly complete: true
}

export interface MarginDay {
  /** Its first instant within the period, epoch ms. */
  readonly at: number
  readonly chains: readonly ChainMargin[]
}

export interface AccountMargins {
  /** Largest revenue first. */
  readonly accounts: readonly AccountMargin[]
  /** The sum of all others; undefined: there are none. */
  readonly others: (Margin & { readonly accounts: number }) | undefined
  readonly totals: Margin
}

export interface AccountMargin extends Margin {
  readonly accountId: AccountId
}

interface Period {
  /** Epoch ms, both included. */
  readonly from: number
  readonly to: number
  /** Time zone of the days listed; undefined: no days are listed. */
  readonly timezone?: string | undefined
}

export async function readMargin(
  storage: Pick<Storage, 'customers' | 'prices' | 'catalogue'>,
  { from: first, to, timezone }: Period,
): Promise<MarginReport> {
  const costs = await storage.prices.costs()
  const { settings } = await storage.catalogue.read()
  const view = (sums: ReadonlyMap<ChainId, ChainSums>): readonly ChainMargin[] =>
    [...sums]
      .map(([id, one]) => viewChain(id, one, costs.has(id)))
      .sort((one, other) => one.chain_id - other.chain_id)
  const all = new Map<ChainId, ChainSums>()
  const days: MarginDay[] = []
  const end = to + 1
  for (let from = first; from < end; ) {
    const until = Math.min(nextDay(from, timezone ?? 'UTC'), end)
    const ofDay = new Map<ChainId, ChainSums>()
    for (const used of await storage.customers.usage.chains({ from, until })) {
      const cost = knownCost(costs.get(used.chainId), settings)
      for (const sums of [all, ofDay]) addUsage(sums, used, cost)
    }
    if (timezone !== undefined) days.push({ at: from, chains: view(ofDay) })
    from = until
  }
  const chains = view(all)
  return { chains, days, calls: chains.reduce((calls, chain) => calls + chain.calls, 0), complete: true }
}

/** The same by account, the `limit` largest individually. The database sorts and sums, so that few rows are held. */
export async function readAccountMargins(
  storage: Pick<Storage, 'customers' | 'prices' | 'catalogue'>,
  { from, to }: Pick<Period, 'from' | 'to'>,
  limit: number,
): Promise<AccountMargins> {
  const costs = await storage.prices.costs()
  const { settings } = await storage.catalogue.read()
  const add = (sums: Sums, used: ChainUsage): void =>
    addTo(sums, used, knownCost(costs.get(used.chainId), settings))
  const { usage } = storage.customers
  const period = { from, until: to + 1 }
  const sumOf = async (question: ChainQuestion): Promise<Sums> => {
    const sums = nothing()
    for (const used of await usage.chains(question)) add(sums, used)
    return sums
  }
  const { accounts, count } = await usage.payers({ ...period, limit })
  const listed = new Map(accounts.map((id) => [id, nothing()]))
  for (const used of await usage.chains({ ...period, only: accounts })) {
    const sums = used.accountId === undefined ? undefined : listed.get(used.accountId)
    if (sums !== undefined) add(sums, used)
  }
  const others = count - accounts.length
  return {
    accounts: [...listed].map(([id, sums]) => ({ accountId: id, ...viewMargin(sums) })),
    others:
      others === 0
        ? undefined
        : { accounts: others, ...viewMargin(await sumOf({ ...period, except: accounts })) },
    totals: viewMargin(await sumOf(period)),
  }
}

interface Sums {
  calls: number
  free: number
  byok: number
  revenue: bigint
  cost: bigint
  /** Whether the cost of every chain called with the platform's credentials is known. */
  isCostKnown: boolean
}

interface ChainSums extends Sums {
  readonly model: string | undefined
  readonly vendor: string | undefined
}

function nothing(): Sums {
  return { calls: 0, free: 0, byok: 0, revenue: 0n, cost: 0n, isCostKnown: true }
}

/** Cost prices with today's rate of their currency. */
interface Cost {
  readonly pricing: Pricing
  readonly creditsPerUnit: DecimalText
}

function knownCost(pricing: Pricing | undefined, settings: Settings): Cost | undefined {
  if (pricing === undefined) return undefined
  return { pricing, creditsPerUnit: knownRateOf(settings, pricing.currency) }
}

function addUsage(sums: Map<ChainId, ChainSums>, used: ChainUsage, cost: Cost | undefined): void {
  const one = sums.get(used.chainId) ?? { ...nothing(), model: used.model, vendor: used.vendorCode }
  sums.set(used.chainId, one)
  addTo(one, used, cost)
}

function addTo(one: Sums, used: ChainUsage, cost: Cost | undefined): void {
  one.calls += used.calls
  one.byok += used.byok
  one.free += used.free
  one.revenue += used.deducted
  if (cost !== undefined) one.cost += costOf(used, cost)
  else if (used.calls > used.byok) one.isCostKnown = false
}

function viewChain(id: ChainId, one: ChainSums, known: boolean): ChainMargin {
  return {
    chain_id: id,
    model: one.model ?? null,
    vendor_code: one.vendor ?? null,
    ...viewMargin({ ...one, isCostKnown: known }),
  }
}

function viewMargin(one: Sums): Margin {
  const credits = (amount: bigint): string => creditsText(microCredits(amount))
  return {
    calls: one.calls,
    free_calls: one.free,
    byok_calls: one.byok,
    revenue: credits(one.revenue),
    cost: one.isCostKnown ? credits(one.cost) : null,
    margin: one.isCostKnown ? credits(one.revenue - one.cost) : null,
  }
}

/** The billed quantities at the operator's cost prices, without multipliers; rounded once, not per call. */
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
      line('character', 1_000_000),
      line('audio_second', 1),
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
    case 'character':
      return cost.characterPrice
    case 'audio_second':
      return cost.audioSecondPrice
  }
}
