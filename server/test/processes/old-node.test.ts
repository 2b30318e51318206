/**
 * Under a Node that is too old each way to start the product says which one is needed. No old Node is at hand here: one
 * that lies about its version shows that the look comes first.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const at = (path: string): string => fileURLToPath(new URL(`../../../${path}`, import.meta.url))
/** Read before anything else; it says what an old Node would say. */
const LIE = `data:text/javascript,${encodeURIComponent(
  "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '18.20.8' } })",
)}`

test.each([
  ['npm start', 'tools/run.mjs', 'start'],
  ['npm test', 'tools/run.mjs', 'test'],
  ['npm run check', 'tools/run.mjs', 'check'],
  ['npm run bench', 'tools/run.mjs', 'bench'],
  ['the built gateway', 'server/dist/main.js'],
  ['the command', 'server/bin/sluice.mjs', '--version'],
  ['the built command', 'server/dist/cli.js', '--version'],
])('%s', (_what, file, ...words) => {
  const ran = spawnSync(process.execPath, ['--import', LIE, at(file), ...words], { encoding: 'utf8' })
  expect(ran).toMatchObject({ status: 1, stdout: '' })
  expect(ran.stderr).toMatch(/^Sluice needs Node 20\.19 or newer; this is 18\.20\.8 /)
  expect(ran.stderr).not.toMatch(/\n\s+at /)
})

// A name that an old Node's own modules lack would be a syntax error before the first line.
test.each(['server/dist/main.js', 'server/dist/cli.js'])('%s imports nothing before its look', (file) => {
  const imports = readFileSync(at(file), 'utf8').match(/^(?:import|export) .*from .*$/gm) ?? []
  expect(imports).toEqual([expect.stringMatching(/^import \{ createRequire as \w+ \} from 'node:module';/)])
})
