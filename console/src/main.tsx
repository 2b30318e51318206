import './app/mantine.css'
import './app/tokens.css'
import './app/base.css'
import './app/shell/shell.css'
import { localStorageColorSchemeManager, MantineProvider } from '@mantine/core'
import { type QueryClient, QueryClientProvider } from '@tanstack/react-query'
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
import { LANGUAGE_KEY, showPreferredLanguage, startTexts } from './texts/languages.ts'
import { TranslationProvider } from './texts/use-translation.ts'

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

// A page from the back/forward cache shows old content, even after signing out: it is reloaded.
window.addEventListener('pageshow', ({ persisted }) => {
  if (persisted) window.location.reload()
})

// Chosen in another tab: the language holds for the browser, as the theme does.
window.addEventListener('storage', ({ key }) => {
  if (key === LANGUAGE_KEY) inBackground(showPreferredLanguage())
})

const place = document.getElementById('root')
if (place === null) throw new Error('the page has no place for the console')
// Not awaited: the chunks of the pages import this module and wait until it is evaluated.
inBackground(start(place))

/** In three short tasks instead of one of 30 ms: the modules are evaluated, the router is made, and the first page is requested. */
async function start(root: HTMLElement): Promise<void> {
  await nextTask()
  markScrollingPage()
  const queryClient = createQueryClient()
  const router = createConsoleRouter(queryClient)
  await nextTask()
  const pages = router.matchRoutes(router.latestLocation)
  // Requests that would follow each other are sent at once: on a phone every round trip costs. The router uses the same
  // requests, and reports their failures.
  if (pages.some(({ routeId }) => routeId === frameRoute.id)) {
    inBackground(queryClient.prefetchQuery(accountQuery()))
    inBackground(queryClient.prefetchQuery(organisationsQuery))
  }
  for (const route of Object.values(router.routesById))
    if (pages.some(({ routeId }) => routeId === route.id)) inBackground(router.loadRouteChunk(route))
  const later = (act: () => void): void => afterFirstPage(router, queryClient, act)
  bringFonts(later)
  // What the first page has not taken is not for another one: whoever is not signed in was refused.
  later(() => globalThis.sluiceAsked?.clear())
  // So that the first menu opens at once, and no other page has to load them.
  later(() => inBackground(bringMenus()))
  await show(root, { router, queryClient })
}

/** By a message: browsers let timers of a page in the background wait a second each. */
function nextTask(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = () => {
      port1.close()
      resolve()
    }
    port2.postMessage(undefined)
  })
}

interface Parts {
  readonly router: ReturnType<typeof createConsoleRouter>
  readonly queryClient: QueryClient
}

function bringMenus(): Promise<unknown> {
  return Promise.all([import('./parts/page/opened-menu.tsx'), import('./parts/page/opened-tip.tsx')])
}

/** When the page is loaded, React renders all of it once, as a transition: in short tasks, between which the browser stays responsive. */
async function show(root: HTMLElement, { router, queryClient }: Parts): Promise<void> {
  await Promise.all([startTexts(), router.load()])
  startTransition(() =>
    createRoot(root).render(
      <StrictMode>
        {/* The variables are in mantine.css: the policy allows no styles but those of the files. */}
        <MantineProvider
          theme={theme}
          defaultColorScheme="auto"
          colorSchemeManager={localStorageColorSchemeManager({ key: 'sluice-theme' })}
          withCssVariables={false}
          withGlobalClasses={false}
        >
          <QueryClientProvider client={queryClient}>
            <TranslationProvider>
              <RouterProvider router={router} />
            </TranslationProvider>
          </QueryClientProvider>
        </MantineProvider>
      </StrictMode>,
    ),
  )
}
