import { present, textField } from '../../parts/lists/search-fields.ts'
import { readUsageSearch } from '../../parts/usage/search.ts'

/** What the address of everybody's usage says beside that of one's own. */
export function readAnyUsageSearch(search: Record<string, unknown>) {
  return present({ ...readUsageSearch(search), account: textField(search['account']) })
}

export type AnyUsageSearch = ReturnType<typeof readAnyUsageSearch>
