/** The browser of the journeys: a real Chromium out of the package registry. */
import { mkdirSync, rmSync, statfsSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import packaged from '@sparticuz/chromium'
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium } from 'playwright-core'

/** The package's own list is for functions in a cloud: one process for all, and a web without its protections. */
const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--font-render-hinting=none',
  '--hide-scrollbars',
  // With a new frame for each page, this Chromium makes a context for every page that its window has shown before: the hundredth took
  // 105 ms of CPU, and takes 13. The last list of features is the only one that counts, so Playwright's own is in it.
  '--enable-features=RenderDocument:level/crashed-frame,CDPScreenshotNewSurface,SkipListAccountsWithoutGaiaCookies',
]
/** Playwright's, for containers with little shared memory: pictures of pages go through files instead. */
const NO_SHARED_MEMORY = '--disable-dev-shm-usage'
const SHARED_MEMORY_BYTES_MIN = 2 ** 30
const LOCK = join(tmpdir(), 'sluice-chromium.lock')
/** A lock older than this was left by a run that died. */
const LOCK_AGE_MS_MAX = 180_000
const LOOK_MS = 50
/** Of the browser, on a machine that is busy with other tests. */
export const START_MS = 120_000

export const SIZES = { wide: { width: 1280, height: 860 }, phone: { width: 390, height: 844 } } as const

export interface Look {
  readonly theme: 'light' | 'dark'
  /** Absent: that of the browser, until it is told another one. */
  readonly language?: string
  readonly size: keyof typeof SIZES
}

/** A browser's window as a person has set it up, without anything of another one. */
export function openContext(
  browser: Browser,
  { theme, language, size }: Look,
  more: BrowserContextOptions = {},
): Promise<BrowserContext> {
  return browser.newContext({
    ...more,
    viewport: SIZES[size],
    colorScheme: theme,
    ...(language === undefined ? {} : { locale: language }),
    timezoneId: 'Europe/Berlin',
    reducedMotion: 'reduce',
    permissions: ['clipboard-write'],
  })
}

export async function openBrowser(): Promise<Browser> {
  return chromium.launch(await launchOptions())
}

export async function launchOptions() {
  return {
    executablePath: await unpack(),
    args: ARGUMENTS,
    ignoreDefaultArgs: hasSharedMemory() ? [NO_SHARED_MEMORY] : [],
    headless: true,
    timeout: START_MS,
  }
}

function hasSharedMemory(): boolean {
  try {
    const { bavail, bsize } = statfsSync('/dev/shm')
    return bavail * bsize >= SHARED_MEMORY_BYTES_MIN
  } catch {
    return false
  }
}

/** Unpacked once for all: two that unpack at the same time would start half a browser. */
async function unpack(): Promise<string> {
  for (;;) {
    try {
      mkdirSync(LOCK)
      break
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
      const age = Date.now() - (statSync(LOCK, { throwIfNoEntry: false })?.mtimeMs ?? Date.now())
      if (age > LOCK_AGE_MS_MAX) rmSync(LOCK, { recursive: true, force: true })
      else await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
    }
  }
  try {
    return await packaged.executablePath()
  } finally {
    rmSync(LOCK, { recursive: true, force: true })
  }
}
