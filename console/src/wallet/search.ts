import { choiceField, present, textField } from '../parts/lists/search-fields.ts'

export const TABS = ['statement', 'top-ups', 'receipts'] as const
export const DIALOGS = ['top-up', 'redeem', 'plan'] as const

/** What the address says of the wallet. */
export function readSearch(search: Record<string, unknown>) {
  return present({
    tab: choiceField(search['tab'], TABS),
    /** Of the statement: 2026-11. */
    month: textField(search['month']),
    /** Where a later page of the tab begins. */
    after: textField(search['after']),
    /** What is open over the page. */
    open: choiceField(search['open'], DIALOGS),
    /** The top-up that somebody comes back from. */
    top_up: textField(search['top_up']),
  })
}

export type WalletSearch = ReturnType<typeof readSearch>
