/** A browser beside a gateway, and visits of pages that note whatever should not happen. */
import { text } from 'node:stream/consumers'
import type { BrowserContext, ConsoleMessage, Download, Page, Request } from 'playwright-core'
import { joinBrowser } from './browser-of-run.ts'
import { type Look, SIZES } from './chromium.ts'
import type { JourneyGateway } from './gateway.ts'
import { type OptionsHere, openGatewayHere } from './gateway-here.ts'
import { forgetCalls } from './playwright-zones.ts'
import { keepWindows, LOAD_AXE, type Windows } from './windows.ts'

export interface Site extends JourneyGateway {
  /** Opens a page below `/console` in a window that knows nothing of other visits, and waits until it rests. */
  visit(path: string, options?: VisitOptions): Promise<Visit>
}

export interface VisitOptions {
  /** Who is signed in already. */
  readonly as?: { readonly email: string; readonly password: string }
  readonly language?: 'en' | 'zh-CN'
  readonly theme?: 'light' | 'dark'
  readonly size?: keyof typeof SIZES
}

export interface Visit {
  readonly page: Page
  readonly cookies: Pick<BrowserContext, 'cookies' | 'clearCookies'>
  /** What is done to it holds for this visit alone: its window is not used again. */
  readonly context: BrowserContext
  /** What went wrong so far: errors of scripts, refusals of the policy, requests to other places. */
  readonly faults: readonly string[]
  /** What keeps people out of the page as it is now, by axe. */
  barriers(of?: Rules): Promise<readonly string[]>
  /** Shows the page as it is in another theme of the system, or in a window of another size. */
  look(look: Partial<Pick<Look, 'theme' | 'size'>>): Promise<void>
  /** Waits until nothing of the page is still on its way. */
  rest(): Promise<void>
  close(): Promise<void>
}

/** A journey on a machine that is busy with other tests. */
export const JOURNEY_MS = 300_000
/** Of anything a page is waited for, on a machine that is busy with other tests. */
export const PATIENCE_MS = 90_000
const ON_ITS_WAY = '.mantine-Skeleton-root, [data-loading]'
/** Resolves when what was changed has been painted, and no colour is on its way to another one. */
const PAINTED = `(async () => {
  const painted = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))
  const moves = () => document.getAnimations().filter((animation) => animation instanceof CSSTransition)
  await painted()
  while (moves().length > 0) {
    await Promise.allSettled(moves().map(({ finished }) => finished))
    await painted()
  }
})()`

/** Of this thread: its files come one after the other. */
let windowsOfThread: Promise<Windows> | undefined

/** @param gateway what is visited: one in this process, as the options say, or another one */
export async function openSite(gateway: OptionsHere | JourneyGateway = {}): Promise<Site> {
  windowsOfThread ??= joinBrowser().then(keepWindows)
  const [visited, windows] = await Promise.all([
    'close' in gateway ? gateway : openGatewayHere(gateway),
    windowsOfThread,
  ])
  return {
    ...visited,
    visit: (path, visiting = {}) => visit({ gateway: visited, windows }, path, visiting),
    async close() {
      await visited.close()
      forgetCalls()
    },
  }
}

async function visit(
  { gateway, windows }: { readonly gateway: JourneyGateway; readonly windows: Windows },
  path: string,
  { as, language = 'en', theme = 'light', size = 'wide' }: VisitOptions,
): Promise<Visit> {
  const window = await windows.take({ theme, language, size })
  const { page, context } = window
  context.setDefaultTimeout(PATIENCE_MS)
  if (as !== undefined) {
    const value = await gateway.signIn(as)
    await context.addCookies([{ name: 'sluice_session', value, url: gateway.baseUrl }])
  }
  const { faults, endNotes } = noteFaults(page, gateway.baseUrl)
  let isAltered = false
  const rest = async (): Promise<void> => {
    await page.locator('h1').first().waitFor()
    await page.locator(ON_ITS_WAY).first().waitFor({ state: 'detached' })
    await page.evaluate('document.fonts.ready.then(() => undefined)')
  }
  await page.goto(`${gateway.baseUrl}/console${path}`)
  await rest()
  return {
    page,
    cookies: context,
    get context() {
      isAltered = true
      return context
    },
    faults,
    rest,
    barriers: (of = 'everything') => findBarriers(page, of),
    look: (look) => lookAt(page, look),
    async close() {
      endNotes()
      await (isAltered ? context.close() : windows.giveBack(window, gateway.baseUrl))
    },
  }
}

/** What stands in a file that a page saved. */
export async function textOf(file: Download): Promise<string> {
  return text(await file.createReadStream())
}

async function lookAt(page: Page, { theme, size }: Partial<Pick<Look, 'theme' | 'size'>>): Promise<void> {
  if (size !== undefined) await page.setViewportSize(SIZES[size])
  if (theme === undefined) return
  await page.emulateMedia({ colorScheme: theme })
  await page.locator(`html[data-mantine-color-scheme="${theme}"]`).waitFor()
}

function noteFaults(page: Page, baseUrl: string): { readonly faults: readonly string[]; endNotes(): void } {
  const faults: string[] = []
  const onError = (error: Error) => faults.push(`error: ${error.message}`)
  const onConsole = (message: ConsoleMessage) => {
    // The browser tells of every refused request; what is refused on purpose is seen on the page.
    if (message.type() === 'error' && !/status of (400|401|403|404|409|429)/.test(message.text()))
      faults.push(`console: ${message.text()}`)
  }
  const onRequest = (request: Request) => {
    const url = request.url()
    if (!url.startsWith(baseUrl) && !/^(data|blob):/.test(url)) faults.push(`foreign request: ${url}`)
  }
  // What the window showed before may still ask its own gateway until this page takes its place.
  const begin = () => page.on('pageerror', onError).on('console', onConsole).on('request', onRequest)
  page.once('framenavigated', begin)
  return {
    faults,
    endNotes: () => {
      page.off('framenavigated', begin)
      page.off('pageerror', onError).off('console', onConsole).off('request', onRequest)
    },
  }
}

interface AxeResult {
  readonly violations: readonly {
    readonly id: string
    readonly help: string
    readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[]
  }[]
}

/**
 * What may keep people out. `colours`: for a page whose other theme was looked at whole, since only colours differ;
 * `structure`: all but those, for one whose colours were looked at in another language.
 */
export type Rules = 'everything' | 'colours' | 'structure'
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
const COLOURS = ['color-contrast', 'link-in-text-block']
const RULES: Readonly<Record<Rules, object>> = {
  everything: { runOnly: { type: 'tag', values: TAGS } },
  colours: { runOnly: { type: 'rule', values: COLOURS } },
  structure: {
    runOnly: { type: 'tag', values: TAGS },
    rules: Object.fromEntries(COLOURS.map((rule) => [rule, { enabled: false }])),
  },
}

async function findBarriers(page: Page, of: Rules): Promise<readonly string[]> {
  await page.evaluate(PAINTED)
  // No rule asked for reads style sheets, and an element is told by its text: neither is gathered, at half the cost.
  const { violations } = await page.evaluate<AxeResult>(
    `${LOAD_AXE}; axe.run(document, { resultTypes: ['violations'], preload: { assets: ['media'] }, selectors: false,
      ...${JSON.stringify(RULES[of])} })`,
  )
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${help}\n${html.slice(0, 300)}\n${failureSummary}`),
  )
}
