/**
 * Pictures of every page, in both themes and languages, wide and narrow, to be looked at. Names on the command line take
 * only those pages, and variants likewise: `node tools/screenshots.mjs keys calls light-en-wide`.
 */
import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { BrowserContext, Page } from 'playwright-core'
import { signInAs } from './api.ts'
import { openBrowser, openContext } from './chromium.ts'
import { openDemo } from './demo.ts'
import { ADMIN, CUSTOMER } from './gateway.ts'
import type { Picture } from './picture.ts'
import { PICTURES } from './pictures.ts'

const FOLDER = fileURLToPath(new URL('../../console/screenshots/', import.meta.url))
const MAIN = fileURLToPath(new URL('main.js', import.meta.url))

const words = process.argv.slice(2)
const variants = words.filter((word) => /^(light|dark)-/.test(word))
const wanted = words.filter((word) => !variants.includes(word))
const chosen = PICTURES.filter(({ name }) => wanted.length === 0 || wanted.includes(name))
mkdirSync(FOLDER, { recursive: true })
const demo = await openDemo([MAIN])
const browser = await openBrowser()
const tokens = {
  customer: (await signInAs(demo.baseUrl, CUSTOMER)).token,
  operator: (await signInAs(demo.baseUrl, ADMIN)).token,
}
try {
  for (const theme of ['light', 'dark'] as const) {
    for (const language of ['en', 'zh-CN'] as const) {
      for (const size of ['wide', 'phone'] as const) {
        const variant = `${theme}-${language}-${size}`
        if (variants.length > 0 && !variants.includes(variant)) continue
        const context = await openContext(browser, { theme, language, size })
        for (const picture of chosen) await take(context, picture, variant)
        await context.close()
      }
    }
  }
} finally {
  await browser.close()
  await demo.close()
}

async function take(context: BrowserContext, picture: Picture, variant: string): Promise<void> {
  await context.clearCookies()
  if (picture.signedIn) {
    const token = picture.operator === true ? tokens.operator : tokens.customer
    await context.addCookies([{ name: 'sluice_session', value: token, url: demo.baseUrl }])
  }
  const page = await context.newPage()
  await page.goto(`${demo.baseUrl}/console${picture.path}`)
  await settled(page)
  await picture.prepare?.(page)
  await settled(page)
  await page.screenshot({ path: `${FOLDER}${picture.name}-${variant}.png`, fullPage: picture.whole ?? false })
  await page.close()
}

async function settled(page: Page): Promise<void> {
  await page.waitForLoadState('networkidle')
  await page.locator('.mantine-Skeleton-root').first().waitFor({ state: 'detached' })
  await page.evaluate('document.fonts.ready')
}
