/** Runs once before all tests: the bundles that worker threads are started from must exist and be current. */
import { fileURLToPath } from 'node:url'
import { buildWhenNeeded } from './build.mjs'

/** `npm test` has built before and stopped at a mistake; a run of a few files by hand goes on without the bundles. */
export async function setup() {
  try {
    await buildWhenNeeded(fileURLToPath(new URL('../..', import.meta.url)))
  } catch (error) {
    process.stderr.write(
      `the bundles are out of date, tests that start a process or a worker will fail: ${error.message}\n`,
    )
  }
}
