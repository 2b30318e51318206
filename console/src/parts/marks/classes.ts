/** Several classes of style sheets as one attribute. */
export function classes(...names: readonly (string | undefined | false)[]): string {
  return names.filter((name) => name !== undefined && name !== false).join(' ')
}
