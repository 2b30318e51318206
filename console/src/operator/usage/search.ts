import { present, textField } from '../../parts/lists/search-fields.ts'
import { readUsageSearch } from '../../parts/usage/search.ts'

/** Search parameters that only the usage of all accounts has. */
export function readAnyUsageSearch(search: Record<string, unknown>) {
  return present({ ...readUsageSearch(search), account: textField(search['account']) })
}

export type AnyUsageSearch = ReturnType<typeof readAnyUsageSearch>
