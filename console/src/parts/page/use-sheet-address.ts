import { type NavigateOptions, type RegisteredRouter, useRouter } from '@tanstack/react-router'
import { type Change, present } from '../lists/search-fields.ts'
import { inBackground } from './in-background.ts'

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** Of an entry with an open sheet: the index of the entry that it was opened from. */
    readonly openedFrom?: number
  }
}

/** Changes search parameters of the page; an open sheet stays open. */
export type ChangeAddress<Search> = (fields: Change<Search>, history?: 'replace' | 'push') => void

export interface SheetAddress<Value = string> {
  /** The way back closes the sheet. If one is open, its value is replaced. */
  readonly open: (value: Value) => void
  /** The way back from a closed sheet leaves the page. */
  readonly close: () => void
}

/** The address of a page with a sheet or a dialog, which is open while the address has the parameter. */
export function useSheetAddress<Search extends object, Parameter extends keyof Search & string>(
  parameter: Parameter,
): readonly [ChangeAddress<Search>, SheetAddress<NonNullable<Search[Parameter]>>] {
  const router = useRouter()
  const change: ChangeAddress<Search> = (fields, history = 'replace') => {
    const closes = parameter in fields && fields[parameter] === undefined
    put(router, fields, { replace: history === 'replace', state: closes ? {} : true })
  }
  const open = (value: NonNullable<Search[Parameter]>): void => {
    const { search, state } = router.latestLocation
    const isOpen = parameter in search
    put(
      router,
      { [parameter]: value },
      isOpen ? { replace: true, state: true } : { state: { openedFrom: state.__TSR_index } },
    )
  }
  return [change, { open, close: () => closeSheet(router, parameter) }]
}

/** Changes fields of the address. */
function put(
  router: RegisteredRouter,
  fields: object,
  history: Pick<NavigateOptions, 'replace' | 'state'>,
): void {
  const search = (now: object) => present({ ...now, ...fields })
  inBackground(router.navigate({ to: '.', search, resetScroll: false, ...history }))
}

/** Goes back to where the sheet was opened; what was changed beside the sheet stays changed. */
function closeSheet(router: RegisteredRouter, parameter: string): void {
  if (isOnItsWay) return
  const { search, state } = router.latestLocation
  const kept = present({ ...search, [parameter]: undefined })
  const replace = (): void =>
    inBackground(router.navigate({ to: '.', search: kept, replace: true, resetScroll: false }))
  if (state.openedFrom === undefined) replace()
  else goBack(router.history, state.openedFrom, replace)
}

/** Whether the browser is going back to where a sheet was opened: it arrives later than the call that sends it. */
let isOnItsWay = false
/** Far longer than it takes; a browser that no longer has the entry stays where it is and reports nothing. */
const ARRIVAL_MS_MAX = 2_000

function goBack(history: RegisteredRouter['history'], index: number, onArrival: () => void): void {
  isOnItsWay = true
  const end = (): void => {
    isOnItsWay = false
    unsubscribe()
    clearTimeout(timer)
  }
  const unsubscribe = history.subscribe(({ action, location }) => {
    if (action.type === 'REPLACE') return
    end()
    // Otherwise the person went elsewhere at the same time.
    if (location.state.__TSR_index === index) onArrival()
  })
  const timer = setTimeout(() => {
    end()
    onArrival()
  }, ARRIVAL_MS_MAX)
  // The router gives changes to the browser in a microtask; none is to come while the browser goes back.
  history.flush()
  history.go(index - history.location.state.__TSR_index)
}
