import type { QueryClient } from '@tanstack/react-query'
import type { createConsoleRouter } from './router.ts'

/** Calls back when the first page is rendered, its requests are answered, and the browser has nothing else to do. */
export function afterFirstPage(
  router: ReturnType<typeof createConsoleRouter>,
  queryClient: QueryClient,
  act: () => void,
): void {
  const endOfLoad = router.subscribe('onRendered', () => {
    endOfLoad()
    whenAnswered(queryClient, () => requestIdleCallback(act))
  })
}

/** Calls back when no request is pending. */
function whenAnswered(queryClient: QueryClient, act: () => void): void {
  if (queryClient.isFetching() === 0) return act()
  const end = queryClient.getQueryCache().subscribe(() => {
    if (queryClient.isFetching() > 0) return
    end()
    act()
  })
}
