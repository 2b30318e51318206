import { ConfigError } from '../../config/environment.ts'
import { findStartFailure, type StartedWith } from '../../app/start-failure.ts'

/** What one check of the doctor found. */
export interface Finding {
  readonly check: string
  /** `warning`: it runs, and somebody should know. `skipped`: it could not be looked at. */
  readonly state: 'ok' | 'warning' | 'failed' | 'skipped'
  readonly found: string
  /** What to do; undefined: nothing. */
  readonly fix: string | undefined
}

export function ok(check: string, found: string): Finding {
  return { check, state: 'ok', found, fix: undefined }
}

export function warning(check: string, found: string, fix: string): Finding {
  return { check, state: 'warning', found, fix }
}

export function failed(check: string, found: string, fix: string): Finding {
  return { check, state: 'failed', found, fix }
}

export function skipped(check: string, found: string, fix?: string): Finding {
  return { check, state: 'skipped', found, fix }
}

/** A check that could not be made: what stood in its way is what was found. */
export function brokenCheck(check: string, error: unknown, config: StartedWith): Finding {
  if (error instanceof ConfigError)
    return failed(check, error.message, 'change what it names, as docs/reference/configuration.md says')
  const { found, fix } = findStartFailure(error, config) ?? {
    found: wordsOf(error),
    fix: 'unexpected: please report it to the maintainers',
  }
  return failed(check, found, fix)
}

export function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
