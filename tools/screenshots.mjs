/** Pictures of every page of the console in `console/screenshots`; see `console/test/screenshots.ts`. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { buildWhenNeeded } from './project/build.mjs'
import { bundleProgram } from './project/bundle-program.mjs'
import { root } from './project/tree.mjs'

await buildWhenNeeded(root)
const program = join(root, 'server/dist/screenshots.js')
await bundleProgram({ entryPoints: [join(root, 'console/test/screenshots.ts')] }, program)
const { status } = spawnSync(process.execPath, [program, ...process.argv.slice(2)], {
  cwd: root,
  stdio: 'inherit',
})
process.exit(status ?? 1)
