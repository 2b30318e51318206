/**
 * The paths of what was dropped, as shown in `Gw-Dropped-Fields` and the call log. The sender of a request chooses
 * their names and number, and the official clients refuse an answer whose head is larger than 16 KiB.
 */
const PATHS_MAX = 64
const PATH_LENGTH_MAX = 100
/** Length of all of them together, as written in the header. */
const TOTAL_LENGTH_MAX = 2_048

/** The first paths, encoded for a header; a last element says how many more there were. */
export function formatDropped(paths: readonly string[]): readonly string[] {
  const told: string[] = []
  let length = 0
  for (const path of paths) {
    if (told.length === PATHS_MAX) break
    const text = headerWord(shortened(path))
    length += text.length + 1
    if (length > TOTAL_LENGTH_MAX) break
    told.push(text)
  }
  return told.length === paths.length ? told : [...told, `(${paths.length - told.length} more)`]
}

function shortened(path: string): string {
  return path.length <= PATH_LENGTH_MAX ? path : `${path.slice(0, PATH_LENGTH_MAX - 3)}...`
}

/** Everything but visible ASCII, and the comma, which separates paths, percent-encoded. */
function headerWord(path: string): string {
  return path
    .replace(/\p{Surrogate}/gu, '\ufffd')
    .replace(/[^\x21-\x24\x26-\x2b\x2d-\x7e]/gu, (character) => encodeURIComponent(character))
}
