/** While the health page opens, what is there already stays where it is. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { ADMIN } from '../../../test/gateway.ts'
import { JOURNEY_MS, openSite, type Site } from '../../../test/visit.ts'

vi.setConfig({ testTimeout: JOURNEY_MS })

/** Sum of the layout shifts of a page, the same as the bench of the console allows. */
const SHIFT_MAX = 0.02
const NOTE_SHIFTS = `globalThis.shift = 0
new PerformanceObserver((list) => {
  for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) globalThis.shift += value
}).observe({ type: 'layout-shift', buffered: true })`

let site: Site
beforeAll(async () => {
  site = await openSite()
})
afterAll(() => site.close())

test.each(['phone', 'wide'] as const)('in a window that is %s', async (size) => {
  const visit = await site.visit('/calls', { as: ADMIN, size })
  await visit.context.addInitScript(NOTE_SHIFTS)
  await visit.page.goto(`${site.baseUrl}/console/operate/health`)
  await visit.page.getByRole('table', { name: 'Checks' }).waitFor()
  await visit.rest()
  expect(Number(await visit.page.evaluate('shift'))).toBeLessThan(SHIFT_MAX)
  expect(visit.faults).toEqual([])
  await visit.close()
})
