/** An account's opening balance, movements and closing balance: one period of its ledger. */
import type { DecimalText } from '../../core/catalogue.ts'
import type { AccountId } from '../../core/ids.ts'
import { microCredits } from '../../core/money.ts'
import type { Period, PoolSums, StatementEntry } from '../../storage/stores/customers.ts'
import type { Storage } from '../../storage/storage.ts'
import { creditsText, yuanText } from './amounts.ts'

export interface SumsView {
  readonly credits: string
  readonly balance: string
}

export interface EntryView {
  readonly id: string
  readonly at: string
  readonly kind: string
  /** Change of Credits. */
  readonly credits: string
  /** Change of the balance, yuan. */
  readonly balance: string
  readonly reference: string | null
}

export interface StatementView {
  readonly from: string
  /** The last moment of the period. */
  readonly to: string
  /** Credits, held ones included, and balance in yuan. */
  readonly opening: SumsView
  readonly closing: SumsView
}

export async function readStatement(
  storage: Pick<Storage, 'customers'>,
  account: AccountId,
  { creditsPerUnit, ...period }: Period & { readonly creditsPerUnit: DecimalText },
): Promise<StatementView> {
  const { opening, closing } = await storage.customers.statements.sums(account, period)
  return {
    from: new Date(period.from).toISOString(),
    to: new Date(period.until - 1).toISOString(),
    opening: viewPools(opening, creditsPerUnit),
    closing: viewPools(closing, creditsPerUnit),
  }
}

export function viewEntry(entry: StatementEntry, creditsPerUnit: DecimalText): EntryView {
  return {
    id: `${entry.transactionId}/${entry.sequence}`,
    at: new Date(entry.at).toISOString(),
    kind: entry.kind,
    ...viewPools(entry, creditsPerUnit),
    reference: entry.reference ?? null,
  }
}

/** Rows a page of an export reads at a time. */
const EXPORT_PAGE_ROWS = 500

export interface RunningEntry extends EntryView {
  readonly credits_after: string
  readonly balance_after: string
}

/** Every entry of the period with the balances after it, oldest first; at most a page of them in memory. */
export async function* eachEntry(
  storage: Pick<Storage, 'customers'>,
  account: AccountId,
  { creditsPerUnit, ...period }: Period & { readonly creditsPerUnit: DecimalText },
): AsyncGenerator<RunningEntry> {
  let sums = (await storage.customers.statements.sums(account, period)).opening
  let after: string | undefined
  do {
    const page = await storage.customers.statements.entries(account, {
      ...period,
      limit: EXPORT_PAGE_ROWS,
      after,
    })
    for (const entry of page.entries) {
      sums = {
        credits: microCredits(sums.credits + entry.credits),
        balance: microCredits(sums.balance + entry.balance),
      }
      const { credits, balance } = viewPools(sums, creditsPerUnit)
      yield { ...viewEntry(entry, creditsPerUnit), credits_after: credits, balance_after: balance }
    }
    after = page.next
  } while (after !== undefined)
}

function viewPools({ credits, balance }: PoolSums, creditsPerUnit: DecimalText): SumsView {
  return { credits: creditsText(credits), balance: yuanText(balance, creditsPerUnit) }
}
