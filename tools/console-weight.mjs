/**
 * What a browser has to load before a page of the console is there, compressed with gzip: script and styles, by the
 * manifest of the bundle. The first page is the overview with the frame around it; every other page is what comes on top.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { buildWhenNeeded } from './project/build.mjs'
import { root } from './project/tree.mjs'

const KB = 1_000
const FIRST_PAGE_KB_MAX = 260
const FURTHER_PAGE_KB_MAX = 60
/** Loaded with every page, in one of the languages. */
const GROUND = ['index.html', 'src/texts/zh-CN.json', 'src/app/frame/frame.tsx']
const FIRST_PAGE = 'src/overview/overview-page.tsx'

await buildWhenNeeded(root)
const folder = join(root, 'server/dist/console')
const manifest = JSON.parse(readFileSync(join(folder, '.vite/manifest.json'), 'utf8'))
const first = filesOf([...GROUND, FIRST_PAGE])
const weights = [
  { page: 'first page', kb: weightOf(first), max: FIRST_PAGE_KB_MAX },
  ...Object.keys(manifest)
    .filter((name) => name.endsWith('-page.tsx') && name !== FIRST_PAGE)
    .map((name) => {
      const more = [...filesOf([name])].filter((file) => !first.has(file))
      return { page: name, kb: weightOf(more), max: FURTHER_PAGE_KB_MAX }
    }),
]
for (const { page, kb, max } of weights) {
  console.log(`${kb > max ? 'HEAVY' : 'ok   '} ${kb.toFixed(1).padStart(6)} of ${max} kB  ${page}`)
}
if (process.argv.includes('--check') && weights.some(({ kb, max }) => kb > max)) process.exit(1)

/** Every script and style that these entries need at once. */
function filesOf(names, found = new Set()) {
  for (const name of names) {
    const entry = manifest[name]
    if (entry === undefined) throw new Error(`the bundle has no ${name}`)
    if (found.has(entry.file)) continue
    found.add(entry.file)
    for (const style of entry.css ?? []) found.add(style)
    filesOf(entry.imports ?? [], found)
  }
  return found
}

function weightOf(files) {
  return [...files].reduce((sum, file) => sum + gzipSync(readFileSync(join(folder, file))).length, 0) / KB
}
