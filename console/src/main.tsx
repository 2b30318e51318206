import './app/mantine.css'
import './app/tokens.css'
import './app/base.css'
import './app/shell/shell.css'
import { localStorageColorSchemeManager, MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode, startTransition } from 'react'
import { createRoot } from 'react-dom/client'
import { createQueryClient } from './api/query-client.ts'
import { accountQuery, organisationsQuery } from './api/session.ts'
import { afterFirstPage } from './app/after-first-page.ts'
import { bringFonts } from './app/fonts.ts'
import { frameRoute } from './app/frame-route.ts'
import { createConsoleRouter } from './app/router.ts'
import { markScrollingPage } from './app/scrolling-page.ts'
import { theme } from './app/theme.tsx'
import { inBackground } from './parts/page/in-background.ts'
import { startTexts } from './texts/languages.ts'

const RELOADED_AT = 'sluice-reloaded-at'
/** A second reload this soon would be a loop. */
const RELOAD_PAUSE_MS = 10_000

// The gateway was updated while the page was open, and a chunk is gone: a reload gets the new one.
window.addEventListener('vite:preloadError', () => {
  const last = Number(sessionStorage.getItem(RELOADED_AT) ?? 0)
  if (Date.now() - last < RELOAD_PAUSE_MS) return
  sessionStorage.setItem(RELOADED_AT, String(Date.now()))
  window.location.reload()
})

// A page that the browser kept whole shows what it showed, also after a sign-out: it is asked for anew.
window.addEventListener('pageshow', ({ persisted }) => {
  if (persisted) window.location.reload()
})

const place = document.getElementById('root')
if (place === null) throw new Error('the page has no place for the console')
markScrollingPage()
const queryClient = createQueryClient()
const router = createConsoleRouter(queryClient)
const pages = router.matchRoutes(router.latestLocation)
// What a page needs one after the other is asked for at once: on a phone every turn costs. The router joins in, and is told
// of what fails.
if (pages.some(({ routeId }) => routeId === frameRoute.id)) {
  inBackground(queryClient.prefetchQuery(accountQuery()))
  inBackground(queryClient.prefetchQuery(organisationsQuery))
}
for (const route of Object.values(router.routesById))
  if (pages.some(({ routeId }) => routeId === route.id)) inBackground(router.loadRouteChunk(route))
const later = (act: () => void): void => afterFirstPage(router, queryClient, act)
bringFonts(later)
// So that the first one opens at once, and no further page has to bring them.
later(() => inBackground(bringMenus()))
// Not awaited here: the files of the pages import this one and wait until it has ended.
inBackground(show(place))

function bringMenus(): Promise<unknown> {
  return Promise.all([import('./parts/page/opened-menu.tsx'), import('./parts/page/opened-tip.tsx')])
}

/** When the page is loaded, React renders all of it once, as a transition: in short tasks, between which the browser stays responsive. */
async function show(root: HTMLElement): Promise<void> {
  await Promise.all([startTexts(), router.load()])
  startTransition(() =>
    createRoot(root).render(
      <StrictMode>
        {/* The variables stand in mantine.css: the policy allows no styles but those of the files. */}
        <MantineProvider
          theme={theme}
          defaultColorScheme="auto"
          colorSchemeManager={localStorageColorSchemeManager({ key: 'sluice-theme' })}
          withCssVariables={false}
          withGlobalClasses={false}
        >
          <QueryClientProvider client={queryClient}>
            <RouterProvider router={router} />
          </QueryClientProvider>
        </MantineProvider>
      </StrictMode>,
    ),
  )
}
