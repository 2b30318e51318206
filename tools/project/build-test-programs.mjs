/** node tools/project/build-test-programs.mjs: what tests start as processes, when it is not what the sources say. */
import { buildTestProgramsWhenNeeded } from './build.mjs'
import { root } from './tree.mjs'

await buildTestProgramsWhenNeeded(root)
