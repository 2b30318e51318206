/** The tool bundles what it runs, which nothing else does: without this it could fail from its first line for weeks. */
import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { root } from './project/tree.mjs'

test.each(['decisions', 'sqlite', 'alone', 'postgres'])('node tools/simulate.mjs --on %s runs', (on) => {
  const order = ['tools/simulate.mjs', '--on', on, '--operations', '200', '--seed', '1']
  const run = spawnSync(process.execPath, order, { cwd: root, encoding: 'utf8' })
  expect(run.stderr).toBe('')
  expect(run.stdout).toContain('all is as the model has it')
  expect(run.status).toBe(0)
})

test('operations are shared out over processes', () => {
  const order = ['tools/simulate.mjs', '--operations', '200', '--processes', '2', '--seed', '7']
  const run = spawnSync(process.execPath, order, { cwd: root, encoding: 'utf8' })
  for (const seed of [7, 1_000_007])
    expect(run.stdout).toContain(`decisions seed ${seed}: all is as the model has it`)
  expect(run.status).toBe(0)
})
