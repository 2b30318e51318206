import { existsSync } from 'node:fs'
import type { StartedWith } from '../../app/start-failure.ts'
import { type DatabaseReport, inspectDatabase } from '../../storage/inspect.ts'
import type { OpenStorageOptions } from '../../storage/open.ts'
import { brokenCheck } from '../../app/doctor/broken-check.ts'
import { failed, type Finding, ok, warning } from '../../core/finding.ts'

/** Checks that it is reachable, has this build's schema, is fast enough, and agrees about the time. */
export async function checkDatabase(
  config: StartedWith,
  options: () => Promise<OpenStorageOptions>,
): Promise<readonly Finding[]> {
  const { database } = config
  if (database.kind === 'sqlite' && !existsSync(database.file))
    return [
      failed(
        'database',
        `${database.file} is not there`,
        'start Sluice once, or set SLUICE_DATA_DIR or SLUICE_DATABASE_URL to where it keeps its data',
      ),
    ]
  try {
    return judge(await inspectDatabase(await options()))
  } catch (error) {
    return [brokenCheck('database', error, config)]
  }
}

/** PostgreSQL 14. */
const SERVER_VERSION_LEAST = 140_000
/** A call waits for one commit before its request is sent upstream. */
const ROUND_TRIP_WISHED_MS = 10
const CLOCK_WARNING_MS = 2_000
/** Windows, expiries and months are based on the instances' clocks. */
const CLOCK_FAILED_MS = 30_000

export function judge(report: DatabaseReport): readonly Finding[] {
  const name =
    report.engine === 'sqlite' ? 'SQLite' : `PostgreSQL ${Math.floor((report.serverVersion ?? 0) / 10_000)}`
  const served = `${name}, ${report.live} running`
  return [
    report.serverVersion !== undefined && report.serverVersion < SERVER_VERSION_LEAST
      ? failed('database', served, 'use PostgreSQL 14 or newer')
      : ok('database', served),
    schema(report),
    ...(report.engine === 'sqlite' ? [] : [distance(report)]),
    clock(report),
  ]
}

function schema({ schema: found, newestSchema }: DatabaseReport): Finding {
  if (found === newestSchema) return ok('schema', `${found}, the newest`)
  return warning(
    'schema',
    `${found} of ${newestSchema}`,
    'the next start brings it there, as does sluice migrate; back up before',
  )
}

function distance({ roundTripMs }: DatabaseReport): Finding {
  const found = `${roundTripMs.toFixed(1)} ms`
  if (roundTripMs <= ROUND_TRIP_WISHED_MS) return ok('latency to the database', found)
  return warning('latency to the database', found, 'run Sluice closer to it: every call waits for it')
}

function clock({ clockAheadMs }: DatabaseReport): Finding {
  const apart = Math.abs(clockAheadMs)
  const found = `${(clockAheadMs / 1_000).toFixed(1)} s ahead of this machine`
  if (apart < CLOCK_WARNING_MS) return ok('clock', 'agrees with the database')
  const fix = 'synchronise both machines with a time server (NTP): limits and expiries use these clocks'
  return apart < CLOCK_FAILED_MS ? warning('clock', found, fix) : failed('clock', found, fix)
}
