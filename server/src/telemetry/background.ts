import type { Log } from './log.ts'

/** Tracks promises that are not awaited: their errors are logged, and stopping waits for them. */
export interface Background {
  /** `what` describes the work in a few words, for the log: `record progress`. */
  track(work: Promise<unknown>, what: string): void
  /** Resolves when nothing is running any more, or after `timeoutMs`, to the number still running. */
  drain(timeoutMs: number): Promise<number>
}

export function createBackground(log: Log): Background {
  let running = 0
  let wake: (() => void) | undefined

  const ended = (): void => {
    running -= 1
    if (running === 0) wake?.()
  }
  return {
    track(work, what) {
      running += 1
      work.then(ended, (error: unknown) => {
        log.error({ error, what }, 'background work failed')
        ended()
      })
    },
    async drain(timeoutMs) {
      if (running === 0) return 0
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, timeoutMs)
        wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
      wake = undefined
      return running
    },
  }
}

/**
 * Runs work that must not make a call fail: an error is logged, and the call continues. `what` describes the work in a
 * few words.
 */
export function quietly(
  { telemetry }: { readonly telemetry: { readonly log: Log } },
  { requestId }: { readonly requestId: string },
  what: string,
  act: () => void,
): void {
  try {
    act()
  } catch (error) {
    telemetry.log.error({ requestId, error, what }, 'a step of a call failed; the call goes on without it')
  }
}
