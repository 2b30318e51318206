/** When a task is polled again, and when the gateway stops polling. */

/** Polling slows down from here on, to half the pace after as long again. */
const GROWTH_AFTER_MS = 120_000
/** The longest wait after refused polls. */
const BACK_OFF_MAX_MS = 60_000
const JITTER = 0.2

export interface NextPoll {
  /** What the vendor advises. */
  readonly afterMs: number
  /** Since the task was created. */
  readonly ageMs: number
  /** A number in [0, 1): spreads tasks that were created together. */
  readonly draw: number
}

export function nextPollMs({ afterMs, ageMs, draw }: NextPoll): number {
  const growth = 1 + Math.min(1, Math.max(0, (ageMs - GROWTH_AFTER_MS) / GROWTH_AFTER_MS))
  return Math.round(afterMs * growth * (1 - JITTER + 2 * JITTER * draw))
}

/** After a poll without a verdict (429, 5xx, time-out): the vendor's own hint, else twice as long each time. */
export function backOffMs(next: NextPoll, failures: number, hintMs: number | undefined): number {
  if (hintMs !== undefined) return Math.max(hintMs, 1_000) + Math.round(1_000 * next.draw)
  const longer = nextPollMs(next) * 2 ** Math.min(failures, 6)
  return Math.min(longer, Math.max(BACK_OFF_MAX_MS, nextPollMs(next)))
}

/** Answers in a row that end a task: the task is not found, the answer is unreadable, the poll is refused. */
export const VERDICT_AFTER = { 'not-found': 3, unreadable: 5, refused: 10 } as const
