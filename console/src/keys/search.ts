import { choiceField, present, textField } from '../parts/lists/search-fields.ts'
import { KEY_STATES } from './key-state.ts'

/** Search parameters of the list of keys. */
export function readSearch(search: Record<string, unknown>) {
  return present({
    state: choiceField(search['state'], KEY_STATES),
    model: textField(search['model']),
    group: textField(search['group']),
    /** The id of the key whose form is open; `new`: a new key. */
    key: textField(search['key']),
  })
}

export type KeysSearch = ReturnType<typeof readSearch>
