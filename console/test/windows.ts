/**
 * The windows of a browser, used again and again: what one page has loaded and compiled is there for the next, which
 * otherwise costs more than all that is done on it. Nothing else of it is: no cookie, nothing it stored, no open request.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Browser, BrowserContext, CDPSession, Page } from 'playwright-core'
import { type Look, openContext, SIZES } from './chromium.ts'

export interface BrowserWindow {
  readonly page: Page
  readonly context: BrowserContext
  readonly debug: CDPSession
}

export interface Windows {
  take(look: Required<Look>): Promise<BrowserWindow>
  /**
   * Forgets the page, so that somebody else may take its window.
   * @param baseUrl the site whose pages were visited; a window that is elsewhere in the end is not used again
   */
  giveBack(window: BrowserWindow, baseUrl: string): Promise<void>
}

/** All windows of a browser have one clipboard, and other journeys copy at the same time: each notes what its own page has copied. */
const NOTE_COPIES = `(() => {
  const { clipboard } = navigator
  if (clipboard === undefined) return
  const write = clipboard.writeText.bind(clipboard)
  clipboard.writeText = async (text) => {
    await write(text)
    window.copiedText = text
  }
})()`

/**
 * Each page gets axe by the debugger, which no policy binds, as a function that is not compiled before it is called. Its window is sent
 * the text once: to send it for each page took 115 ms of CPU, and takes 18.
 */
const OFFER_AXE = `window.loadAxe = () => {
${readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')}
}`
/** Run in a page of a window. */
export const LOAD_AXE = "if (!('axe' in window)) window.loadAxe()"

/** The text that the page copied last. */
export async function copiedText(page: Page): Promise<string> {
  return String(await page.evaluate('window.copiedText'))
}

export function keepWindows(browser: Browser): Windows {
  const free: BrowserWindow[] = []
  return {
    async take({ theme, language, size }) {
      const window = free.pop() ?? (await open(browser, { theme, size }))
      const { page, debug } = window
      await debug.send('Emulation.setScriptExecutionDisabled', { value: false })
      await debug.send('Emulation.setLocaleOverride', { locale: language })
      await debug.send('Emulation.setUserAgentOverride', { userAgent: '', acceptLanguage: language })
      await page.setViewportSize(SIZES[size])
      await page.emulateMedia({ colorScheme: theme })
      return window
    },
    async giveBack(window, baseUrl) {
      if (await forget(window, baseUrl)) free.push(window)
      else await window.context.close()
    },
  }
}

async function open(browser: Browser, look: Look): Promise<BrowserWindow> {
  const context = await openContext(browser, look)
  const page = await context.newPage()
  await page.addInitScript(NOTE_COPIES)
  await page.addInitScript(OFFER_AXE)
  return { page, context, debug: await context.newCDPSession(page) }
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
