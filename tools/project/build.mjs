/**
 * Bundles the gateway and the packages it begins with into `server/dist`: reading a thousand small files costs a start and
 * every command more than all they do. What is imported while it runs becomes a file of its own, read when it is wanted.
 * Does nothing when no input changed since the last build, so every command can afford to call it.
 */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { buildConsoleWhenNeeded } from './build-console.mjs'
import { requireNode } from './require-node.mjs'

/** What becomes a file of its own: the process, the command line, and what runs in a thread of its own. */
const THREADS = {
  'storage-worker': 'server/src/storage/sqlite/worker.ts',
  'ops-worker': 'server/src/http/ops/ops-worker.ts',
  'conversion-worker': 'server/src/pipeline/lanes/threads/worker.ts',
}
const ENTRIES = { main: 'server/src/main.ts', cli: 'server/src/cli/cli.ts', ...THREADS }
/** What tests start as processes of their own, with the threads that they look for beside them. */
const TEST_PROGRAMS = {
  gateway: 'server/test/processes/gateway-child.ts',
  'video-gateway': 'server/test/video/gateway-child.ts',
  'task-gateway': 'server/test/videos/crash-child.ts',
  calls: 'server/test/storage/crash-child.ts',
  'video-task': 'server/test/storage/video-crash-child.ts',
  ...THREADS,
}
/** Stay in `node_modules`: what is no JavaScript, what is large and wanted by few, and what tests share examples with. */
const OUTSIDE = [
  '@node-rs/argon2',
  '@photostructure/sqlite',
  'pg-native',
  '@aws-sdk/*',
  'gpt-tokenizer',
  'mediabunny',
  'nodemailer',
  'stripe',
  'vitest',
]
/** Packages of the older kind ask for what is Node's own by a name that modules do not have. */
const REQUIRE =
  "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);"
/** A lock older than this was left by a build that died. */
const LOCK_AGE_MS_MAX = 60_000
const LOCK_WAIT_MS = 50

/** Builds what changed. Resolves to the entries that exist. */
export async function buildWhenNeeded(root) {
  requireNode(root)
  const output = join(root, 'server/dist')
  await buildConsoleWhenNeeded(root, output, (work) => withLock(output, work))
  return bundleWhenNeeded(root, output, ENTRIES)
}

/** Programs of tests, bundled as the product is, so that they start as fast. Resolves when they are what the sources say. */
export async function buildTestProgramsWhenNeeded(root) {
  await bundleWhenNeeded(root, join(root, 'server/dist/test'), TEST_PROGRAMS)
}

async function bundleWhenNeeded(root, output, wanted) {
  const entries = Object.entries(wanted).filter(([, source]) => existsSync(join(root, source)))
  const recipe = recipeOf(root, entries)
  if (entries.length === 0 || isUpToDate(root, output, recipe)) return entries.map(([name]) => name)
  return withLock(output, async () => {
    if (!isUpToDate(root, output, recipe)) await bundle({ root, output, entries, recipe })
    return entries.map(([name]) => name)
  })
}

async function bundle({ root, output, entries, recipe }) {
  if (!existsSync(statePath(output)))
    process.stderr.write('building, which takes a few seconds the first time\n')
  const { build, stop } = await import('esbuild')
  const startedAt = Date.now()
  const result = await build({
    absWorkingDir: root,
    entryPoints: entries.map(([name, source]) => ({ in: source, out: name })),
    outdir: output,
    bundle: true,
    splitting: true,
    external: OUTSIDE,
    banner: { js: REQUIRE },
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    sourcemap: 'linked',
    // Read with every file, for the places in a stack trace alone.
    sourcesContent: false,
    legalComments: 'linked',
    // V8 keeps the text of every file for as long as the process runs, comments and indentation included.
    minifyWhitespace: true,
    metafile: true,
    logLevel: 'warning',
  })
  // esbuild keeps a process of its own; the gateway runs on in this one and has no use for it.
  await stop()
  const outputs = Object.keys(result.metafile.outputs).map((path) => basename(path))
  const former = formerOutputs(lastBuild(output), outputs)
  removeFormer(output, [...outputs, ...former])
  const own = Object.keys(result.metafile.inputs).filter((path) => !path.startsWith('node_modules/'))
  const inputs = own.map((path) => {
    const state = stateOf(join(root, path))
    // Written while it was read: which of both went in is not known, so the next build looks again.
    return [path, changedAt(join(root, path)) >= startedAt ? 'changing' : state]
  })
  writeFileSync(
    statePath(output),
    JSON.stringify({ recipe, inputs: Object.fromEntries(inputs), outputs, former }),
  )
}

/**
 * Removes files of builds before the former one. What the former has and this one has no more stays until the next: a
 * gateway of the former build that still runs reads some of its files when they are first wanted. The console in its
 * folder is built apart.
 */
function removeFormer(output, kept) {
  const made = new Set(kept)
  for (const entry of readdirSync(output, { withFileTypes: true }))
    if (entry.isFile() && !entry.name.startsWith('.') && !made.has(entry.name))
      rmSync(join(output, entry.name))
}

/** One build at a time: two commands started together would write over each other. */
async function withLock(output, work) {
  mkdirSync(output, { recursive: true })
  const lock = join(output, '.lock')
  for (;;) {
    try {
      mkdirSync(lock)
      break
    } catch (error) {
      if (error.code !== 'EEXIST') throw error
      const age = ageOf(lock)
      if (age !== undefined && age > LOCK_AGE_MS_MAX) rmSync(lock, { recursive: true, force: true })
      else await new Promise((resolve) => setTimeout(resolve, LOCK_WAIT_MS))
    }
  }
  try {
    return await work()
  } finally {
    rmSync(lock, { recursive: true, force: true })
  }
}

function ageOf(path) {
  const stat = statSync(path, { throwIfNoEntry: false })
  return stat === undefined ? undefined : Date.now() - stat.mtimeMs
}

/** Names of the files of the build before; one that made the same files is the same build. */
function formerOutputs({ outputs = [], former = [] } = {}, made) {
  const same = outputs.length === made.length && outputs.every((name) => made.includes(name))
  return same ? former : outputs
}

/** Of a folder of bundles: what went in, and the names of the files; undefined: nothing was built there. */
export function lastBuild(output) {
  if (!existsSync(statePath(output))) return undefined
  return JSON.parse(readFileSync(statePath(output), 'utf8'))
}

function isUpToDate(root, output, recipe) {
  const last = lastBuild(output)
  if (last?.recipe !== recipe) return false
  return Object.entries(last.inputs).every(([path, state]) => stateOf(join(root, path)) === state)
}

/** Everything besides our own sources that decides what comes out: this file, the entries and the packages. */
function recipeOf(root, entries) {
  const self = readFileSync(join(root, 'tools/project/build.mjs'))
  const packages = stateOf(join(root, 'node_modules/.package-lock.json'))
  return createHash('sha256')
    .update(self)
    .update(JSON.stringify([entries, packages]))
    .digest('hex')
}

const changedAt = (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0

function stateOf(path) {
  const stat = statSync(path, { throwIfNoEntry: false })
  return stat === undefined ? 'gone' : `${stat.size}:${stat.mtimeMs}`
}

const statePath = (output) => join(output, '.inputs.json')
