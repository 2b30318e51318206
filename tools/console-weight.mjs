/**
 * What a browser fetches to show a page of the console, compressed as the gateway sends it: script and styles, by the
 * manifest of the bundle. The first page is the overview with the frame around it; every other page is what comes on top,
 * with its texts and what it shows at once though it is a file of its own. `npm run bench -- console weight` weighs the same
 * in a browser.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { gzipSync } from 'node:zlib'
import { buildWhenNeeded } from './project/build.mjs'
import { root } from './project/tree.mjs'

const KB = 1_000
const FIRST_PAGE_KB_MAX = 260
const FURTHER_PAGE_KB_MAX = 60
/** Smaller files are sent as they are (tools/project/build-console.mjs). */
const COMPRESSED_BYTES_MIN = 1_000
const FIRST_PAGE = ['src/app/frame/frame.tsx', 'src/overview/overview-page.tsx']
/** What pages show at once beside themselves. */
const AT_ONCE = {
  'src/overview/overview-page.tsx': ['src/parts/snippets/first-call.tsx'],
  'src/settings/settings-page.tsx': ['src/settings/profile/profile.tsx'],
}
/** With every page that is routed through `withTexts`. */
const LOOKS = 'src/parts/forms/form-controls.css'
const LANGUAGES = ['en', 'zh-CN']
const ROUTED = /withTexts\(\s*\(\) => import\('(.+?)'\)((?:,\s*'\w+')*)/g

await buildWhenNeeded(root)
const sources = join(root, 'console')
const folder = join(root, 'server/dist/console')
const manifest = JSON.parse(readFileSync(join(folder, '.vite/manifest.json'), 'utf8'))
const pages = pagesOf()
const weights = [
  { page: 'first page', kb: heaviest((language) => firstFiles(language)), max: FIRST_PAGE_KB_MAX },
  ...pages.map(({ page, sections }) => ({
    page,
    kb: heaviest((language) => {
      const texts = sections.map((section) => `src/texts/${language}/${section}.json`)
      const first = firstFiles(language)
      return [...filesOf([page, LOOKS, ...texts, ...(AT_ONCE[page] ?? [])])].filter(
        (file) => !first.has(file),
      )
    }),
    max: FURTHER_PAGE_KB_MAX,
  })),
]
for (const { page, kb, max } of weights) {
  console.log(`${kb > max ? 'HEAVY' : 'ok   '} ${kb.toFixed(1).padStart(6)} of ${max} kB  ${page}`)
}
if (process.argv.includes('--check') && weights.some(({ kb, max }) => kb > max)) process.exit(1)

/** Every page that a route names, with the sections of the texts it asks for. */
function pagesOf() {
  const found = new Map()
  for (const entry of readdirSync(join(sources, 'src'), { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !/route.*\.ts$/.test(entry.name)) continue
    const path = join(entry.parentPath, entry.name)
    for (const [, file, words] of readFileSync(path, 'utf8').matchAll(ROUTED)) {
      const page = relative(sources, join(dirname(path), file))
      found.set(page, { page, sections: [...words.matchAll(/\w+/g)].map(([section]) => section) })
    }
  }
  if (found.size === 0) throw new Error('no route of the console names its page')
  return [...found.values()].sort((one, other) => one.page.localeCompare(other.page))
}

function firstFiles(language) {
  const page = readFileSync(join(folder, 'index.html'), 'utf8')
  const named = [...page.matchAll(/(?:src|href)="\/console\/([^"]+\.(?:js|css))"/g)].map(([, file]) => file)
  const atOnce = FIRST_PAGE.flatMap((name) => [name, ...(AT_ONCE[name] ?? [])])
  return filesOf([...atOnce, `src/texts/${language}.json`], new Set(named))
}

/** Every script and style that these entries need at once. */
function filesOf(names, found = new Set(), seen = new Set()) {
  for (const name of names) {
    const entry = manifest[name]
    if (entry === undefined) throw new Error(`the bundle has no ${name}`)
    if (seen.has(name)) continue
    seen.add(name)
    found.add(entry.file)
    for (const style of entry.css ?? []) found.add(style)
    filesOf(entry.imports ?? [], found, seen)
  }
  return found
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
