import parts from '../page/parts.module.css'
import { useFormat } from './format.ts'

interface AmountProps {
  /** A decimal number as text. */
  readonly value: string
  /** ISO 4217; its sign is shown in front. */
  readonly currency?: string | undefined
  /** The number of decimals shown; the title has all of them. */
  readonly digits?: 2 | 6
}

/** An amount with muted decimals; its title has all digits. */
export function Amount({ value, currency, digits = 2 }: AmountProps) {
  const format = useFormat()
  const sign = currency === undefined ? '' : format.sign(currency)
  const { whole, fraction } = format.split(value, Math.min(digits, 2))
  const rest = digits === 6 ? format.split(value, 6).fraction.slice(fraction.length) : ''
  const cut = digits === 6 ? format.split(value, 6) : { whole, fraction }
  const shown = digits === 6 ? cut.fraction.slice(0, cut.fraction.length - rest.length) : fraction
  return (
    <span className={parts.amount} title={sign === '' ? `${value} Credits` : `${sign}${value}`}>
      {sign !== '' && <span className={parts.sign}>{sign}</span>}
      {cut.whole}
      {digits === 6 ? shown : ''}
      <span className={parts.fraction}>{digits === 6 ? rest : shown}</span>
    </span>
  )
}
