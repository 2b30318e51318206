/**
 * The answer's way to the client: what is held back before it begins, what flows, and what waits at its end. The end of
 * a complete answer waits until its charge is on disk, so that a client that has it all has been charged, whatever
 * becomes of this process.
 */
import type { Bytes } from '../lanes/lane.ts'
import type { ClientReply } from '../reply.ts'

/** An end this long is no end: it flows. */
const LAST_BYTES_MAX = 262_144
/** Pulses (seconds) the end waits: for an upstream that lingers after its last word, or a store that is away. */
const LAST_PULSES_MAX = 2

export interface DeliveryOptions {
  readonly reply: ClientReply
  /** Head of the answer, made when it begins. */
  readonly head: () => { readonly status: number; readonly headers: Readonly<Record<string, string>> }
  /** Once, when the first byte goes. */
  readonly onStart: () => void
  /** The client reads slower than the upstream sends, or has caught up. */
  readonly onFull: () => void
  readonly onDrain: () => void
  readonly now: () => number
}

export class Delivery {
  readonly #options: DeliveryOptions
  readonly #held: Bytes[] = []
  #heldBytes = 0
  readonly #last: Bytes[] = []
  #lastBytes = 0
  #lastPulses = 0
  #started = false
  #full = false
  /** The answer is whole and waits for `release`. */
  #closing = false
  #sized = false
  /** Epoch ms. */
  lastSentAt = 0

  constructor(options: DeliveryOptions) {
    this.#options = options
  }

  /** Everything but the release has been done. */
  get closing(): boolean {
    return this.#closing
  }

  get full(): boolean {
    return this.#full
  }

  /** Keeps what comes before the answer begins. Returns how many bytes are held. */
  hold(output: readonly Bytes[]): number {
    this.#held.push(...output)
    this.#heldBytes += byteLength(output)
    return this.#heldBytes
  }

  /** Nobody is there to read: what waits is let go, and nothing waits any more. */
  drop(): void {
    this.#held.length = 0
    this.#last.length = 0
    this.#full = false
  }

  write(output: readonly Bytes[]): void {
    const pieces = this.#taken(output)
    if (pieces.length === 0) return
    if (!this.#started) this.#start(undefined)
    let keepsUp = true
    for (const piece of pieces) keepsUp = this.#options.reply.write(piece)
    this.lastSentAt = this.#options.now()
    if (keepsUp || this.#full) return
    this.#full = true
    this.#options.onFull()
  }

  /** Keeps what comes from the terminator on. False: it was too much or has waited too long, and has gone. */
  keepLast(output: readonly Bytes[]): boolean {
    this.#last.push(...output)
    this.#lastBytes += byteLength(output)
    if (this.#lastBytes <= LAST_BYTES_MAX && this.#lastPulses <= LAST_PULSES_MAX) return true
    this.#flushLast()
    return false
  }

  /** Called once a second; ends the waiting when it has been too long. */
  pulse(): void {
    if (!this.#closing && this.#last.length === 0) return
    this.#lastPulses += 1
    if (this.#lastPulses <= LAST_PULSES_MAX) return
    if (this.#closing) this.release()
    else this.#flushLast()
  }

  /** The answer is whole. `sized`: nothing follows, so it goes with its length if it has not begun. */
  close(sized: boolean): void {
    this.#closing = true
    this.#lastPulses = 0
    this.#sized = sized
  }

  /** What the answer cost is on disk, or cannot be put there now: the client may have the rest. */
  release(): void {
    if (!this.#closing) return
    this.#closing = false
    const { reply } = this.#options
    const rest = this.#taken(this.#last.splice(0))
    if (!this.#started) this.#start(this.#sized ? byteLength(rest) : undefined)
    for (const piece of rest) reply.write(piece)
    reply.end()
  }

  /** The answer broke after it began: told in the protocol's own way where it has one, else by breaking the connection. */
  breakOff(told: Bytes | undefined): void {
    const { reply } = this.#options
    this.write([...this.#last.splice(0), ...(told === undefined ? [] : [told])])
    if (told === undefined) reply.destroy()
    else reply.end()
  }

  /** The upstream has told its failure inside the answer; nothing is added. */
  endAsTold(): void {
    this.#flushLast()
    this.#options.reply.end()
  }

  #flushLast(): void {
    this.#lastBytes = 0
    this.write(this.#last.splice(0))
  }

  #taken(output: readonly Bytes[]): readonly Bytes[] {
    return this.#held.length === 0 ? output : [...this.#held.splice(0), ...output]
  }

  #start(contentLength: number | undefined): void {
    const { reply, head, onStart } = this.#options
    this.#started = true
    reply.start({ contentLength, ...head() })
    reply.onDrain(() => {
      if (!this.#full) return
      this.#full = false
      this.#options.onDrain()
    })
    onStart()
  }
}

function byteLength(pieces: readonly Bytes[]): number {
  let length = 0
  for (const piece of pieces)
    length += typeof piece === 'string' ? Buffer.byteLength(piece) : piece.byteLength
  return length
}
