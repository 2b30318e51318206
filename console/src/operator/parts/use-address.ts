import { useNavigate, useSearch } from '@tanstack/react-router'
import { type Change, present } from '../../parts/lists/search-fields.ts'
import { inBackground } from '../../parts/page/in-background.ts'
import type { OperatorSearch } from '../search.ts'

/** The search parameters of an operator's page, and a function that changes them. */
export function useAddress(): readonly [
  OperatorSearch,
  (fields: Change<OperatorSearch>, history?: 'replace' | 'push') => void,
] {
  const search: OperatorSearch = useSearch({ strict: false })
  const navigate = useNavigate()
  return [
    search,
    (fields, history = 'replace') =>
      inBackground(
        navigate({
          to: '.',
          search: (now) => present({ ...now, ...fields }),
          replace: history === 'replace',
          resetScroll: false,
        }),
      ),
  ]
}
