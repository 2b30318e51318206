/**
 * Has requests wait for the next look at all sockets, together. A connection that idled may have been closed, or been sent
 * what nobody asked for, since that look; written to before it, it would fail, or take foreign bytes for the answer.
 */
export class Turns {
  #waiting: (() => void)[] = []

  wait(go: () => void): void {
    if (this.#waiting.length === 0) setImmediate(this.#run)
    this.#waiting.push(go)
  }

  readonly #run = (): void => {
    const waiting = this.#waiting
    this.#waiting = []
    for (const go of waiting) go()
  }
}
