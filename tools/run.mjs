/**
 * What `npm start`, `npm test`, `npm run check`, `npm run build` and `npm run bench` run. It needs nothing but Node and
 * npm: it installs when `node_modules` is not what the lock asks for, builds what changed, and then does what was asked.
 */
import { spawnSync } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { buildWhenNeeded } from './project/build.mjs'
import { installWhenNeeded } from './project/dependencies.mjs'
import { requireNode } from './project/require-node.mjs'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')

const COMMANDS = { start, test, check, build, bench }

requireNode(root)
const [name = '', ...rest] = process.argv.slice(2)
const command = COMMANDS[name]
if (command === undefined) {
  process.stderr.write(`usage: node tools/run.mjs ${Object.keys(COMMANDS).join(' | ')}\n`)
  process.exit(2)
}
installWhenNeeded(root)
try {
  await command(rest)
} catch (error) {
  // A mistake in the sources: esbuild has shown it already.
  if (!Array.isArray(error.errors)) throw error
  process.exit(1)
}

/** Runs the gateway in this very process, so that signals reach it without a go-between. */
async function start(args) {
  const built = await buildWhenNeeded(root)
  if (!built.includes('main')) throw new Error('server/src/main.ts is missing')
  const main = join(root, 'server/dist/main.js')
  process.setSourceMapsEnabled(true)
  process.argv = [process.execPath, main, ...args]
  await import(pathToFileURL(main).href)
}

async function test(args) {
  await buildWhenNeeded(root)
  exitWith(runNode('node_modules/vitest/vitest.mjs', ['run', ...args]))
}

async function check(args) {
  exitWith(runNode('tools/check.mjs', args))
}

async function build() {
  const built = await buildWhenNeeded(root)
  process.stderr.write(`server/dist is up to date: ${built.join(', ')}\n`)
}

async function bench(args) {
  await buildWhenNeeded(root)
  const [name, ...more] = args
  exitWith(name === 'console' ? runNode('bench/console.mjs', more) : runNode('bench/run.mjs', args))
}

function runNode(script, args) {
  return spawnSync(process.execPath, [join(root, script), ...args], { cwd: root, stdio: 'inherit' })
}

function exitWith(result) {
  if (result.error) throw result.error
  process.exit(result.status ?? 1)
}
