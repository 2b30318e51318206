/** Prices are shown with all digits: those of tokens have many. */
const DIGITS = { minimumFractionDigits: 0, maximumFractionDigits: 9 }

/** With the sign of its currency, if it is one of ISO 4217. */
export function priceText(value: number, currency: string, language: string): string {
  if (!/^[A-Z]{3}$/.test(currency)) return `${value.toLocaleString(language, DIGITS)} ${currency}`
  return value.toLocaleString(language, {
    ...DIGITS,
    style: 'currency',
    currency,
    currencyDisplay: 'narrowSymbol',
  })
}
