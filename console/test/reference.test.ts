/** The API reference, which the same process serves, in a real browser. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { JOURNEY_MS, openSite, type Site, type Visit } from './visit.ts'

vi.setConfig({ testTimeout: JOURNEY_MS })

let site: Site
beforeAll(async () => {
  site = await openSite()
})
afterAll(() => site.close())

async function visitReference(path: string, size: 'wide' | 'phone'): Promise<Visit> {
  const visit = await site.visit('/', { size })
  await visit.page.goto(`${site.baseUrl}${path}`)
  return visit
}

describe.each(['wide', 'phone'] as const)('on a %s screen', (size) => {
  test.each(['/docs', '/docs/operate'])('%s fits, keeps nobody out and breaks no policy', async (path) => {
    const visit = await visitReference(path, size)
    const { page } = visit
    const width = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
    expect(width).toBeLessThanOrEqual(0)
    await page.locator('main summary').nth(1).click()
    expect(
      await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth'),
    ).toBeLessThanOrEqual(0)
    expect(await visit.barriers()).toEqual([])
    expect(visit.faults).toEqual([])
    await visit.close()
  })
})

test('an operation is found by a word of its fields, and a link opens what it leads to', async () => {
  const visit = await visitReference('/docs', 'phone')
  const { page } = visit
  const shown = page.locator('main details:visible')
  const all = await shown.count()
  await page.keyboard.press('/')
  await page.keyboard.type('rotate key')
  await page.getByText('Rotate', { exact: false }).first().waitFor()
  expect(await shown.count()).toBeGreaterThan(0)
  expect(await shown.count()).toBeLessThan(all / 4)
  await page.goto(`${site.baseUrl}/docs#post_sign_in`)
  await page.locator('#post_sign_in[open]').waitFor()
  expect(await page.locator('#post_sign_in').isVisible()).toBe(true)
  expect(visit.faults).toEqual([])
  await visit.close()
})
