/** An id in its protocol's own form; ids that have it already stay as they are. */
export function withPrefix(prefix: string, id: string): string {
  return id.startsWith(prefix) ? id : `${prefix}${id}`
}
