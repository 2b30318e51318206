/** What a charge is made of besides its usage, read so that a fault of ours does not make an answer free. */
import { readTerms } from '../../core/pricing/read-terms.ts'
import type { PriceTerms } from '../../core/pricing/terms.ts'
import type { Pipeline } from '../context.ts'

/** Prices frozen when a call was reserved. A fault of the reader is told and the text read anew; throws when it is unreadable. */
export function frozenTerms(
  { terms }: Pick<Pipeline, 'terms'>,
  text: string,
  onFault: (error: unknown) => void,
): PriceTerms {
  try {
    return readable(terms.terms(text))
  } catch (error) {
    onFault(error)
    return readable(readTerms(text))
  }
}

function readable(read: ReturnType<typeof readTerms>): PriceTerms {
  if (read.kind === 'unreadable') throw new Error(`frozen price terms cannot be read: ${read.reason}`)
  return read.terms
}

/**
 * First instant of the month a charge counts in, epoch ms. Where none can be told it counts in the month the account
 * stands in, which 0 says.
 */
export function monthStartAt(
  { monthOf }: Pick<Pipeline, 'monthOf'>,
  { at, timezone }: { readonly at: number; readonly timezone: string },
  onFault: (error: unknown) => void,
): number {
  try {
    return monthOf(at, timezone).from
  } catch (error) {
    onFault(error)
    return 0
  }
}
