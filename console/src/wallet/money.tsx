import type { Pool } from '../api/wallet.ts'
import { Amount } from '../parts/values/amount.tsx'
import { useCurrency } from '../parts/values/use-currency.ts'

interface MoneyProps {
  readonly pool: Pool
  readonly yuan: string
  readonly credits: string
}

/** An amount in the unit that it is paid in. */
export function Money({ pool, yuan, credits }: MoneyProps) {
  const currency = useCurrency()
  if (pool === 'balance') return <Amount value={yuan} currency={currency} />
  return (
    <>
      <Amount value={credits} /> Credits
    </>
  )
}
