/** All of a price’s digits are said: what a token costs has many. */
const DIGITS = { minimumFractionDigits: 0, maximumFractionDigits: 9 }

/** With the sign of its currency, where that is one of the world's. */
export function priceText(value: number, currency: string, language: string): string {
  if (!/^[A-Z]{3}$/.test(currency)) return `${value.toLocaleString(language, DIGITS)} ${currency}`
  return value.toLocaleString(language, {
    ...DIGITS,
    style: 'currency',
    currency,
    currencyDisplay: 'narrowSymbol',
  })
}
