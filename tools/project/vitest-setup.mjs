/** Runs once before all tests: the bundles that worker threads are started from must exist and be current. */
import { fileURLToPath } from 'node:url'
import { buildWhenNeeded } from './build.mjs'

export async function setup() {
  await buildWhenNeeded(fileURLToPath(new URL('../..', import.meta.url)))
}
