/** An error as the log shows it. Only these fields: errors of libraries contain requests and bodies in other fields. */
export interface ErrorDescription {
  readonly type: string
  readonly message: string
  readonly code?: string | number
  readonly internal?: string
  readonly stack?: string
  readonly cause?: ErrorDescription
}

/** A longer chain of causes is a loop or adds no information. */
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

/** `JSON.parse` quotes what it could not read, which may be a client's text. */
function messageOf(error: Error): string {
  return error instanceof SyntaxError ? 'text that does not parse' : error.message
}

/** The stack frames, without the first lines, which repeat the message. */
function framesOf(stack: string): string {
  const start = stack.search(/^ {4}at /m)
  return start === -1 ? '' : stack.slice(start)
}

/** For a thrown value that is not an error: a text is shown, of anything else only its presence. */
function textOf(thrown: unknown): string {
  return typeof thrown === 'string' || typeof thrown === 'number' ? String(thrown) : 'not an error object'
}
