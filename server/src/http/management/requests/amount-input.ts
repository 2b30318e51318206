/** Amounts in requests: decimal text or a JSON number, exact either way. */
import * as z from 'zod'
import { say, type Sentence } from '../../../core/sentences/say.ts'
import { issue } from './request-fields.ts'
import { DECIMAL_LENGTH_MAX, parseDecimal, printDecimal } from '../../../core/pricing/decimal.ts'

/** Amounts in requests and answers have at most six decimals (docs/reference/contract.md#D-names-02). */
const DECIMALS_MAX = 6
/** Beyond any account; keeps every sum within 64 bits. */
const AMOUNT_MAX = 1_000_000_000

/** Decimal text of an amount of yuan or Credits, not negative. */
export const amountInput = z
  .union([z.string().max(DECIMAL_LENGTH_MAX), z.number()])
  .transform((input, context) => {
    const read = parseDecimal(input)
    const mistake = read.kind === 'refused' ? say('must-be-a-decimal') : mistakeOf(read.value)
    if (read.kind === 'decimal' && mistake === undefined) return printDecimal(read.value)
    context.addIssue({ code: 'custom', ...issue(mistake ?? say('must-be-a-decimal')) })
    return z.NEVER
  })
  .meta({ description: `A decimal number, as text or as a number, with at most ${DECIMALS_MAX} decimals.` })

function mistakeOf(value: { readonly units: bigint; readonly scale: number }): Sentence | undefined {
  if (value.units < 0n) return say('must-not-be-negative')
  if (value.scale > DECIMALS_MAX) return say('at-most-decimals', { most: DECIMALS_MAX })
  if (value.units > BigInt(AMOUNT_MAX) * 10n ** BigInt(value.scale))
    return say('at-most', { most: AMOUNT_MAX })
  return undefined
}
