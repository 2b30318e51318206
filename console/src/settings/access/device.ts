/** Names of browsers by user agent; later ones in the list also contain the names of earlier ones. */
const BROWSERS = [
  ['Edg/', 'Edge'],
  ['Firefox/', 'Firefox'],
  ['Chrome/', 'Chrome'],
  ['Safari/', 'Safari'],
] as const
const SYSTEMS = [
  ['Android', 'Android'],
  ['iPhone', 'iPhone'],
  ['iPad', 'iPad'],
  ['Windows', 'Windows'],
  ['Mac OS', 'macOS'],
  ['Linux', 'Linux'],
] as const

/** undefined: there is no user agent; programs are shown by their own name. */
export function deviceOf(userAgent: string): string | undefined {
  const find = (names: readonly (readonly [string, string])[]) =>
    names.find(([mark]) => userAgent.includes(mark))?.[1]
  const browser = find(BROWSERS)
  const system = find(SYSTEMS)
  if (browser === undefined) return /^[^\s(]+/.exec(userAgent)?.[0]
  return system === undefined ? browser : `${browser}, ${system}`
}
