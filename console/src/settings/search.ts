import { choiceField, present, textField } from '../parts/lists/search-fields.ts'

/** A person's own; an organisation has neither a profile nor a way in. */
export const PERSONAL_TABS = ['profile', 'security'] as const
export const ACCOUNT_TABS = ['calls', 'alerts', 'verification'] as const
export const TABS = [...PERSONAL_TABS, ...ACCOUNT_TABS] as const

/** What the address says of the settings. */
export function readSearch(search: Record<string, unknown>) {
  return present({
    tab: choiceField(search['tab'], TABS),
    /** How the linking of a service ended, where it did not go well. */
    error: textField(search['error']),
  })
}
