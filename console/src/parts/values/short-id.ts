/** An id as it is shown: its beginning and its end tell ids apart. Whole on copy and in its title. */
export function shortId(id: string): string {
  return id.length <= 16 ? id : `${id.slice(0, 10)}…${id.slice(-4)}`
}
