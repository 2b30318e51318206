/**
 * A whole number from 1 on, as lenient readers take it from a text (Pydantic takes `+3` and `3.0`); undefined: it is
 * not one.
 */
export function countInText(text: string | undefined): number | undefined {
  const value = /^\s*\+?\d+(?:\.0*)?\s*$/.test(text ?? '') ? Number(text) : 0
  return value >= 1 && Number.isSafeInteger(value) ? value : undefined
}
