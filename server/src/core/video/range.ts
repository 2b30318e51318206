/**
 * The one byte range of a `Range` header (RFC 9110 §14): players ask for the first bytes, the last bytes, or everything
 * from an offset.
 */
export type ByteRange =
  | { readonly kind: 'whole' }
  | { readonly kind: 'part'; readonly start: number; readonly end: number }
  | { readonly kind: 'unsatisfiable' }

/** Several ranges, other units and unreadable ones are answered with the whole file, as the standard allows. */
export function readRange(header: string | undefined, bytes: number): ByteRange {
  const [, first = '', last = ''] =
    /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.replaceAll(' ', '') ?? '') ?? []
  if (first === '' && last === '') return { kind: 'whole' }
  if (first === '') return part(Math.max(0, bytes - Number(last)), bytes - 1)
  const end = last === '' ? bytes - 1 : Math.min(Number(last), bytes - 1)
  if (last !== '' && Number(last) < Number(first)) return { kind: 'whole' }
  return part(Number(first), end)
}

function part(start: number, end: number): ByteRange {
  return start <= end ? { kind: 'part', start, end } : { kind: 'unsatisfiable' }
}
