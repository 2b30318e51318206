/** What `bench/console.mjs` runs: the console in a real Chromium before a gateway with a large call log, held against its budgets. */
import { parseArgs } from 'node:util'
import { fileURLToPath } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { signInAs } from '../../../console/test/api.ts'
import { launchOptions, openBrowser, openContext } from '../../../console/test/chromium.ts'
import { ADMIN, CUSTOMER, openGateway } from '../../../console/test/gateway.ts'
import { CALLED_MODELS, fillLog, manyAccountsFile } from './console-log.ts'
import { tell } from '../goals.ts'
import { type Audit, audit } from './lighthouse.ts'

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    probe: { type: 'string', default: '' },
    lighthouse: { type: 'string', default: '' },
    rows: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '20' },
    smoke: { type: 'boolean', default: false },
  },
})
const rows = options.smoke ? 5_000 : Number(options.rows)
const rounds = options.smoke ? 2 : Number(options.rounds)
/** Of whole loads of the page, each in a window that has loaded nothing yet. */
const loads = Math.max(1, Math.ceil(rounds / 4))
const MAIN = fileURLToPath(new URL('main.js', import.meta.url))

const PARTS = ['weight', 'sign-in', 'load', 'log', 'walk']
const KB = 1_000
const MIB = 1_048_576
const FIRST_PAGE_KB_MAX = 260
const FURTHER_PAGE_KB_MAX = 60
const USABLE_MS_MAX = 1_000
const SHIFT_MAX = 0.02
const LIST_MS_MAX = 300
/** Between two acts of a person. */
const THINK_MS = 500
/** A line as Lighthouse supposes it for a desktop: 10 Mbit/s and 40 ms there and back. */
const LINE = { offline: false, latency: 40, downloadThroughput: 1_250_000, uploadThroughput: 1_250_000 }

/** Of Lighthouse, as it comes: a phone on a slow line. */
const SCORES_MIN = { performance: 95, accessibility: 100, bestPractices: 100 }
const AUDITED: readonly { readonly name: string; readonly path: string; readonly who?: Someone }[] = [
  { name: 'sign-in', path: '/console/sign-in' },
  { name: 'overview', path: '/console/', who: CUSTOMER },
  { name: 'calls', path: '/console/calls', who: CUSTOMER },
  { name: 'models', path: '/console/models', who: CUSTOMER },
  { name: 'health', path: '/console/operate/health', who: ADMIN },
]

type Someone = typeof ADMIN
type Figures = Record<string, number>
interface Act {
  /** A selector of what is clicked, and its text where several match. */
  readonly click: string
  readonly says?: string
  readonly until: 'page' | 'rows' | 'sheet'
  readonly path?: string
}
interface Seen {
  readonly shift: number
  readonly largestMs: number
  readonly restMs: number
  readonly longestTaskMs: number
  readonly blockedMs: number
}

const first = await openGateway({ program: [MAIN], file: manyAccountsFile() })
await first.running.stop()
process.stderr.write(`filling ${rows} rows\n`)
fillLog(first.directory, rows)
const gateway = await openGateway({
  program: [MAIN],
  file: manyAccountsFile(),
  directory: first.directory,
  mailbox: first.mailbox,
})
const browser = await openBrowser()
try {
  for (const part of positionals.length === 0 ? PARTS : positionals) await bench(part)
} finally {
  await browser.close()
  await gateway.close()
}

async function bench(part: string): Promise<void> {
  switch (part) {
    case 'weight':
      return tellWeights()
    case 'sign-in':
      return tellSignIn()
    case 'load':
      return tellColdLoad()
    case 'log':
      await tellLog(`log of all accounts, ${rows} rows`, ADMIN, '/console/operate/calls')
      return tellLog('log of one account of them', CUSTOMER, '/console/calls')
    case 'walk':
      return tellWalk()
    case 'lighthouse':
      return tellLighthouse()
  }
  throw new Error(`no such part: ${part} (${PARTS.join(', ')}, lighthouse)`)
}

async function openPage(browsing: Browser, who?: Someone): Promise<Page> {
  const context = await openContext(browsing, { theme: 'light', language: 'en', size: 'wide' })
  await context.addInitScript({ path: options.probe })
  if (who !== undefined) {
    const { token } = await signInAs(gateway.baseUrl, who)
    await context.addCookies([{ name: 'sluice_session', value: token, url: gateway.baseUrl }])
  }
  return context.newPage()
}

async function open(page: Page, path: string): Promise<void> {
  await page.goto(`${gateway.baseUrl}${path}`)
  await page.evaluate('consoleProbe.atRest')
}

function timed(page: Page, act: Act): Promise<number> {
  return page.evaluate<number>(`consoleProbe.timed(${JSON.stringify(act)})`)
}

function seenIn(page: Page): Promise<Seen> {
  return page.evaluate<Seen>('consoleProbe.seen')
}

/** The pages an operator can go to by the frame, the first page first. */
async function pathsIn(): Promise<readonly string[]> {
  const page = await openPage(browser, ADMIN)
  await open(page, '/console/')
  await page.waitForTimeout(2 * THINK_MS)
  const paths = await page.evaluate<string[]>('consoleProbe.links()')
  await page.context().close()
  return paths
}

/** Scripts and styles over the wire, as gzip: of the first page, and of each other one beyond it. */
async function tellWeights(): Promise<void> {
  const weights: Figures = {}
  const [home = '', ...paths] = await pathsIn()
  const pages = paths.map((path) => ({ path, who: path.includes('/operate/') ? ADMIN : CUSTOMER }))
  for (const { path, who } of pages) {
    const page = await openPage(browser, who)
    const weigh = await weighing(page)
    await open(page, home)
    await page.waitForTimeout(THINK_MS)
    const first = weigh()
    if (who === CUSTOMER) weights['first page, kB'] ??= first
    await open(page, path)
    await page.waitForTimeout(THINK_MS)
    weights[`${path}, kB`] = weigh() - first
    await page.context().close()
  }
  const goals = Object.keys(weights).map(
    (name) => [name, { atMost: name.startsWith('first') ? FIRST_PAGE_KB_MAX : FURTHER_PAGE_KB_MAX }] as const,
  )
  tell('Console: scripts and styles over the wire, gzip', weights, Object.fromEntries(goals))
}

/** Returns what reads the kB so far. */
async function weighing(page: Page): Promise<() => number> {
  const debug = await page.context().newCDPSession(page)
  const headBytes = new Map<string, number>()
  let bytes = 0
  debug.on('Network.responseReceived', ({ requestId, response }) => {
    const isCode = /\.(js|css)$/.test(new URL(response.url).pathname)
    if (isCode && !response.fromDiskCache) headBytes.set(requestId, response.encodedDataLength)
  })
  debug.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    bytes += Math.max(0, encodedDataLength - (headBytes.get(requestId) ?? encodedDataLength))
  })
  await debug.send('Network.enable')
  await page.context().setExtraHTTPHeaders({ 'accept-encoding': 'gzip' })
  return () => bytes / KB
}

async function tellSignIn(): Promise<void> {
  const times: number[] = []
  const shifts: number[] = []
  for (let load = 0; load < loads; load += 1) {
    const page = await openPage(browser)
    await open(page, '/console/sign-in')
    await page.locator('input[autocomplete~="username"]').fill(CUSTOMER.email)
    await page.locator('input[type="password"]').fill(CUSTOMER.password)
    times.push(await timed(page, { click: 'form button[type="submit"]', until: 'page', path: '/console/' }))
    await page.waitForTimeout(4 * THINK_MS)
    shifts.push((await seenIn(page)).shift)
    await page.context().close()
  }
  tell(
    'Console: sign-in to usable overview',
    {
      'median ms': quantile(times, 0.5),
      'slowest ms': Math.max(...times),
      'largest shift': Math.max(...shifts),
    },
    {
      'median ms': { atMost: USABLE_MS_MAX },
      'slowest ms': { atMost: USABLE_MS_MAX },
      'largest shift': { atMost: SHIFT_MAX },
    },
  )
}

async function tellColdLoad(): Promise<void> {
  const all: Figures[] = []
  for (let load = 0; load < loads; load += 1) {
    const page = await openPage(browser, CUSTOMER)
    const debug = await page.context().newCDPSession(page)
    await debug.send('Network.enable')
    await debug.send('Network.emulateNetworkConditions', LINE)
    await open(page, '/console/')
    await page.waitForTimeout(2 * THINK_MS)
    const { largestMs, restMs, blockedMs, longestTaskMs, shift } = await seenIn(page)
    all.push({
      'first contentful paint, ms': await page.evaluate<number>('consoleProbe.firstPaintMs()'),
      'largest contentful paint, ms': largestMs,
      'usable, ms': restMs,
      'blocked beyond 50 ms a task, ms': blockedMs,
      'longest task, ms': longestTaskMs,
      'layout shift': shift,
    })
    await page.context().close()
  }
  const names = Object.keys(all[0] ?? {})
  const medians = names.map(
    (name) =>
      [
        name,
        quantile(
          all.map((figures) => figures[name] ?? 0),
          0.5,
        ),
      ] as const,
  )
  tell(
    'Console: overview with nothing loaded yet, 10 Mbit/s and 40 ms, medians',
    Object.fromEntries(medians),
    {
      'layout shift': { atMost: SHIFT_MAX },
    },
  )
}

async function tellLog(title: string, who: Someone, path: string): Promise<void> {
  const page = await openPage(browser, who)
  const times: Record<'first' | 'older' | 'filter' | 'opened' | 'totals', number[]> = {
    first: [],
    older: [],
    filter: [],
    opened: [],
    totals: [],
  }
  for (let round = 0; round < rounds; round += 1) {
    await open(page, '/console/keys')
    await page.waitForTimeout(THINK_MS)
    times.first.push(await timed(page, { click: `nav a[href="${path}"]`, until: 'rows', path }))
  }
  await open(page, `${path}?period=all`)
  for (let round = 0; round < rounds; round += 1) {
    await page.waitForTimeout(THINK_MS)
    times.older.push(await timed(page, { click: 'main button', says: 'Older', until: 'rows' }))
    times.opened.push(await timed(page, { click: 'tbody tr:nth-child(7)', until: 'sheet' }))
    await page.keyboard.press('Escape')
    await page.locator('[role="dialog"]').waitFor({ state: 'detached' })
  }
  await open(page, `${path}?period=all`)
  for (const [label, value] of filterSteps()) {
    await page.waitForTimeout(THINK_MS)
    await page.locator(`input[placeholder="${label}"]`).click()
    await page.locator(`[role="option"][value="${value}"]`).waitFor()
    times.filter.push(await timed(page, { click: `[role="option"][value="${value}"]`, until: 'rows' }))
  }
  times.totals.push(...(await page.evaluate<number[]>(`consoleProbe.answers('/logs/totals')`)))
  const longestFrame = await page.evaluate<number>('consoleProbe.scrolled()')
  const { longestTaskMs } = await seenIn(page)
  await page.context().close()
  const list = { atMost: LIST_MS_MAX }
  tell(
    `Console: ${title}`,
    {
      'first page, p95 ms': quantile(times.first, 0.95),
      'next page, p95 ms': quantile(times.older, 0.95),
      'filter, p95 ms': quantile(times.filter, 0.95),
      'opening a row, p95 ms': quantile(times.opened, 0.95),
      'totals of the filter, p95 ms': quantile(times.totals, 0.95),
      'longest frame while scrolling, ms': longestFrame,
      'longest task, ms': longestTaskMs,
    },
    { 'first page, p95 ms': list, 'next page, p95 ms': list, 'filter, p95 ms': list },
  )
}

/** Each of them shows other rows than the one before. */
function filterSteps(): readonly (readonly [label: string, value: string])[] {
  const models = CALLED_MODELS
  return Array.from({ length: rounds }, (_none, round): readonly [string, string] =>
    round % 4 === 3
      ? ['Ending', round % 8 === 3 ? 'failed' : 'complete']
      : ['Model', models[round % models.length] ?? ''],
  )
}

/** All pages one after the other by the links of the frame, three times over, in one window. */
async function tellWalk(): Promise<void> {
  const [home = '', ...paths] = await pathsIn()
  const page = await openPage(browser, ADMIN)
  const debug = await page.context().newCDPSession(page)
  await open(page, '/console/')
  const held: Figures = { 'held on the first page, MiB': await heldMib() }
  const times: number[] = []
  for (const walk of ['one walk', 'two walks', 'three walks']) {
    for (const path of [...paths, home]) {
      times.push(await timed(page, { click: `nav a[href="${path}"]`, until: 'page', path }))
      await page.waitForTimeout(THINK_MS)
    }
    held[`held after ${walk}, MiB`] = await heldMib()
  }
  const { longestTaskMs } = await seenIn(page)
  await page.context().close()
  tell(
    'Console: every page by its link, three times',
    { 'a page is there, p95 ms': quantile(times, 0.95), ...held, 'longest task, ms': longestTaskMs },
    {},
  )

  async function heldMib(): Promise<number> {
    await debug.send('HeapProfiler.collectGarbage')
    const { usedSize } = await debug.send('Runtime.getHeapUsage')
    return usedSize / MIB
  }
}

/** Medians, each figure by itself. */
async function tellLighthouse(): Promise<void> {
  const { executablePath } = await launchOptions()
  for (const { name, path, who } of AUDITED) {
    const audits: Audit[] = []
    for (let load = 0; load < loads; load += 1) {
      const cookie = who && `sluice_session=${(await signInAs(gateway.baseUrl, who)).token}`
      audits.push(
        await audit({
          program: options.lighthouse,
          browser: executablePath,
          url: `${gateway.baseUrl}${path}`,
          ...(cookie === undefined ? {} : { cookie }),
        }),
      )
    }
    const median = (figure: keyof Audit): number =>
      quantile(
        audits.map((each) => each[figure]),
        0.5,
      )
    tell(
      `Console: Lighthouse, ${name}`,
      {
        performance: median('performance'),
        'lowest performance': Math.min(...audits.map(({ performance }) => performance)),
        accessibility: median('accessibility'),
        'best practices': median('bestPractices'),
        'first contentful paint, ms': median('firstPaintMs'),
        'largest contentful paint, ms': median('largestPaintMs'),
        'blocked beyond 50 ms a task, ms': median('blockedMs'),
        'speed index, ms': median('speedIndexMs'),
        'layout shift': median('shift'),
        'over the wire, kB': median('bytes') / KB,
      },
      {
        performance: { atLeast: SCORES_MIN.performance },
        accessibility: { atLeast: SCORES_MIN.accessibility },
        'best practices': { atLeast: SCORES_MIN.bestPractices },
        'layout shift': { atMost: SHIFT_MAX },
      },
    )
  }
}

function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN
}
