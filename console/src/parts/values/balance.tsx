import { Amount } from './amount.tsx'
import { useCurrency } from './use-currency.ts'

/** An amount in the currency that balances are held in. */
export function Balance({ value }: { readonly value: string }) {
  return <Amount value={value} currency={useCurrency()} />
}
