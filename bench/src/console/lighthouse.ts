/** Lighthouse on one page, as it supposes a phone on a slow line: one run is a Chromium of its own. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const OUTPUT_BYTES_MAX = 64 * 1_048_576
const CATEGORIES = ['performance', 'accessibility', 'best-practices']
const FLAGS = '--headless=new --no-sandbox --disable-dev-shm-usage'

export interface Audit {
  /** Of 100. */
  readonly performance: number
  readonly accessibility: number
  readonly bestPractices: number
  readonly firstPaintMs: number
  readonly largestPaintMs: number
  readonly blockedMs: number
  readonly speedIndexMs: number
  readonly shift: number
  /** Over the wire, of all kinds. */
  readonly bytes: number
}

interface Report {
  readonly runtimeError?: { readonly message: string }
  readonly categories: Readonly<Record<string, { readonly score: number | null }>>
  readonly audits: Readonly<Record<string, { readonly numericValue?: number }>>
}

interface Audited {
  /** File of Lighthouse's command. */
  readonly program: string
  readonly browser: string
  readonly url: string
  /** Of whoever is signed in; absent: nobody is. */
  readonly cookie?: string
}

/** Rejects when Lighthouse could not load the page. */
export async function audit({ program, browser, url, cookie }: Audited): Promise<Audit> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [
      program,
      url,
      '--quiet',
      '--output=json',
      `--only-categories=${CATEGORIES.join(',')}`,
      `--chrome-flags=${FLAGS}`,
      ...(cookie === undefined ? [] : [`--extra-headers=${JSON.stringify({ cookie })}`]),
    ],
    { env: { ...process.env, CHROME_PATH: browser }, maxBuffer: OUTPUT_BYTES_MAX },
  )
  const report = JSON.parse(stdout) as Report
  if (report.runtimeError !== undefined) throw new Error(`${url}: ${report.runtimeError.message}`)
  const score = (name: string): number => Math.round(100 * known(report.categories[name]?.score, name))
  const figure = (name: string): number => known(report.audits[name]?.numericValue, name)
  return {
    performance: score('performance'),
    accessibility: score('accessibility'),
    bestPractices: score('best-practices'),
    firstPaintMs: figure('first-contentful-paint'),
    largestPaintMs: figure('largest-contentful-paint'),
    blockedMs: figure('total-blocking-time'),
    speedIndexMs: figure('speed-index'),
    shift: figure('cumulative-layout-shift'),
    bytes: figure('total-byte-weight'),
  }
}

function known(value: number | null | undefined, name: string): number {
  if (value === null || value === undefined) throw new Error(`Lighthouse found no ${name}`)
  return value
}
