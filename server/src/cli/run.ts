import { CommanderError } from 'commander'
import { ConfigError, readConfig } from '../config/environment.ts'
import { findStartFailure, type StartFailure, startFailureText } from '../app/start-failure.ts'
import { AmountTooLarge, RateChanged, RateFixed } from '../storage/failures/amount-refused.ts'
import { LastAdmin } from '../storage/failures/last-admin.ts'
import type { Console } from './console.ts'
import { CommandFailure, type Ending, EXIT_CODES } from './exit-codes.ts'
import { createProgram } from './program.ts'

/**
 * Runs one command line (without node and script) and returns its exit code. Prints what is wrong and what to change.
 */
export async function run(argv: readonly string[], io: Console): Promise<number> {
  try {
    await createProgram(io).parseAsync([...argv], { from: 'user' })
    return EXIT_CODES.done.code
  } catch (error) {
    const { ending, message } = explain(error, io)
    if (message !== undefined) io.err(`sluice: ${message}\n`)
    return EXIT_CODES[ending].code
  }
}

function explain(error: unknown, io: Console): Explained {
  if (error instanceof CommandFailure) return { ending: error.ending, message: error.message }
  if (error instanceof ConfigError) return { ending: 'mistakes', message: error.message }
  // Commander has already printed help, version or what it did not understand.
  if (error instanceof CommanderError) {
    return { ending: error.exitCode === 0 ? 'done' : 'usage', message: undefined }
  }
  if (REFUSALS.some((refusal) => error instanceof refusal))
    return { ending: 'mistakes', message: `${messageOf(error)}; nothing was changed` }
  const failure = failureOf(error, io)
  return { ending: 'failed', message: failure === undefined ? messageOf(error) : startFailureText(failure) }
}

/** With the same messages as a failed start. */
function failureOf(error: unknown, io: Console): StartFailure | undefined {
  try {
    return findStartFailure(error, readConfig(io.environment, io.workingDirectory))
  } catch (mistakes) {
    if (mistakes instanceof ConfigError) return undefined
    throw mistakes
  }
}

interface Explained {
  readonly ending: Ending
  /** undefined: it was printed already. */
  readonly message: string | undefined
}

/** Refusals of the store that any command may get. */
const REFUSALS = [AmountTooLarge, RateChanged, RateFixed, LastAdmin] as const

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
