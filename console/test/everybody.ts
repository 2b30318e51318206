/** A page is for everybody: in every language, theme and size nobody is kept out of it, and nothing sticks out. */
import type { Page } from 'playwright-core'
import { describe, expect, test, vi } from 'vitest'
import { ADMIN, CUSTOMER } from './gateway.ts'
import { PATIENCE_MS, type Site, type Visit } from './visit.ts'

interface State {
  readonly path: string
  /** Of those who run the gateway. */
  readonly operator?: boolean
  /** Brings the page into the state that is looked at; text is that of the language. */
  prepare?(page: Page): Promise<unknown>
}

/** In the second one a page is looked at for what a text can change: no colour is another one there. */
const LANGUAGES = ['en', 'zh-CN'] as const
type Language = (typeof LANGUAGES)[number]

/**
 * Begun on a phone, where a page is reached the hardest, and then drawn wide. Whoever runs the gateway sits at a table, but
 * has to see what is wrong from anywhere: on a phone their pages fit.
 * `site` is asked for when a test runs: it is opened before all of them.
 */
export function expectOpenToEverybody(site: () => Site, states: Readonly<Record<string, State>>): void {
  describe.each(LANGUAGES)('in %s nobody is kept out of', (language) => {
    test.each(
      Object.entries(states).map(
        ([name, state]) => [name, state.operator === true ? 'wide' : 'on a phone and wide', state] as const,
      ),
    )(
      language === 'en' ? '%s, %s, light or dark' : '%s, %s',
      async (_, _sizes, { path, operator = false, prepare }) => {
        const visit = await site().visit(path, {
          as: operator ? ADMIN : CUSTOMER,
          language,
          size: operator ? 'wide' : 'phone',
        })
        await prepare?.(visit.page)
        await expectOpen(visit, language)
        if (!operator) {
          await visit.look({ size: 'wide', theme: 'light' })
          await expectOpen(visit, language)
        } else {
          await visit.look({ size: 'phone' })
          // What moves to its new place is there a moment later.
          await vi.waitFor(() => expectFits(visit.page), PATIENCE_MS)
        }
        expect(visit.faults).toEqual([])
        await visit.close()
      },
    )
  })
}

/** What of a page or its dialog reaches beyond the window where nothing but the whole of it can be moved. */
const CUT_OFF = `[...document.querySelectorAll('h1, h2, h3, p, li, dt, dd, th, td')]
  .filter((element) => {
    const { width, right } = element.getBoundingClientRect()
    if (width === 0 || right <= window.innerWidth + 1) return false
    for (let box = element.parentElement; box && !box.matches('[role="dialog"], body'); box = box.parentElement)
      if (/auto|scroll/.test(getComputedStyle(box).overflowX)) return false
    return true
  })
  .map((element) => element.outerHTML.slice(0, 200))`

/** Tables whose first row lies below their head, of a page that was not moved. */
const COVERED = `window.scrollY > 0 ? [] : [...document.querySelectorAll('table')]
  .filter(({ tHead, tBodies }) => {
    const head = tHead?.rows[0]?.cells[0]?.getBoundingClientRect()
    const row = tBodies[0]?.rows[0]?.getBoundingClientRect()
    return head && row && head.height > 0 && row.height > 0 && row.top < head.bottom - 1
  })
  .map((table) => table.getAttribute('aria-label') ?? table.outerHTML.slice(0, 200))`

/** As it is, which is light, and then dark. */
async function expectOpen(visit: Visit, language: Language): Promise<void> {
  await visit.rest()
  // The title follows the heading once the page has rendered.
  await vi.waitFor(async () => {
    const heading = (await visit.page.locator('h1').first().textContent()) ?? ''
    expect(await visit.page.title()).toBe(`${heading} · Sluice`)
  }, PATIENCE_MS)
  if (language === 'en') {
    expect(await visit.barriers()).toEqual([])
    await visit.look({ theme: 'dark' })
    expect(await visit.barriers('colours')).toEqual([])
  } else expect(await visit.barriers('structure')).toEqual([])
  await expectFits(visit.page)
}

/** Nothing sticks out or is covered: the page is not wider than its window, and nothing of it ends beyond the edge. */
export async function expectFits(page: Page): Promise<void> {
  const wider = await page.evaluate('document.documentElement.scrollWidth > window.innerWidth')
  expect(wider).toBe(false)
  expect(await page.evaluate(CUT_OFF)).toEqual([])
  expect(await page.evaluate(COVERED)).toEqual([])
}
