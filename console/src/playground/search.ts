import { present, textField } from '../parts/lists/search-fields.ts'

/** What the address says of the playground: whom one talks to, and in which language of the wire. */
export function readSearch(search: Record<string, unknown>) {
  return present({ model: textField(search['model']), kind: textField(search['kind']) })
}

export type PlaygroundSearch = ReturnType<typeof readSearch>
