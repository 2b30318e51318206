/**
 * Which files of the console's bundle an address shows, by its routes and the manifest of the bundle: what stands around
 * the page, the page, its texts, and what it shows at once though it is a file of its own.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'

export const LANGUAGES = ['en', 'zh-CN']
const FRAME = 'src/app/frame/frame.tsx'
/** What the frame asks before anything of it is shown (`console/src/api/session.ts`). */
const FRAME_ANSWERS = ['/api/v1/user/user/account', '/api/v1/user/user/organisations?limit=100']
const FRAME_OWN_ANSWERS = ['/api/v1/user/user/subscription']
/** What stands around a page, by the parent of its route. */
const AROUND = {
  signedOutRoute: {
    shell: 'signed-out',
    answers: [],
    ownAnswers: [],
    modules: ['src/app/signed-out/signed-out.tsx'],
    sections: [],
  },
  frameRoute: {
    shell: 'frame',
    answers: FRAME_ANSWERS,
    ownAnswers: FRAME_OWN_ANSWERS,
    modules: [FRAME],
    sections: [],
  },
  operatorRoute: {
    shell: 'frame',
    answers: FRAME_ANSWERS,
    ownAnswers: FRAME_OWN_ANSWERS,
    modules: [FRAME, 'src/app/frame/operator-nav.tsx'],
    sections: ['operate'],
  },
}
/** What pages show at once beside themselves. */
const AT_ONCE = {
  'src/settings/settings-page.tsx': ['src/settings/profile/profile.tsx'],
}
/** What pages ask before anything of them is shown. */
const SIGN_IN_ANSWERS = ['/api/v1/user/user/sign-in/options']
const ANSWERS = {
  '/sign-in': SIGN_IN_ANSWERS,
  '/register': SIGN_IN_ANSWERS,
}
/** What pages ask as well where people act for themselves; for an organisation the same addresses are asked with its header. */
const KEYS = '/api/v1/user/user/keys?limit=1000'
const OFFERS = ['/api/v1/user/user/pricing', '/api/v1/user/user/admission']
const OWN_ANSWERS = {
  '/': ['/api/v1/user/user/logs?limit=7', KEYS, ...OFFERS, '/api/v1/user/user/announcements'],
  '/calls': [KEYS, '/api/v1/user/user/pricing'],
  '/models': OFFERS,
}
/** The title of a page and the line below it, by the keys of their texts: both are shown before any script has run. */
const HEADS = {
  '/': ['pages.overview', 'overview.lead'],
  '/calls': ['pages.calls', 'calls.lead'],
  '/models': ['pages.models', 'models.lead'],
  '/operate/health': ['operate.pages.health', 'health.lead'],
}
const PARENT = /getParentRoute: \(\) => (\w+)/
const PATH = /path: '([^']+)'/
const PAGE = /lazyRouteComponent\(\s*\(\) => (withTexts\()?(?:\(\) => )?import\('(.+?)'\)((?:,\s*'\w+')*)/

/**
 * Every address with a page, by the file of the page.
 * @returns `path` below `/console`; `page`, its module; `shell`, what is around it; `head`, its title and the line below; the `answers` of the
 *   gateway that it needs first, and its `ownAnswers` where people act for themselves; `modules`: of all of that, without the texts;
 *   `sections` of the texts
 */
export function readPages(root) {
  const sources = join(root, 'console')
  const pages = []
  for (const entry of readdirSync(join(sources, 'src'), { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !/route.*\.ts$/.test(entry.name)) continue
    const [, ...routes] = readFileSync(join(entry.parentPath, entry.name), 'utf8').split('createRoute({')
    const folder = relative(sources, entry.parentPath)
    pages.push(...routes.filter((route) => PATH.test(route)).map((route) => pageOf(route, folder)))
  }
  if (pages.length === 0) throw new Error('no route of the console names its page')
  return pages.sort((one, other) => one.page.localeCompare(other.page))
}

function pageOf(route, folder) {
  const [, path] = PATH.exec(route)
  const [, parent] = PARENT.exec(route) ?? []
  const around = AROUND[parent]
  const found = PAGE.exec(route)
  if (around === undefined || found === null)
    throw new Error(`${folder}: the route ${path} does not say its parent and its page as others do`)
  const [, withTexts, module, words] = found
  const page = join(folder, module)
  const sections = withTexts === undefined ? [] : [...words.matchAll(/\w+/g)].map(([section]) => section)
  return {
    path,
    page,
    shell: around.shell,
    head: HEADS[path] ?? [],
    answers: [...around.answers, ...(ANSWERS[path] ?? [])],
    ownAnswers: [...around.ownAnswers, ...(OWN_ANSWERS[path] ?? [])],
    modules: [...around.modules, page, ...(AT_ONCE[page] ?? [])],
    sections: [...around.sections, ...sections],
  }
}

/** Which file each module is in, and what each file imports. */
export function readBundle(folder) {
  const read = (name) => JSON.parse(readFileSync(join(folder, '.vite', name), 'utf8'))
  const manifest = read('manifest.json')
  const byFile = new Map(Object.values(manifest).map((entry) => [entry.file, entry]))
  return { manifest, byFile, fileOfModule: read('modules.json') }
}

/** Scripts and styles that the one page of the bundle names. */
export function namedFiles(html) {
  return [...html.matchAll(/(?:src|href)="\/console\/([^"]+\.(?:js|css))"/g)].map(([, file]) => file)
}

/** Scripts of these modules, with all they import. */
function filesOf({ manifest, byFile, fileOfModule }, modules) {
  const found = new Set()
  const take = (file) => {
    if (found.has(file)) return
    found.add(file)
    const { imports = [] } = byFile.get(file)
    for (const name of imports) take(manifest[name].file)
  }
  for (const module of modules) {
    const file = manifest[module]?.file ?? fileOfModule[module]
    if (file === undefined) throw new Error(`the bundle has no ${module}`)
    take(file)
  }
  return found
}

/** A text by its key, of the base or of a section that the page needs. */
export function textOf(root, key, { language, sections }) {
  const texts = join(root, 'console/src/texts')
  const [first, ...rest] = key.split('.')
  const read = (file) => JSON.parse(readFileSync(join(texts, file), 'utf8'))
  const start = sections.includes(first) ? read(`${language}/${first}.json`) : read(`${language}.json`)[first]
  const text = rest.reduce((part, name) => part?.[name], start)
  if (typeof text !== 'string') throw new Error(`${language} has no text ${key}`)
  return text
}

/** Every script that a page needs in a language; the styles are one file, which all of them name. */
export function filesOfPage(bundle, { modules, sections }, language) {
  const texts = ['', ...sections].map((section) =>
    section === '' ? `src/texts/${language}.json` : `src/texts/${language}/${section}.json`,
  )
  return filesOf(bundle, [...modules, ...texts])
}
