import { present, textField } from '../parts/lists/search-fields.ts'

/** Search parameters of the playground: model and protocol. */
export function readSearch(search: Record<string, unknown>) {
  return present({ model: textField(search['model']), kind: textField(search['kind']) })
}

export type PlaygroundSearch = ReturnType<typeof readSearch>
