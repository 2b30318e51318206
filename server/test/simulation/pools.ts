import type { Transfer } from '../../src/core/ledger/hot-rows.ts'

/** Ledger account → what its entries sum up to. */
export function addToPools(
  pools: Map<string, bigint>,
  { debit, credit, amount }: Pick<Transfer, 'debit' | 'credit'> & { readonly amount: bigint },
): void {
  pools.set(debit, (pools.get(debit) ?? 0n) - amount)
  pools.set(credit, (pools.get(credit) ?? 0n) + amount)
}
