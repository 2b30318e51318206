/** A process that ends this often without ever having been ready will not come up. */
const FAILED_STARTS_MAX = 3
const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 30_000

/**
 * When processes that ended are started again: after a pause that grows until one becomes ready. A group that never ran
 * gives up; once it has run, what keeps a process from starting may pass, and the others serve meanwhile.
 */
export class Restarts {
  #hasRun = false
  #failedStarts = 0
  #pauseMs = FIRST_PAUSE_MS

  /** A process is ready; `all`: so are the others. */
  ready(all: boolean): void {
    this.#hasRun ||= all
    this.#failedStarts = 0
    this.#pauseMs = FIRST_PAUSE_MS
  }

  /** A process has ended. Returns after how many ms another one is to be started; undefined: none is. */
  ended({ wasReady }: { readonly wasReady: boolean }): number | undefined {
    if (!wasReady) this.#failedStarts += 1
    if (!this.#hasRun && this.#failedStarts >= FAILED_STARTS_MAX) return undefined
    const pauseMs = this.#pauseMs
    this.#pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)
    return pauseMs
  }
}
