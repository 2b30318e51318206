/**
 * node tools/outages.mjs [part of a test's name]
 *
 * Runs the outages of `server/test/processes/outages.test.ts` at full length, with the product's own periods: a database that
 * is away for 24, 70 and 130 seconds, processes that are paused for 34. About twenty minutes.
 */
import { spawn } from 'node:child_process'
import { root } from './project/tree.mjs'

const [, , name] = process.argv
const order = [
  'vitest',
  'run',
  'server/test/processes/outages.test.ts',
  ...(name === undefined ? [] : ['-t', name]),
]
const environment = { ...process.env, SLUICE_OUTAGES: 'full' }
const run = spawn('npx', order, { cwd: root, env: environment, stdio: 'inherit' })
run.on('exit', (code) => {
  process.exitCode = code ?? 1
})
