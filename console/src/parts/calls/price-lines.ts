/** Splits a price into lines that add up to its amount. */
import { isZero, productOf, sumDecimals } from '../values/decimal.ts'

/** As the gateway reports it. */
export interface Recipe {
  readonly credits_per_unit: string
  readonly rate_multiplier: string
  readonly user_rate: string
  readonly lines: readonly {
    readonly class: string
    readonly quantity: number
    readonly price: string
    readonly per: number
  }[]
  readonly surcharges?:
    | readonly {
        readonly name: string
        readonly multiplier?: string
        readonly per_call?: string
        readonly count?: number
      }[]
    | undefined
}

export interface PriceLine {
  /** A class of what was used, or the name of a surcharge. */
  readonly name: string
  /** Absent: a surcharge on the whole call. */
  readonly quantity?: number
  /** The price of this many units; absent: a factor on the sum above. */
  readonly per?: number
  readonly price: string
  readonly credits: string
}

const PERCENT = '0.01'
const MILLIONTH = '0.000001'

/** Each line is rounded to six decimals; the gateway rounds only the sum. */
export function priceLines(recipe: Recipe): readonly PriceLine[] {
  const factors = [recipe.credits_per_unit, recipe.rate_multiplier, recipe.user_rate, PERCENT]
  const lines: PriceLine[] = recipe.lines.map(({ class: name, quantity, price, per }) => ({
    name,
    quantity,
    per,
    price,
    credits: productOf([...factors, String(quantity), price, ...(per === 1 ? [] : [MILLIONTH])]),
  }))
  const surcharges = recipe.surcharges ?? []
  for (const { name, multiplier } of surcharges) {
    if (multiplier === undefined) continue
    const soFar = sumDecimals(lines.map(({ credits }) => credits))
    const more = sumDecimals([multiplier, '-1'])
    lines.push({ name, price: multiplier, credits: productOf([soFar, more]) })
  }
  for (const { name, per_call: price, count = 1 } of surcharges) {
    if (price === undefined) continue
    lines.push({
      name,
      quantity: count,
      per: 1,
      price,
      credits: productOf([...factors, String(count), price]),
    })
  }
  return lines
}

/** The difference between the amount and the sum of the rounded lines; undefined: none. */
export function roundingOf(amount: string, lines: readonly PriceLine[]): string | undefined {
  const sum = sumDecimals(lines.map(({ credits }) => credits))
  const difference = sumDecimals([amount, productOf([sum, '-1'])])
  return isZero(difference) ? undefined : difference
}
