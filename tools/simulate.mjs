/**
 * node tools/simulate.mjs --on sqlite|alone|postgres|decisions
 *   --operations 1000000   how many in all
 *   --processes 1          they are shared out over as many processes
 *   --seed 1               the first process begins here, the others a million further on each
 *
 * Runs the seeded simulation of `server/test/simulation` for as long as asked. What it runs is bundled first, so the
 * sources may change meanwhile. PostgreSQL is TEST_DATABASE_URL, or a server of its own.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { bundleProgram } from './project/bundle-program.mjs'
import { requireNode } from './project/require-node.mjs'
import { root } from './project/tree.mjs'

const SEEDS_PER_PROCESS = 1_000_000

requireNode(root)

const { values } = parseArgs({
  options: {
    on: { type: 'string', default: 'decisions' },
    operations: { type: 'string', default: '1000000' },
    processes: { type: 'string', default: '1' },
    seed: { type: 'string', default: '1' },
  },
})
const seed = Number(values.seed)
const operations = Number(values.operations)
const processes = Number(values.processes)
await (processes > 1 ? shareOut() : simulateHere())

async function shareOut() {
  const script = join(root, 'tools/simulate.mjs')
  const share = String(Math.ceil(operations / processes))
  const children = Array.from({ length: processes }, (_, index) => {
    const from = String(seed + index * SEEDS_PER_PROCESS)
    const order = ['--on', values.on, '--operations', share, '--seed', from]
    return spawn(process.execPath, [script, ...order], { stdio: 'inherit' })
  })
  const codes = await Promise.all(
    children.map((child) => new Promise((resolve) => child.once('exit', (code) => resolve(code ?? 1)))),
  )
  process.exitCode = Math.max(...codes)
}

async function simulateHere() {
  const { simulate, stopServer } = await load()
  const start = Date.now()
  const cpu = process.cpuUsage()
  let told = 0
  const say = (text) =>
    process.stdout.write(`${new Date().toISOString()} ${values.on} seed ${seed}: ${text}\n`)
  const rate = (done) => {
    const { user, system } = process.cpuUsage(cpu)
    const perSecond = Math.round((done * 1_000) / (Date.now() - start))
    return `${perSecond} a second, ${Math.round((user + system) / done)} µs of this process's CPU each`
  }
  const ownsServer = !process.env.TEST_DATABASE_URL && process.env.SLUICE_TEST_RUN === undefined
  process.env.SLUICE_TEST_RUN ??= String(process.pid)
  say(`${operations} operations, process ${process.pid}`)
  try {
    const seen = await simulate({
      on: values.on,
      seed,
      operations,
      progress: (done, world) => {
        if (done - told < operations / 100 && done < operations) return
        told = done
        say(`${done} operations, the last world was ${world}; ${rate(done)}`)
      },
    })
    for (const [kind, count] of [...seen].sort()) say(`${kind}: ${count}`)
    say('all is as the model has it')
  } catch (error) {
    say(error.stack)
    process.exitCode = 1
  } finally {
    if (values.on === 'postgres' && ownsServer) stopServer(process.env.SLUICE_TEST_RUN)
  }
}

/**
 * Below `node_modules` for the length of the run, so that its packages are found from there; beside it the storage's thread,
 * which is looked for where the bundle lies.
 */
async function load() {
  const folder = mkdtempSync(join(root, 'node_modules/.sluice-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))
  const outfile = join(folder, 'simulate.mjs')
  const contents = `export { simulate } from './simulation/simulate.ts'; export { stopServer } from './postgres/server.ts'`
  await bundleProgram({ stdin: { contents, resolveDir: join(root, 'server/test'), loader: 'ts' } }, outfile)
  const worker = join(root, 'server/src/storage/sqlite/worker.ts')
  await bundleProgram({ entryPoints: [worker] }, join(folder, 'storage-worker.js'))
  process.setSourceMapsEnabled(true)
  return import(pathToFileURL(outfile).href)
}
