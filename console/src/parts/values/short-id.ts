/** Shortens an id for display: its beginning and end. Copying and the title use the whole id. */
export function shortId(id: string): string {
  return id.length <= 16 ? id : `${id.slice(0, 10)}…${id.slice(-4)}`
}
