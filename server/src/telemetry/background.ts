import type { Log } from './log.ts'

/** Owns promises nobody awaits: their errors are logged, and stopping waits for them. */
export interface Background {
  /** `what` is the act in a few words, for the log: `record progress`. */
  track(work: Promise<unknown>, what: string): void
  /** Resolves when nothing runs any more, or after `timeoutMs`; to how many still run. */
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

/** Does what no call may fail for: an error is logged, and the call goes on. `what` is the act in a few words. */
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
