import parts from '../page/parts.module.css'
import { useFormat } from './format.ts'

interface AmountProps {
  /** A decimal number as text. */
  readonly value: string
  /** The sign of this one, ISO 4217, stands in front. */
  readonly currency?: string | undefined
  /** How many decimals are shown; all of them stand in the title. */
  readonly digits?: 2 | 6
}

/** An amount with its whole part in front: what is small stands back, and nothing is rounded away unseen. */
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
