/**
 * The order of test files: those that take a minute begin first, so that none of them is left running alone in the end.
 * How long a file takes is not in its size: one line runs a conformance suite, starts a gateway or opens a browser.
 */
import { relative } from 'node:path'
import { BaseSequencer } from 'vitest/node'
import { root } from './tree.mjs'

const JOURNEYS = 'console/src/'

/** The beginnings of their paths, longest first. */
export const LONG = [
  'server/src/storage/postgres/postgres.test.ts',
  'server/src/storage/sqlite/sqlite.test.ts',
  'server/test/video/survival.test.ts',
  'server/test/processes/',
  'server/test/simulation/',
  'server/src/http/management/openapi/',
  JOURNEYS,
  'server/src/storage/transfer.test.ts',
  'server/test/storage/',
  'server/test/background/',
  'server/test/videos/crash.test.ts',
]

/**
 * Those that wait for a clock or for another process: alone, each uses half a core. Several at once would leave the cores
 * without work, so they begin between journeys, which never wait for long.
 */
export const WAITING = [
  'server/test/calls/kinds/kinds-crash.test.ts',
  'server/test/instances/outage.test.ts',
  'server/test/failures/chain-outages.test.ts',
  'server/test/conversion/conversion.test.ts',
  'server/test/calls/edge.test.ts',
  'server/test/fast-lane/same-answers.test.ts',
  'server/test/charges/unpaid-answers.test.ts',
]

/** Smaller is earlier. */
export function placeOf(path) {
  const found = LONG.findIndex((beginning) => path.startsWith(beginning))
  return found < 0 ? LONG.length : found
}

/** `files` in their order, and each of `others` at an equal distance after one of those that `isHost` says. */
export function spread(files, others, isHost) {
  const hosts = files.filter(isHost)
  if (hosts.length === 0) return [...files, ...others]
  const hostOf = (index) => hosts[Math.floor((index * hosts.length) / others.length)]
  return files.flatMap((file) => [file, ...others.filter((_, index) => hostOf(index) === file)])
}

/** Between files of one place, and between those that wait, the usual order holds: by what they took last time, else by size. */
export class LongestFirst extends BaseSequencer {
  async sort(files) {
    const usual = await super.sort(files)
    const path = ({ moduleId }) => relative(root, moduleId).replaceAll('\\', '/')
    const waits = (file) => WAITING.includes(path(file))
    const ordered = usual
      .filter((file) => !waits(file))
      .toSorted((one, other) => placeOf(path(one)) - placeOf(path(other)))
    return spread(ordered, usual.filter(waits), (file) => path(file).startsWith(JOURNEYS))
  }
}
