import type { Pipeline } from '../pipeline/context.ts'

/** Checks for a quiet moment at this interval, because a new gateway is often used right after its start. */
export const QUIET_LOOK_MS = 15_000

/**
 * The tokenizer is loaded in a quiet moment, or by the first call that needs it, so that neither the start nor a
 * running stream waits for it. While its file cannot be read, for example because too many files are open, it is tried
 * again: calls that need it meanwhile are counted by length.
 */
export function loadWhenQuiet(
  { tokens, telemetry }: Pick<Pipeline, 'tokens' | 'telemetry'>,
  openCalls: () => number,
): NodeJS.Timeout {
  const looks = setInterval(() => {
    if (openCalls() > 0) return
    try {
      tokens.load()
      clearInterval(looks)
    } catch (error) {
      telemetry.log.warn({ error }, 'the tokenizer could not be loaded; trying again')
    }
  }, QUIET_LOOK_MS)
  return looks.unref()
}
