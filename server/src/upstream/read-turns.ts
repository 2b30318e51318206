/**
 * Bounds what the exchanges of a thread read in one turn of the event loop. Each socket reads as long as bytes arrive;
 * without a common bound, 5 000 fast streams are read, scanned and written in one turn of several seconds, in which
 * no other call is served and no timer fires.
 */

/** What one exchange reads before others do: as much as a socket reads at once. */
const ONE_BYTES = 65_536
/** What all of them read before those that read much are stopped: where every word is an event, about 500 events. */
const MUCH_BYTES = 131_072
/** What all of them read before everybody is stopped. */
const ALL_BYTES = 262_144
/**
 * One that read less than this in its latest turn has emptied its socket. It is stopped last: to stop thousands of quiet
 * streams and let them continue costs more than reading them, where a few others read as fast as they can.
 */
const LITTLE_BYTES = 32_768
/** How many continue in each turn: more than use it up, since some have nothing to read. */
const CONTINUE_MAX = 16

/** An exchange that reads. Its fields belong to `ReadTurns`. */
export interface TurnReader {
  /** The latest turn in which it read; 0: it has read nothing yet. */
  turn: number
  /** The bytes it read in that turn. */
  turnBytes: number
  /** Where it is, and who is before and after it there. */
  line: Line | undefined
  before: TurnReader | undefined
  after: TurnReader | undefined
  /** Stops reading. Called while it is being read, too. */
  wait(): void
  /** Reads again; never called while anything is read. */
  continue(): void
}

/**
 * Readers in the order they came. They are linked by themselves for the reason that `core/indexed-set.ts` gives, which
 * keeps no order: a `Set` of them cost a small call a sixth.
 */
class Line {
  size = 0
  first: TurnReader | undefined
  #last: TurnReader | undefined

  add(reader: TurnReader): void {
    reader.line = this
    reader.before = this.#last
    if (this.#last === undefined) this.first = reader
    else this.#last.after = reader
    this.#last = reader
    this.size += 1
  }

  remove(reader: TurnReader): void {
    const { before, after } = reader
    if (before === undefined) this.first = after
    else before.after = after
    if (after === undefined) this.#last = before
    else after.before = before
    reader.line = undefined
    reader.before = undefined
    reader.after = undefined
    this.size -= 1
  }
}

export class ReadTurns {
  readonly #reading = new Line()
  /** Stopped before they had read in their turn; they continue first. */
  readonly #unread = new Line()
  /** Stopped after they had read. */
  readonly #waiting = new Line()
  readonly #atEndOfTurn: (go: () => void) => void
  #turn = 1
  #bytes = 0
  #ending = false

  /** @param atEndOfTurn runs something once all sockets that were ready have been read */
  constructor(atEndOfTurn: (go: () => void) => void = setImmediate) {
    this.#atEndOfTurn = atEndOfTurn
  }

  /** How many read, or wait for their turn. */
  get size(): number {
    return this.#reading.size + this.#unread.size + this.#waiting.size
  }

  /** It reads from now on. */
  enter(reader: TurnReader): void {
    if (reader.line === undefined) this.#reading.add(reader)
  }

  /** It has ended, or is stopped for a reason of its own. */
  leave(reader: TurnReader): void {
    reader.line?.remove(reader)
  }

  /** It has read this many bytes. May stop it, or any other. */
  count(reader: TurnReader, bytes: number): void {
    if (reader.turn !== this.#turn) {
      reader.turn = this.#turn
      reader.turnBytes = 0
    }
    reader.turnBytes += bytes
    this.#bytes += bytes
    // Little bytes of several turns are counted as one turn: that saves a small call the end of a turn.
    if (this.#bytes < ONE_BYTES) return
    this.#endLater()
    const before = this.#bytes - bytes
    if (this.#bytes < MUCH_BYTES) {
      if (reader.turnBytes >= ONE_BYTES) this.#stop(reader)
      return
    }
    if (reader.turnBytes >= LITTLE_BYTES) this.#stop(reader)
    if (before < MUCH_BYTES) this.#stopMany(({ turn, turnBytes }) => turn === 0 || turnBytes >= LITTLE_BYTES)
    if (before < ALL_BYTES && this.#bytes >= ALL_BYTES) this.#stopMany(() => true)
  }

  #stopMany(which: (reader: TurnReader) => boolean): void {
    for (let reader = this.#reading.first; reader !== undefined; ) {
      const { after } = reader
      if (which(reader)) this.#stop(reader)
      reader = after
    }
  }

  #stop(reader: TurnReader): void {
    if (reader.line !== this.#reading) return
    this.#reading.remove(reader)
    const to = reader.turn === this.#turn ? this.#waiting : this.#unread
    to.add(reader)
    reader.wait()
  }

  #endLater(): void {
    if (this.#ending) return
    this.#ending = true
    this.#atEndOfTurn(this.#end)
  }

  readonly #end = (): void => {
    this.#ending = false
    this.#bytes = 0
    this.#turn += 1
    const left = this.#continue(this.#unread, CONTINUE_MAX)
    this.#continue(this.#waiting, left)
    if (this.size > this.#reading.size) this.#endLater()
  }

  /** @returns how many more may continue */
  #continue(line: Line, most: number): number {
    let left = most
    for (let reader = line.first; reader !== undefined && left > 0; reader = line.first) {
      left -= 1
      line.remove(reader)
      this.#reading.add(reader)
      reader.continue()
    }
    return left
  }
}
