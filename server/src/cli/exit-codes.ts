/** Exit codes for scripts; documented in `docs/reference/command-line.md`. */
export const EXIT_CODES = {
  done: { code: 0, meaning: 'It is done, or there was nothing to do.' },
  failed: {
    code: 1,
    meaning:
      'It could not be done: the database cannot be reached, a file cannot be written, a check or a test failed.',
  },
  usage: {
    code: 2,
    meaning: 'The command was not understood: an unknown command or option, a missing argument.',
  },
  mistakes: {
    code: 3,
    meaning:
      'The environment, a gateway file or a value has mistakes. All errors are reported; nothing was changed.',
  },
  missing: { code: 4, meaning: 'There is no account, key, chain, task or database under that name.' },
  differences: {
    code: 5,
    meaning: '`verify` found balances that the ledger does not explain, or a changed audit log.',
  },
} as const

export type Ending = keyof typeof EXIT_CODES

/** Ends a command with a sentence that says what to change. */
export class CommandFailure extends Error {
  readonly ending: Ending

  constructor(ending: Ending, message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options)
    this.name = 'CommandFailure'
    this.ending = ending
  }
}
