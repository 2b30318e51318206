import { choiceField, present, textField } from '../parts/lists/search-fields.ts'

/** Tabs only for people: an organisation has no profile and does not sign in. */
export const PERSONAL_TABS = ['profile', 'security'] as const
export const ACCOUNT_TABS = ['calls', 'alerts', 'verification'] as const
export const TABS = [...PERSONAL_TABS, ...ACCOUNT_TABS] as const

/** Search parameters of the settings. */
export function readSearch(search: Record<string, unknown>) {
  return present({
    tab: choiceField(search['tab'], TABS),
    /** The error of linking a service, if it failed. */
    error: textField(search['error']),
  })
}
