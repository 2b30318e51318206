import type { Pool } from '../api/wallet.ts'
import { Amount } from '../parts/values/amount.tsx'

interface MoneyProps {
  readonly pool: Pool
  readonly yuan: string
  readonly credits: string
}

/** The same amount in the unit it is paid in. */
export function Money({ pool, yuan, credits }: MoneyProps) {
  if (pool === 'balance') return <Amount value={yuan} unit="yuan" />
  return (
    <>
      <Amount value={credits} /> Credits
    </>
  )
}
