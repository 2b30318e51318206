/**
 * The fonts are loaded after everything that the first page needs: on a slow connection they are up to a third of it, and the
 * page is readable without them. Once the browser has cached them, they are loaded with the page.
 */
import sans from '@fontsource-variable/inter/wght.css?url'
import mono from '@fontsource-variable/jetbrains-mono/wght.css?url'
import type { QueryClient } from '@tanstack/react-query'
import { inBackground } from '../parts/page/in-background.ts'
import type { createConsoleRouter } from './router.ts'

const SEEN = 'sluice-fonts'

export function bringFonts(router: ReturnType<typeof createConsoleRouter>, queryClient: QueryClient): void {
  if (localStorage.getItem(SEEN) !== null) return bring()
  const endOfLoad = router.subscribe('onRendered', () => {
    endOfLoad()
    whenAnswered(queryClient, () => requestIdleCallback(bring))
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

function bring(): void {
  for (const href of [sans, mono]) {
    const link = document.createElement('link')
    link.rel = 'stylesheet'
    link.href = href
    document.head.append(link)
  }
  inBackground(document.fonts.ready.then(() => localStorage.setItem(SEEN, 'yes')))
}
