/**
 * The console: the types of its client, written from the OpenAPI document, and its bundle in `server/dist/console`, each
 * file beside its compressed forms so that the gateway compresses nothing while it serves.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { filesOfPage, LANGUAGES, namedFiles, readBundle, readPages, textOf } from './console-files.mjs'

const DOCUMENT = 'docs/reference/openapi.json'
const TYPES = 'console/src/api/generated.d.ts'
/** What goes into the bundle beside everything below `console/src`. */
const SINGLE_INPUTS = [
  'console/index.html',
  'console/vite.config.ts',
  'console/package.json',
  'package-lock.json',
]
/** What makes it. */
const TOOLS = ['tools/project/build-console.mjs', 'tools/project/console-files.mjs']
/** Fonts are compressed by themselves. */
const COMPRESSIBLE = /\.(js|css|svg|html)$/
/** Smaller ones fit one packet as they are. */
const COMPRESSED_BYTES_MIN = 1_000

/** Builds the bundle when an input changed. `locked` runs it while nobody else builds. */
export async function buildConsoleWhenNeeded(root, output, locked) {
  if (!existsSync(join(root, 'console/src/main.tsx'))) return
  const folder = join(output, 'console')
  const state = stateOfInputs(root)
  if (isUpToDate(folder, state)) return
  await locked(() => {
    if (isUpToDate(folder, state)) return
    bundle(root, folder)
    writeFileSync(join(folder, '.inputs'), state)
  })
}

function bundle(root, folder) {
  // In a process of its own: the gateway runs on in this one, and has no use for a bundler.
  const result = spawnSync(
    process.execPath,
    [
      join(root, 'node_modules/vite/bin/vite.js'),
      'build',
      '--outDir',
      folder,
      '--emptyOutDir',
      '--logLevel',
      'warn',
    ],
    // Tests have another mode, in which the bundle would be one for developers.
    { cwd: join(root, 'console'), stdio: ['ignore', 2, 2], env: { ...process.env, NODE_ENV: 'production' } },
  )
  if (result.status !== 0) throw new Error('the console cannot be built')
  writePages(root, folder)
  const assets = join(folder, 'assets')
  for (const name of readdirSync(assets)) {
    if (!COMPRESSIBLE.test(name)) continue
    const plain = readFileSync(join(assets, name))
    if (plain.length < COMPRESSED_BYTES_MIN) continue
    writeFileSync(join(assets, `${name}.gz`), gzipSync(plain, { level: 9 }))
    const params = { [constants.BROTLI_PARAM_SIZE_HINT]: plain.length }
    writeFileSync(join(assets, `${name}.br`), brotliCompressSync(plain, { params }))
  }
}

/**
 * Writes the page of the bundle for each address and language, as `pages/<path>.<language>.html`: it refers to all files that
 * the address needs and names its first requests, so that the browser sends them at once.
 */
function writePages(root, folder) {
  const html = scriptsAfterPaint(readFileSync(join(folder, 'index.html'), 'utf8'))
  const named = namedFiles(html)
  const bundle = readBundle(folder)
  for (const page of readPages(root)) {
    for (const language of LANGUAGES) {
      const files = [...filesOfPage(bundle, page, language)].filter((file) => !named.includes(file))
      const path = join(
        folder,
        'pages',
        `${page.path === '/' ? 'index' : page.path.slice(1)}.${language}.html`,
      )
      mkdirSync(dirname(path), { recursive: true })
      const links = files.map((file) => `    ${linkTo(file)}\n`).join('')
      const shell = readFileSync(join(root, `console/src/app/shell/${page.shell}.html`), 'utf8')
      const asked = listOf('ask', page.answers) + listOf('ask-own', page.ownAnswers)
      const head = page.head.map((key) => textOf(root, key, { language, sections: page.sections }))
      const text = html
        .replace('<html lang="en"', `<html lang="${language}"`)
        .replace('<script src=', `<script ${asked}src=`)
        .replace('  </head>', `${links}  </head>`)
        .replace('<div id="root">', `<div id="root">${withHead(shell, head).replaceAll(/\s*\n\s*/g, '')}`)
      writeFileSync(path, text)
    }
  }
}

/** An empty list would be read as the address of the page itself. */
function listOf(name, addresses) {
  return addresses.length === 0 ? '' : `data-${name}="${addresses.join(' ')}" `
}

/** The title and the line below it in their place, where they are known. The texts have no marks that HTML would read. */
function withHead(shell, [title, lead]) {
  if (title === undefined) return shell
  return shell.replace('<i></i>', `<div class="shell-head"><b>${title}</b><p>${lead}</p></div>`)
}

function linkTo(file) {
  return `<link rel="modulepreload" fetchpriority="low" crossorigin href="/console/${file}">`
}

/** Only the styles are needed for the first paint; of the scripts, the large one is requested first. */
function scriptsAfterPaint(html) {
  const scripts = [...html.matchAll(/ *<script type="module"[^>]*><\/script>\n/g)].map(([script]) => script)
  const rest = scripts.reduce((text, script) => text.replace(script, ''), html)
  const later = scripts
    .toReversed()
    .map((script) => script.replace('<script ', '<script fetchpriority="low" '))
    .join('')
  return rest.replace('  </head>', `${later}  </head>`)
}

/** Writes the types of the client when the document is newer than they are. */
export function writeConsoleTypesWhenNeeded(root) {
  const document = join(root, DOCUMENT)
  const types = join(root, TYPES)
  const digest = createHash('sha256').update(readFileSync(document)).digest('hex')
  const head = `/* Written from ${DOCUMENT} ${digest}. */\n`
  if (existsSync(types) && readFileSync(types, 'utf8').startsWith(head)) return
  const result = spawnSync(
    process.execPath,
    [join(root, 'node_modules/openapi-typescript/bin/cli.js'), document, '--default-non-nullable=false'],
    { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 },
  )
  if (result.status !== 0) throw new Error(`the console's types cannot be written: ${result.stderr}`)
  mkdirSync(join(root, 'console/src/api'), { recursive: true })
  writeFileSync(types, head + result.stdout)
}

function isUpToDate(folder, state) {
  const path = join(folder, '.inputs')
  return existsSync(path) && readFileSync(path, 'utf8') === state
}

/** Sizes and times of every input, and the text of what makes it. */
function stateOfInputs(root) {
  const hash = createHash('sha256')
  for (const tool of TOOLS) hash.update(readFileSync(join(root, tool)))
  const below = readdirSync(join(root, 'console/src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.test.ts') && !entry.name.endsWith('.d.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
  const single = SINGLE_INPUTS.map((path) => join(root, path))
  for (const path of [...below, ...single].sort()) {
    const { size, mtimeMs } = statSync(path)
    hash.update(`${path} ${size} ${mtimeMs}\n`)
  }
  return hash.digest('hex')
}
