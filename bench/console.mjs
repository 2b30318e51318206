/**
 * npm run bench -- console [weight] [sign-in] [load] [log] [walk], or lighthouse
 *   --rows 1000000    rows of the call log
 *   --rounds 20       how often each act is timed
 *   --smoke           shortest possible, to see that the harness works
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildWhenNeeded } from '../tools/project/build.mjs'
import { bundleProgram } from '../tools/project/bundle-program.mjs'

const bench = dirname(fileURLToPath(import.meta.url))
const root = dirname(bench)
/** Beside the product's own process, which it starts. */
const program = join(root, 'server/dist/bench-console.js')

await buildWhenNeeded(root)
await bundleProgram({ entryPoints: [join(bench, 'src/console/console-bench.ts')] }, program)
const lighthouse = join(bench, 'node_modules/lighthouse/cli/index.js')
if (process.argv.includes('lighthouse') && !existsSync(lighthouse))
  execFileSync('npm', ['ci', '--no-audit'], { cwd: bench, stdio: ['ignore', 2, 2] })
const ended = spawnSync(
  process.execPath,
  [
    program,
    '--probe',
    join(bench, 'src/console/console-probe.mjs'),
    '--lighthouse',
    lighthouse,
    ...process.argv.slice(2),
  ],
  { cwd: root, stdio: 'inherit' },
)
process.exit(ended.status ?? 1)
