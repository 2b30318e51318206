/**
 * Pictures of every page, in both themes and languages, wide and narrow, to be looked at. Names on the command line take
 * only those pages, and variants likewise: `node tools/screenshots.mjs keys calls light-en-wide`. With `--documents` those
 * that the documents show are written in their place, as small files.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { BrowserContext, Page } from 'playwright-core'
import { signInAs } from './api.ts'
import { type Look, openBrowser, openContext } from './chromium.ts'
import { openDemo } from './demo.ts'
import { ADMIN, CUSTOMER } from './gateway.ts'
import type { Picture } from './picture.ts'
import { DOCUMENT_PICTURES, PICTURES } from './pictures.ts'

const FOLDER = fileURLToPath(new URL('../../console/screenshots/', import.meta.url))
const DOCUMENTS = fileURLToPath(new URL('../../docs/pictures/', import.meta.url))
/** Of the files in the documents: the least at which letters stay clean. */
const WEBP_QUALITY = 72
const MAIN = fileURLToPath(new URL('main.js', import.meta.url))

const words = process.argv.slice(2)
const demo = await openDemo([MAIN])
const browser = await openBrowser()
const tokens = {
  customer: (await signInAs(demo.baseUrl, CUSTOMER)).token,
  operator: (await signInAs(demo.baseUrl, ADMIN)).token,
}
try {
  if (words.includes('--documents')) await takeForDocuments()
  else await takeEvery(words)
} finally {
  await browser.close()
  await demo.close()
}

async function takeEvery(chosen: readonly string[]): Promise<void> {
  mkdirSync(FOLDER, { recursive: true })
  const variants = chosen.filter((word) => /^(light|dark)-/.test(word))
  const names = chosen.filter((word) => !variants.includes(word))
  const pictures = PICTURES.filter(({ name }) => names.length === 0 || names.includes(name))
  for (const theme of ['light', 'dark'] as const) {
    for (const language of ['en', 'zh-CN'] as const) {
      for (const size of ['wide', 'phone'] as const) {
        const variant = `${theme}-${language}-${size}`
        if (variants.length > 0 && !variants.includes(variant)) continue
        const context = await openContext(browser, { theme, language, size }, deviceOf(size))
        for (const picture of pictures) {
          const page = await open(context, picture)
          const path = `${FOLDER}${picture.name}-${variant}.png`
          await page.screenshot({ path, fullPage: picture.whole ?? false })
          await page.close()
        }
        await context.close()
      }
    }
  }
}

async function takeForDocuments(): Promise<void> {
  mkdirSync(DOCUMENTS, { recursive: true })
  for (const { file, look, ...picture } of DOCUMENT_PICTURES) {
    const context = await openContext(browser, look, deviceOf(look.size))
    const page = await open(context, picture)
    const devTools = await context.newCDPSession(page)
    const { data } = await devTools.send('Page.captureScreenshot', { format: 'webp', quality: WEBP_QUALITY })
    writeFileSync(`${DOCUMENTS}${file}.webp`, data, 'base64')
    await context.close()
  }
}

/** A phone's bars for scrolling take no room. */
function deviceOf(size: Look['size']): { readonly isMobile: boolean } {
  return { isMobile: size === 'phone' }
}

async function open(context: BrowserContext, picture: Picture): Promise<Page> {
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
  return page
}

async function settled(page: Page): Promise<void> {
  await page.waitForLoadState('networkidle')
  await page.locator('.mantine-Skeleton-root').first().waitFor({ state: 'detached' })
  await page.evaluate('document.fonts.ready')
}
