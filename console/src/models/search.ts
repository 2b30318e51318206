import { choiceField, present, textField } from '../parts/lists/search-fields.ts'
import { FEATURES } from '../parts/values/features.ts'
import { HEALTHS } from './use-models.ts'

/** Search parameters of the catalogue. */
export function readSearch(search: Record<string, unknown>) {
  return present({
    find: textField(search['find']),
    feature: choiceField(search['feature'], FEATURES),
    health: choiceField(search['health'], HEALTHS),
    open: choiceField(search['open'], ['yes']),
    /** Ids, separated by commas. */
    compare: textField(search['compare']),
    /** The model whose details are open. */
    model: textField(search['model']),
  })
}

export type ModelsSearch = ReturnType<typeof readSearch>
