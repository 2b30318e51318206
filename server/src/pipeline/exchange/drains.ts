import type { AccountId } from '../../core/ids.ts'

/**
 * Limits for answers that are still read after their clients disconnected, and for tasks that are still polled: many
 * clients that reconnect at once must not accumulate them. A task costs a question every two seconds, and no connection.
 */
const LIMITS = {
  answer: { all: 1_000, ofOneAccount: 50 },
  task: { all: 2_000, ofOneAccount: 200 },
} as const

export type LeftBehind = keyof typeof LIMITS

export interface Drains {
  /** False: there are too many already, so this answer is cut at once. True: `end` has to follow. */
  begin(account: AccountId, what: LeftBehind): boolean
  end(account: AccountId, what: LeftBehind): void
}

export function createDrains(): Drains {
  const places = { answer: new Places(LIMITS.answer), task: new Places(LIMITS.task) }
  return {
    begin: (account, what) => places[what].take(account),
    end: (account, what) => places[what].giveBack(account),
  }
}

class Places {
  readonly #limits: (typeof LIMITS)[LeftBehind]
  readonly #counts = new Map<AccountId, number>()
  #all = 0

  constructor(limits: (typeof LIMITS)[LeftBehind]) {
    this.#limits = limits
  }

  take(account: AccountId): boolean {
    const own = this.#counts.get(account) ?? 0
    if (this.#all >= this.#limits.all || own >= this.#limits.ofOneAccount) return false
    this.#counts.set(account, own + 1)
    this.#all += 1
    return true
  }

  giveBack(account: AccountId): void {
    const own = this.#counts.get(account)
    if (own === undefined) return
    this.#all -= 1
    if (own > 1) this.#counts.set(account, own - 1)
    else this.#counts.delete(account)
  }
}
