/**
 * The length an order declares: what is billed and shown (contract §4.4, §8 rule 4). Text that is no positive number
 * declares nothing, `-1` and `0` included, by which some vendors mean a length of their own choice.
 */
export function declaredSeconds(text: string | undefined): number | undefined {
  const number = text !== undefined && /^\+?\d{1,9}(\.\d{1,6})?$/.test(text) ? Number(text) : 0
  return number > 0 ? number : undefined
}

/** What is billed, what is shown, and what the vendor is told (decisions, Video). */
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
