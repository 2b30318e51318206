/**
 * The order of test files: those that take a minute begin first, so that none of them is left running alone in the end.
 * How long a file takes is not in its size: one line runs a conformance suite, starts a gateway or opens a browser.
 */
import { relative } from 'node:path'
import { BaseSequencer } from 'vitest/node'
import { root } from './tree.mjs'

/** The beginnings of their paths, longest first. */
export const LONG = [
  'server/src/storage/postgres/postgres.test.ts',
  'server/src/storage/sqlite/sqlite.test.ts',
  'server/test/video/survival.test.ts',
  'server/test/processes/',
  'server/test/simulation/',
  'server/src/http/management/openapi/',
  'console/src/',
  'server/src/storage/transfer.test.ts',
  'server/test/storage/',
  'server/test/background/',
  'server/test/videos/crash.test.ts',
]

/** Smaller is earlier. */
export function placeOf(path) {
  const found = LONG.findIndex((beginning) => path.startsWith(beginning))
  return found < 0 ? LONG.length : found
}

/** Between files of one place the usual order holds: by what they took last time, else by size. */
export class LongestFirst extends BaseSequencer {
  async sort(files) {
    const usual = await super.sort(files)
    const place = ({ moduleId }) => placeOf(relative(root, moduleId).replaceAll('\\', '/'))
    return usual.toSorted((one, other) => place(one) - place(other))
  }
}
