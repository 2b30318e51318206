import type { Timers } from '../timers.ts'

/** A clock that only moves when the test moves it. */
export class ManualTimers implements Timers {
  #now = 1_000
  readonly #set = new Map<object, { readonly at: number; readonly callback: () => void }>()

  now(): number {
    return this.#now
  }

  epoch(): number {
    return 1_750_000_000_000 + this.#now
  }

  set(callback: () => void, delayMs: number): { cancel(): void } {
    const handle = { cancel: () => this.#set.delete(handle) }
    this.#set.set(handle, { at: this.#now + delayMs, callback })
    return handle
  }

  /** How many timers are set. */
  get pending(): number {
    return this.#set.size
  }

  /** Time passes without a timer firing; then the due ones fire, late. */
  standStill(ms: number): void {
    this.#now += ms
    const due = [...this.#set].filter(([, timer]) => timer.at <= this.#now)
    for (const [handle] of due) this.#set.delete(handle)
    for (const [, timer] of due) timer.callback()
  }

  advance(ms: number): void {
    const until = this.#now + ms
    for (;;) {
      const due = [...this.#set]
        .filter(([, timer]) => timer.at <= until)
        .toSorted(([, a], [, b]) => a.at - b.at)[0]
      if (due === undefined) break
      this.#set.delete(due[0])
      this.#now = Math.max(this.#now, due[1].at)
      due[1].callback()
    }
    this.#now = until
  }
}
