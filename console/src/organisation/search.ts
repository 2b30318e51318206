import { choiceField, present, textField } from '../parts/lists/search-fields.ts'

/** Search parameters of an organisation's page. */
export function readSearch(search: Record<string, unknown>) {
  return present({
    /** The member whose details are open. */
    member: textField(search['member']),
    /** The open dialog. */
    open: choiceField(search['open'], ['invite', 'fund']),
  })
}

export type OrganisationSearch = ReturnType<typeof readSearch>
