/** node bench/conversion.mjs: how long a conversation of 1 MB (200 turns, 40 tools) takes from each protocol to each other. */
import { spawnSync } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundleProgram } from '../tools/project/bundle-program.mjs'

const bench = dirname(fileURLToPath(import.meta.url))
const root = dirname(bench)
const outfile = join(root, 'server/dist/bench-conversion.js')

await bundleProgram({ entryPoints: [join(bench, 'src/conversion-load.ts')] }, outfile)
process.exit(spawnSync(process.execPath, [outfile], { stdio: 'inherit' }).status ?? 1)
