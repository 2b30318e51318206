/**
 * node tools/outages.mjs [part of a test's name]
 *
 * Runs the outages of `server/test/processes/outages.test.ts` at full length, with the product's own periods: a database that
 * is away for 24, 70 and 130 seconds, processes and workers that are paused for 34, or killed meanwhile; then two instances
 * that are restarted in turn, and `kill -9` in twenty rounds on each engine. About a quarter of an hour.
 */
import { spawn } from 'node:child_process'
import { root } from './project/tree.mjs'

const KILL_ROUNDS = '20'

const [, , name] = process.argv
const order = [
  'vitest',
  'run',
  ...['outages', 'rolling-restart', 'kill'].map((file) => `server/test/processes/${file}.test.ts`),
  // Each keeps the machine busy, and is to have time of it.
  '--maxWorkers=1',
  '--maxConcurrency=3',
  ...(name === undefined ? [] : ['-t', name]),
]
const environment = { SLUICE_KILL_ROUNDS: KILL_ROUNDS, ...process.env, SLUICE_OUTAGES: 'full' }
const run = spawn('npx', order, { cwd: root, env: environment, stdio: 'inherit' })
run.on('exit', (code) => {
  process.exitCode = code ?? 1
})
