import { choiceField, present, textField } from '../parts/lists/search-fields.ts'

export const TABS = ['statement', 'top-ups', 'receipts'] as const
export const DIALOGS = ['top-up', 'redeem', 'plan'] as const

/** Search parameters of the wallet. */
export function readSearch(search: Record<string, unknown>) {
  return present({
    tab: choiceField(search['tab'], TABS),
    /** The month of the statement: 2026-11. */
    month: textField(search['month']),
    /** The cursor of a later page of the tab. */
    after: textField(search['after']),
    /** The open dialog. */
    open: choiceField(search['open'], DIALOGS),
    /** The top-up that the payment page returned from. */
    top_up: textField(search['top_up']),
  })
}

export type WalletSearch = ReturnType<typeof readSearch>
