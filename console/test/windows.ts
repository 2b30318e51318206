/**
 * The windows of a browser, used again and again: what one page has loaded and compiled is there for the next, which
 * otherwise costs more than all that is done on it. Nothing else of it is: no cookie, nothing it stored, no open request.
 */
import type { Browser, BrowserContext, CDPSession, Page } from 'playwright-core'
import { type Look, openContext, SIZES } from './chromium.ts'

export interface BrowserWindow {
  readonly page: Page
  readonly context: BrowserContext
  readonly language: string
  readonly debug: CDPSession
}

export interface Windows {
  take(look: Look): Promise<BrowserWindow>
  /** Forgets the page, so that somebody else may take its window. */
  giveBack(window: BrowserWindow): Promise<void>
}

/** `baseUrl`: the site whose pages are visited; a window that is elsewhere in the end is not used again. */
export function keepWindows(browser: Browser, baseUrl: string): Windows {
  const free: BrowserWindow[] = []
  return {
    async take(look) {
      const index = free.findIndex(({ language }) => language === look.language)
      const [found] = index < 0 ? [] : free.splice(index, 1)
      const window = found ?? (await open(browser, look))
      await window.debug.send('Emulation.setScriptExecutionDisabled', { value: false })
      await window.page.setViewportSize(SIZES[look.size])
      await window.page.emulateMedia({ colorScheme: look.theme })
      return window
    },
    async giveBack(window) {
      if (await forget(window, baseUrl)) free.push(window)
      else await window.context.close()
    },
  }
}

async function open(browser: Browser, look: Look): Promise<BrowserWindow> {
  const context = await openContext(browser, look)
  const page = await context.newPage()
  return { page, context, language: look.language, debug: await context.newCDPSession(page) }
}

/** False: what is left of it cannot be told. */
async function forget({ page, context, debug }: BrowserWindow, baseUrl: string): Promise<boolean> {
  if (context.pages().length > 1 || new URL(page.url()).origin !== baseUrl) return false
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  await page.evaluate('sessionStorage.clear()')
  // It stays until the next one takes its place, since what it has loaded goes with it; but it does nothing any more.
  await debug.send('Emulation.setScriptExecutionDisabled', { value: true })
  await debug.send('Page.stopLoading')
  // Out of the window, where it was in the beginning.
  await page.mouse.move(-1, -1)
  await context.clearCookies()
  await debug.send('Storage.clearDataForOrigin', {
    origin: baseUrl,
    storageTypes: 'local_storage,indexeddb,cache_storage,service_workers',
  })
  return true
}
