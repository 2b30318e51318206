import { readSearch } from '../../parts/calls/filter.ts'
import { present, textField } from '../../parts/lists/search-fields.ts'

/** Search parameters that only the log of all accounts has. */
export function readAnyCallsSearch(search: Record<string, unknown>) {
  return present({
    ...readSearch(search),
    account: textField(search['account']),
    suspect: search['suspect'] === true ? true : undefined,
  })
}

export type AnyCallsSearch = ReturnType<typeof readAnyCallsSearch>
