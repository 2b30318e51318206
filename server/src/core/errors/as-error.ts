/** What was thrown, which may be anything, as an error. */
export function asError(thrown: unknown): Error {
  if (thrown instanceof Error) return thrown
  return new Error(typeof thrown === 'string' ? thrown : 'not an error was thrown', { cause: thrown })
}
