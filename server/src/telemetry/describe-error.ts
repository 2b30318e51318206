/** An error as the log shows it. Only these fields: errors of libraries carry requests and bodies in fields of their own. */
export interface ErrorDescription {
  readonly type: string
  readonly message: string
  readonly code?: string | number
  readonly internal?: string
  readonly stack?: string
  readonly cause?: ErrorDescription
}

/** A chain of causes longer than this is a loop or tells nothing more. */
const CAUSES_MAX = 4

export function describeError(error: unknown): ErrorDescription {
  return describe(error, CAUSES_MAX)
}

function describe(error: unknown, causesLeft: number): ErrorDescription {
  if (!(error instanceof Error)) return { type: typeof error, message: textOf(error) }
  const code: unknown = 'code' in error ? error.code : undefined
  const internal: unknown = 'internal' in error ? error.internal : undefined
  return {
    type: error.name,
    message: messageOf(error),
    ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
    ...(typeof internal === 'string' ? { internal } : {}),
    ...(error.stack === undefined ? {} : { stack: framesOf(error.stack) }),
    ...(error.cause === undefined || causesLeft === 0
      ? {}
      : { cause: describe(error.cause, causesLeft - 1) }),
  }
}

/** `JSON.parse` quotes what it could not read, which may be a client's words. */
function messageOf(error: Error): string {
  return error instanceof SyntaxError ? 'text that does not parse' : error.message
}

/** Where it happened, without the first lines, which repeat the message. */
function framesOf(stack: string): string {
  const start = stack.search(/^ {4}at /m)
  return start === -1 ? '' : stack.slice(start)
}

/** What was thrown was no error: a text is shown, of anything else only that it was there. */
function textOf(thrown: unknown): string {
  return typeof thrown === 'string' || typeof thrown === 'number' ? String(thrown) : 'not an error object'
}
