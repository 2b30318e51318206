import { useSearch } from '@tanstack/react-router'
import { type ChangeAddress, type SheetAddress, useSheetAddress } from '../../parts/page/use-sheet-address.ts'
import type { OperatorSearch } from '../search.ts'

/** The search parameters of an operator's page, a function that changes them, and the sheet that `open` stands for. */
export function useAddress(): readonly [OperatorSearch, ChangeAddress<OperatorSearch>, SheetAddress] {
  const search: OperatorSearch = useSearch({ strict: false })
  const [change, sheet] = useSheetAddress<OperatorSearch, 'open'>('open')
  return [search, change, sheet]
}
