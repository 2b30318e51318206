/** Nobody makes a shorter video: less than this declares nothing, and the vendor takes a length of its own. */
const SECONDS_LEAST = 1
const SECONDS_MAX = 999_999_999

/**
 * The length an order declares: what is billed and shown (docs/reference/contract.md#4.4, #8-25). Text that is no
 * positive number declares nothing, `-1` and `0` included, by which some vendors mean a length of their own choice.
 * What a loose reader takes for a number is that number: `4e1`, `1_0`, `0x10`, `１２`.
 */
export function declaredSeconds(text: string | undefined): number | undefined {
  if (text === undefined || text.length > 40) return undefined
  const written = text.normalize('NFKC').replace(/[_\s]/g, '')
  const number = /^(\+?[\d.]+(e[+-]?\d+)?|0[xob][\da-f]+)$/i.test(written) ? Number(written) : Number.NaN
  if (!(number >= SECONDS_LEAST && number <= SECONDS_MAX)) return undefined
  return Number(number.toFixed(DECIMALS_MAX))
}

/** As of amounts. */
const DECIMALS_MAX = 6

/** What is billed, what is shown, and what the vendor is told (docs/reference/contract.md#D-video-18). */
export interface OrderedSeconds {
  readonly billed: number
  /** Shown as `seconds`. */
  readonly shown: string
  /** undefined: the client's text is sent as it is. */
  readonly sent: number | undefined
}

export function orderSeconds(text: string | undefined, vendorDefault: number): OrderedSeconds {
  const declared = declaredSeconds(text)
  if (declared !== undefined) return { billed: declared, shown: text ?? '', sent: declared }
  const speaks = text !== undefined && /[^\d.+-]/.test(text)
  return { billed: vendorDefault, shown: String(vendorDefault), sent: speaks ? undefined : vendorDefault }
}
