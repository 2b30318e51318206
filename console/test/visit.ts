/** A browser beside a gateway, and visits of pages that note whatever should not happen. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Browser, BrowserContext, Download, Page } from 'playwright-core'
import { signInAs } from './api.ts'
import { openBrowser, openContext, type SIZES } from './chromium.ts'
import { type GatewayOptions, openGateway, type TestGateway } from './gateway.ts'

export interface Site extends TestGateway {
  readonly browser: Browser
  /** Opens a page below `/console` in a browser of its own and waits until it rests. */
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
  readonly context: BrowserContext
  /** What went wrong so far: errors of scripts, refusals of the policy, requests to other places. */
  readonly faults: readonly string[]
  /** What keeps people out of the page as it is now, by axe. */
  barriers(): Promise<readonly string[]>
  /** Shows the page as it is when the system is dark. */
  darken(): Promise<void>
  /** Waits until nothing of the page is still on its way. */
  rest(): Promise<void>
  close(): Promise<void>
}

/** A journey on a machine that is busy with other tests. */
export const JOURNEY_MS = 120_000
/** Of anything a page is waited for, on a machine that is busy with other tests. */
const PATIENCE_MS = 30_000
const ON_ITS_WAY = '.mantine-Skeleton-root, [data-loading]'
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

export async function openSite(options: GatewayOptions = {}): Promise<Site> {
  const [gateway, browser] = await Promise.all([openGateway(options), openBrowser()])
  return {
    ...gateway,
    browser,
    visit: (path, visiting = {}) => visit({ gateway, browser }, path, visiting),
    async close() {
      await browser.close()
      await gateway.close()
    },
  }
}

async function visit(
  { gateway, browser }: { readonly gateway: TestGateway; readonly browser: Browser },
  path: string,
  { as, language = 'en', theme = 'light', size = 'wide' }: VisitOptions,
): Promise<Visit> {
  const context = await openContext(browser, { theme, language, size })
  context.setDefaultTimeout(PATIENCE_MS)
  if (as !== undefined) {
    const { token } = await signInAs(gateway.baseUrl, as)
    await context.addCookies([{ name: 'sluice_session', value: token, url: gateway.baseUrl }])
  }
  const page = await context.newPage()
  const faults = noteFaults(page, gateway.baseUrl)
  const rest = async (): Promise<void> => {
    await page.locator('h1').first().waitFor()
    await page.locator(ON_ITS_WAY).first().waitFor({ state: 'detached' })
    await page.evaluate('document.fonts.ready.then(() => undefined)')
  }
  await page.goto(`${gateway.baseUrl}/console${path}`)
  await rest()
  return {
    page,
    context,
    faults,
    rest,
    barriers: () => findBarriers(page),
    darken: () => darken(page),
    close: () => context.close(),
  }
}

/** What stands in a file that a page saved. */
export async function textOf(file: Download): Promise<string> {
  return readFileSync(await file.path(), 'utf8')
}

async function darken(page: Page): Promise<void> {
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.locator('html[data-mantine-color-scheme="dark"]').waitFor()
  // Until it has been painted, and the last colour has gone over.
  await page.evaluate(
    'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 50))))',
  )
}

function noteFaults(page: Page, baseUrl: string): readonly string[] {
  const faults: string[] = []
  page.on('pageerror', (error) => faults.push(`error: ${error.message}`))
  page.on('console', (message) => {
    // The browser tells of every refused request; what is refused on purpose is seen on the page.
    if (message.type() === 'error' && !/status of (400|401|403|404|409|429)/.test(message.text()))
      faults.push(`console: ${message.text()}`)
  })
  page.on('request', (request) => {
    const url = request.url()
    if (!url.startsWith(baseUrl) && !/^(data|blob):/.test(url)) faults.push(`foreign request: ${url}`)
  })
  return faults
}

interface AxeResult {
  readonly violations: readonly {
    readonly id: string
    readonly help: string
    readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[]
  }[]
}

async function findBarriers(page: Page): Promise<readonly string[]> {
  // Through the debugger, which no policy binds.
  await page.evaluate(AXE)
  const { violations } = await page.evaluate<AxeResult>(
    `axe.run(document, { resultTypes: ['violations'], runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })`,
  )
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${help}\n${html.slice(0, 300)}\n${failureSummary}`),
  )
}
