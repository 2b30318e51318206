/**
 * What a browser fetches to show a page of the console, compressed as the gateway sends it: script and styles, by the
 * manifest of the bundle. The first page is the overview with the frame around it; every other page is what comes on top,
 * with its texts and what it shows at once though it is a file of its own, and what it is alone, where it is the first that
 * somebody opens. `npm run bench -- console weight` weighs the same in a browser.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { buildWhenNeeded } from './project/build.mjs'
import { filesOfPage, LANGUAGES, namedFiles, readBundle, readPages } from './project/console-files.mjs'
import { root } from './project/tree.mjs'

const KB = 1_000
/** What the browser has to have before it draws anything: the styles, and the script of the look. */
const FIRST_PAINT_KB_MAX = 32
/** With what it loads when it is there. */
const FIRST_PAGE_KB_MAX = 250
const FURTHER_PAGE_KB_MAX = 60
/** Of a page that is the first one somebody opens: on a slow line each 20 kB are a tenth of a second. */
const PAGE_ALONE_KB_MAX = 305
/** What shows menus and tips: loaded after the first page, whichever that is (`console/src/main.tsx`). */
const AFTERWARDS = {
  modules: ['src/parts/page/opened-menu.tsx', 'src/parts/page/opened-tip.tsx'],
  sections: [],
}
/** Smaller files are sent as they are (tools/project/build-console.mjs). */
const COMPRESSED_BYTES_MIN = 1_000

await buildWhenNeeded(root)
const folder = join(root, 'server/dist/console')
const bundle = readBundle(folder)
const pages = readPages(root)
const NAMED = namedFiles(readFileSync(join(folder, 'index.html'), 'utf8'))
const FIRST = pages.find(({ path }) => path === '/')
const paint = NAMED.filter((file) => file.endsWith('.css') || file.includes('/look-'))
const weights = [
  { page: 'first paint', kb: heaviest(() => paint), max: FIRST_PAINT_KB_MAX },
  { page: 'first page', kb: heaviest(firstFiles), max: FIRST_PAGE_KB_MAX },
  ...pages.map((page) => ({
    page: page.page,
    kb: heaviest((language) => {
      const first = firstFiles(language)
      return [...filesOfPage(bundle, page, language)].filter((file) => !first.has(file))
    }),
    max: FURTHER_PAGE_KB_MAX,
  })),
  ...pages.map((page) => ({
    page: `${page.page} alone`,
    kb: heaviest((language) => new Set([...NAMED, ...filesOfPage(bundle, page, language)])),
    max: PAGE_ALONE_KB_MAX,
  })),
]
for (const { page, kb, max } of weights) {
  console.log(`${kb > max ? 'HEAVY' : 'ok   '} ${kb.toFixed(1).padStart(6)} of ${max} kB  ${page}`)
}
if (process.argv.includes('--check') && weights.some(({ kb, max }) => kb > max)) process.exit(1)

function firstFiles(language) {
  return new Set([
    ...NAMED,
    ...filesOfPage(bundle, FIRST, language),
    ...filesOfPage(bundle, AFTERWARDS, language),
  ])
}

/** In kB, of the language that weighs most. */
function heaviest(filesIn) {
  return Math.max(...LANGUAGES.map((language) => weightOf(filesIn(language))))
}

function weightOf(files) {
  return [...files].reduce((sum, file) => sum + sentBytes(readFileSync(join(folder, file))), 0) / KB
}

function sentBytes(content) {
  return content.length < COMPRESSED_BYTES_MIN ? content.length : gzipSync(content, { level: 9 }).length
}
