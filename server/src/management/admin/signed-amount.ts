import { say, type Sentence } from '../../core/sentences/say.ts'
import type { DecimalText } from '../../core/catalogue.ts'
import { parseDecimal, printDecimal } from '../../core/pricing/decimal.ts'

export type SignedAmount =
  | { readonly kind: 'value'; readonly value: DecimalText }
  | { readonly kind: 'mistake'; readonly message: Sentence }

/** Amounts in requests and answers have at most six decimals (docs/reference/contract.md#D-names-02). */
const DECIMALS_MAX = 6
/** Far beyond any amount; the limits of bookings are in core/money.ts. */
const WHOLE_DIGITS_MAX = 12

/** An amount that may be negative, as a JSON number or as text. */
export function readSignedAmount(written: unknown): SignedAmount {
  const parsed = parseDecimal(String(written))
  if (parsed.kind === 'refused') return { kind: 'mistake', message: say('must-be-a-decimal') }
  if (parsed.value.scale > DECIMALS_MAX)
    return { kind: 'mistake', message: say('at-most-decimals', { most: DECIMALS_MAX }) }
  const text = printDecimal(parsed.value)
  const [whole = ''] = text.replace('-', '').split('.')
  if (whole.length > WHOLE_DIGITS_MAX) return { kind: 'mistake', message: say('more-than-can-be-booked') }
  return { kind: 'value', value: text }
}
