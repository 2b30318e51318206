/** A page is for everybody: in every language, theme and size nobody is kept out of it, and nothing sticks out. */
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { ADMIN, CUSTOMER } from './gateway.ts'
import type { Site } from './visit.ts'

interface State {
  readonly path: string
  /** Of those who run the gateway. */
  readonly operator?: boolean
  /** Brings the page into the state that is looked at; text is that of the language. */
  prepare?(page: Page): Promise<unknown>
}

/** Whoever runs the gateway sits at a table. */
function sizesOf({ operator = false }: State): readonly ('wide' | 'phone')[] {
  return operator ? ['wide'] : ['wide', 'phone']
}

/** `site` is asked for when a test runs: it is opened before all of them. */
export function expectOpenToEverybody(site: () => Site, states: Readonly<Record<string, State>>): void {
  describe.each(['en', 'zh-CN'] as const)('in %s nobody is kept out of', (language) => {
    test.each(
      Object.entries(states).flatMap(([name, state]) =>
        sizesOf(state).map((size) => [name, size, state] as const),
      ),
    )('%s, %s, light or dark', async (_, size, { path, operator = false, prepare }) => {
      const visit = await site().visit(path, { as: operator ? ADMIN : CUSTOMER, language, size })
      const { page } = visit
      await prepare?.(page)
      await visit.rest()
      expect(await visit.barriers()).toEqual([])
      await visit.darken()
      expect(await visit.barriers('colours')).toEqual([])
      const wider = await page.evaluate('document.documentElement.scrollWidth > window.innerWidth')
      expect(wider).toBe(false)
      expect(visit.faults).toEqual([])
      await visit.close()
    })
  })
}
