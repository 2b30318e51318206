/** The most rows one page may hold, whatever is requested. */
const PAGE_ROWS_MAX = 1_000

export function pageLimit(wanted: number): number {
  return Math.max(1, Math.min(PAGE_ROWS_MAX, Math.trunc(wanted)))
}
