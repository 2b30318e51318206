/** The search parameters of the operator's pages, read in one place to keep the bundle small. */
import { textField } from '../parts/lists/search-fields.ts'

const FIELDS = [
  'find',
  'kind',
  'role',
  'state',
  'vendor',
  'model',
  'period',
  'tab',
  'open',
  'by',
  'account',
  'group',
] as const
export type OperatorSearch = { readonly [Field in (typeof FIELDS)[number]]?: string }

export function readOperatorSearch(search: Record<string, unknown>): OperatorSearch {
  return Object.fromEntries(
    FIELDS.flatMap((field) => {
      const text = textField(search[field])
      return text === undefined ? [] : [[field, text]]
    }),
  )
}
