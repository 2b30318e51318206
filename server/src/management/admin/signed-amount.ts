import type { DecimalText } from '../../core/catalogue.ts'
import { parseDecimal, printDecimal } from '../../core/pricing/decimal.ts'

export type SignedAmount =
  | { readonly kind: 'value'; readonly value: DecimalText }
  | { readonly kind: 'mistake'; readonly message: string }

/** Amounts in requests and answers have at most six decimals (docs/reference/contract.md#D-names-02). */
const DECIMALS_MAX = 6
/** Far beyond any amount; the limits of bookings are in core/money.ts. */
const WHOLE_DIGITS_MAX = 12

/** An amount that may be negative, as a JSON number or as text. */
export function readSignedAmount(written: unknown): SignedAmount {
  const parsed = parseDecimal(String(written))
  if (parsed.kind === 'refused') return { kind: 'mistake', message: 'must be a decimal number' }
  if (parsed.value.scale > DECIMALS_MAX)
    return { kind: 'mistake', message: `must have at most ${DECIMALS_MAX} decimals` }
  const text = printDecimal(parsed.value)
  const [whole = ''] = text.replace('-', '').split('.')
  if (whole.length > WHOLE_DIGITS_MAX) return { kind: 'mistake', message: 'is more than can be booked' }
  return { kind: 'value', value: text }
}
