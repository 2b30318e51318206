import { InvalidCursor } from '../../../storage/failures/invalid-cursor.ts'
import type { Page } from '../route-types.ts'

/** A page of a list that is read as a whole; its cursor is the id of the preceding row. */
export function pageOf<Row>(
  all: readonly Row[],
  { limit, cursor }: { readonly limit: number; readonly cursor?: string | undefined },
  idOf: (row: Row) => string,
): Page<Row> {
  const begin = cursor === undefined ? 0 : all.findIndex((row) => idOf(row) === cursor) + 1
  if (cursor !== undefined && begin === 0) throw new InvalidCursor()
  const rows = all.slice(begin, begin + limit)
  const last = rows.at(-1)
  return { rows, next: last === undefined || begin + rows.length >= all.length ? undefined : idOf(last) }
}
