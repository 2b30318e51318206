import { CommanderError } from 'commander'
import { ConfigError } from '../config/environment.ts'
import { AmountTooLarge, RateChanged, RateFixed } from '../storage/amount-refused.ts'
import { LastAdmin } from '../storage/last-admin.ts'
import { StorageUnavailable } from '../storage/unavailable.ts'
import type { Console } from './console.ts'
import { CommandFailure, type Ending, EXIT_CODES } from './exit-codes.ts'
import { createProgram } from './program.ts'

/** Runs one command line (without node and script) and gives its exit code. Says what is wrong and what to change. */
export async function run(argv: readonly string[], io: Console): Promise<number> {
  try {
    await createProgram(io).parseAsync([...argv], { from: 'user' })
    return EXIT_CODES.done.code
  } catch (error) {
    const { ending, message } = explain(error)
    if (message !== undefined) io.err(`sluice: ${message}\n`)
    return EXIT_CODES[ending].code
  }
}

function explain(error: unknown): { readonly ending: Ending; readonly message: string | undefined } {
  if (error instanceof CommandFailure) return { ending: error.ending, message: error.message }
  if (error instanceof ConfigError) return { ending: 'mistakes', message: error.message }
  // Commander has already printed help, version or what it did not understand.
  if (error instanceof CommanderError) {
    return { ending: error.exitCode === 0 ? 'done' : 'usage', message: undefined }
  }
  if (REFUSALS.some((refusal) => error instanceof refusal))
    return { ending: 'mistakes', message: `${messageOf(error)}; nothing was changed` }
  if (error instanceof StorageUnavailable) {
    return {
      ending: 'failed',
      message: `the database cannot be reached (${error.message}): check SLUICE_DATABASE_URL or SLUICE_DATA_DIR`,
    }
  }
  return { ending: 'failed', message: messageOf(error) }
}

/** What the store refuses whoever asks. */
const REFUSALS = [AmountTooLarge, RateChanged, RateFixed, LastAdmin] as const

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
