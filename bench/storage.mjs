/**
 * node bench/storage.mjs [sqlite] [postgres] [logs] [keys]
 *   --seconds 8        how long each load runs
 *   --rows 10000000    rows of the large log
 *   --delay-ms 1       how far PostgreSQL is away, in each direction
 *   --smoke            shortest possible, to see that the harness works
 */
import { spawnSync } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildWhenNeeded } from '../tools/project/build.mjs'
import { bundleProgram } from '../tools/project/bundle-program.mjs'

const bench = dirname(fileURLToPath(import.meta.url))
const root = dirname(bench)
/** Beside the storage worker, where the built product looks for it. */
const dist = join(root, 'server/dist')

await buildWhenNeeded(root)
await bundleProgram(
  { entryPoints: [join(bench, 'src/storage/storage-bench.ts')] },
  join(dist, 'bench-storage.js'),
)
await bundleProgram(
  { entryPoints: [join(bench, 'src/storage/storage-load.ts')] },
  join(dist, 'bench-load.js'),
)
const ended = spawnSync(
  process.execPath,
  [join(dist, 'bench-storage.js'), '--load', join(dist, 'bench-load.js'), ...process.argv.slice(2)],
  { cwd: root, stdio: 'inherit' },
)
process.exit(ended.status ?? 1)
