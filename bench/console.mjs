/**
 * npm run bench -- console [weight] [sign-in] [load] [log] [walk]
 *   --rows 1000000    rows of the call log
 *   --rounds 20       how often each act is timed
 *   --smoke           shortest possible, to see that the harness works
 */
import { spawnSync } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { buildWhenNeeded } from '../tools/project/build.mjs'

const bench = dirname(fileURLToPath(import.meta.url))
const root = dirname(bench)
/** Beside the product's own process, which it starts. */
const program = join(root, 'server/dist/bench-console.js')

await buildWhenNeeded(root)
await build({
  entryPoints: [join(bench, 'src/console-bench.ts')],
  outfile: program,
  bundle: true,
  packages: 'external',
  platform: 'node',
  format: 'esm',
  target: 'node20.19',
  logLevel: 'warning',
})
const ended = spawnSync(
  process.execPath,
  [program, '--probe', join(bench, 'src/console-probe.mjs'), ...process.argv.slice(2)],
  { cwd: root, stdio: 'inherit' },
)
process.exit(ended.status ?? 1)
