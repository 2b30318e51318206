import { ConfigError } from '../../config/environment.ts'
import { failed, type Finding } from '../../core/finding.ts'
import { findStartFailure, type StartedWith } from '../start-failure.ts'

/** The finding of a check that failed with an error. */
export function brokenCheck(check: string, error: unknown, config: StartedWith): Finding {
  if (error instanceof ConfigError)
    return failed(check, error.message, 'correct that setting: docs/reference/configuration.md describes it')
  const { found, fix } = findStartFailure(error, config) ?? {
    found: wordsOf(error),
    fix: 'unexpected: please report it to the maintainers',
  }
  return failed(check, found, fix)
}

export function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
