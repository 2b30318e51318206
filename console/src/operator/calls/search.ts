import { readSearch } from '../../parts/calls/filter.ts'
import { present, textField } from '../../parts/lists/search-fields.ts'

/** What the address of everybody's log says beside that of one's own. */
export function readAnyCallsSearch(search: Record<string, unknown>) {
  return present({
    ...readSearch(search),
    account: textField(search['account']),
    suspect: search['suspect'] === true ? true : undefined,
  })
}

export type AnyCallsSearch = ReturnType<typeof readAnyCallsSearch>
