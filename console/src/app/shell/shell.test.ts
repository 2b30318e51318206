/** What is visible before any script has run, and what is asked for by then. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { ADMIN, CUSTOMER } from '../../../test/gateway.ts'
import { JOURNEY_MS, openSite, type Site, type Visit } from '../../../test/visit.ts'

vi.setConfig({ testTimeout: JOURNEY_MS })

const MODULES = '**/assets/start-*.js'
const FONTS = '**/*.woff2'

let site: Site
beforeAll(async () => {
  site = await openSite()
})
afterAll(() => site.close())

/** The lines of the head, each with its place. */
function headOf({ page }: Visit, selector: string): Promise<unknown> {
  return page.evaluate(`(async () => {
    await document.fonts.ready
    return [...document.querySelectorAll('${selector}')].map((line) => {
      const { x, y, height } = line.getBoundingClientRect()
      return [line.textContent, x, y, height]
    })
  })()`)
}

test.each([
  ['/', CUSTOMER],
  ['/calls', CUSTOMER],
  ['/models', CUSTOMER],
  ['/operate/health', ADMIN],
] as const)('the head of %s is where the page has it', async (path, as) => {
  for (const size of ['phone', 'wide'] as const) {
    for (const language of ['en', 'zh-CN'] as const) {
      const visit = await site.visit(path, { as, size, language })
      // They come after the first page, and then lines may end elsewhere.
      await visit.context.route(FONTS, (route) => route.abort())
      await visit.page.reload()
      await visit.rest()
      const drawn = await headOf(visit, 'main h1, main h1 + p')
      await visit.context.route(MODULES, (route) => route.abort())
      await visit.page.reload({ waitUntil: 'load' })
      expect(await headOf(visit, '.shell-head > *')).toEqual(drawn)
      await visit.close()
    }
  }
})

test('no head is shown in a language that is not the chosen one', async () => {
  const visit = await site.visit('/models', { as: CUSTOMER })
  await visit.page.evaluate(`localStorage.setItem('sluice-language', 'zh-CN')`)
  await visit.context.route(MODULES, (route) => route.abort())
  await visit.page.reload({ waitUntil: 'load' })
  expect(await visit.page.locator('.shell-head').isVisible()).toBe(false)
  await visit.close()
})

test.each([
  [
    '/',
    ['account', 'admission', 'announcements', 'keys', 'logs', 'organisations', 'pricing', 'subscription'],
  ],
  ['/calls?model=nothing', ['account', 'keys', 'organisations', 'pricing', 'subscription']],
  ['/models?find=g', ['account', 'admission', 'organisations', 'pricing', 'subscription']],
  ['/models?org=nobody', ['account', 'organisations']],
])('%s asks before any module has run, and the page asks for none of it again', async (path, names) => {
  const visit = await site.visit('/settings', { as: CUSTOMER })
  const { page, context } = visit
  const asked: string[] = []
  page.on('request', (request) => {
    const [, name] = /\/api\/v1\/user\/user\/(\w+)(?:\?(?!.*(?:from|model)=)|$)/.exec(request.url()) ?? []
    if (name !== undefined) asked.push(name)
  })
  let release = (): void => undefined
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  await context.route(MODULES, async (route) => {
    await held
    await route.continue()
  })
  // Numbers that refresh by themselves stand still.
  await context.addInitScript('window.setInterval = () => 0')
  await page.goto(`${site.baseUrl}/console${path}`, { waitUntil: 'commit' })
  await vi.waitFor(() => expect(asked).toEqual(expect.arrayContaining([...names])), JOURNEY_MS)
  expect(asked).toHaveLength(names.length)
  release()
  await visit.rest()
  if (!path.includes('org=')) expect(asked).toHaveLength(names.length)
  await visit.close()
})
