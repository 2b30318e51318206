/**
 * A whole number from 1 on, as lenient readers take it from a text (Pydantic takes `+3` and `3.0`); undefined: it is
 * not one.
 */
export function countInText(text: string | undefined): number | undefined {
  const value = /^\s*\+?\d+(?:\.0*)?\s*$/.test(text ?? '') ? Number(text) : 0
  return value >= 1 && Number.isSafeInteger(value) ? value : undefined
}

/** More than any upstream makes; a higher count is held as this. */
export const COUNT_MAX = 1_000_000

/**
 * The most that any reader may take a number for, in JSON or in a text: parts are rounded up, Python reads "1_0" as 10, and
 * JavaScript "2e1" as 20. undefined: nobody takes it for a count.
 */
export function looseCount(text: string): number | undefined {
  const plain = text.trim().replaceAll('_', '').replace(/^\+/, '')
  if (/^inf(?:inity)?$/i.test(plain)) return COUNT_MAX
  if (!/^(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(plain)) return undefined
  const count = Math.ceil(Number(plain))
  return count >= 1 ? Math.min(count, COUNT_MAX) : undefined
}
