/**
 * Reads something as a whole again whenever it has changed. Reads never overlap: one that began before a change could
 * otherwise end last and put the old state back.
 */
export interface Refresher {
  /**
   * Resolves when a read that began after this call has ended; calls that come while one runs share the next. Rejects with
   * the error of that read.
   */
  readonly refresh: () => Promise<void>
  /** The same where nobody waits: a read that fails is repeated every second until one succeeds. */
  readonly refreshLater: () => void
  /** Repeats no more. */
  readonly stop: () => void
}

const RETRY_AFTER_MS = 1_000

interface Waiting {
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/**
 * @param read reads the state and keeps it
 * @param onFailure for each failed read that nobody waits for
 */
export function createRefresher(read: () => Promise<void>, onFailure: (error: unknown) => void): Refresher {
  let waiting: Waiting[] = []
  /** While reads go on. */
  let reading: Promise<void> | undefined
  const readForAll = async (): Promise<void> => {
    while (waiting.length > 0) {
      const served = waiting
      waiting = []
      try {
        await read()
        for (const { resolve } of served) resolve()
      } catch (error) {
        for (const { reject } of served) reject(error)
      }
    }
    reading = undefined
  }
  let retry: NodeJS.Timeout | undefined
  let isStopped = false
  const refresh = (): Promise<void> =>
    new Promise((resolve, reject) => {
      waiting.push({ resolve, reject })
      reading ??= readForAll()
    })
  const refreshLater = (): void => {
    refresh().catch((error: unknown) => {
      if (isStopped) return
      onFailure(error)
      clearTimeout(retry)
      retry = setTimeout(refreshLater, RETRY_AFTER_MS).unref()
    })
  }
  return {
    refresh,
    refreshLater,
    stop: () => {
      isStopped = true
      clearTimeout(retry)
    },
  }
}
