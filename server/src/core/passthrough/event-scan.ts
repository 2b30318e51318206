import { SseFramer } from '../sse/framer.ts'
import { JsonScanner, type JsonSink } from './json-scanner.ts'
import type { WatchNode } from './watch-tree.ts'

/** An incomplete event of this size is read as it arrives; smaller ones are read in one go once complete. */
const AHEAD_BYTES_MIN = 32_768

export interface EventSink extends JsonSink {
  /** Another event is about to be read. */
  onEvent(): void
}

/**
 * Scans the data of a stream's events in place. Each piece of a long event is scanned when it arrives, so that each
 * piece takes little work, however long the event becomes.
 */
export class EventScan {
  readonly framer = new SseFramer()
  /** The bytes that the sink's spans refer to; their byte 0 is at `base`. */
  data: Uint8Array = NOTHING
  base = 0
  readonly #scanner: JsonScanner
  readonly #sink: EventSink
  /** Bytes of the event's data that were scanned before it was complete; -1: it was not begun. */
  #ahead = -1
  #readable = true

  constructor(tree: WatchNode, sink: EventSink) {
    this.#scanner = new JsonScanner(tree, sink)
    this.#sink = sink
  }

  /** Sets `data` to the data of the framer's current block. */
  show(): void {
    const { framer } = this
    const single = framer.dataLines === 1
    this.data = single ? framer.bytes : framer.data()
    this.base = single ? framer.dataStart : 0
  }

  /** Length of the data in `data`, from `base` on. */
  get length(): number {
    const { framer } = this
    return framer.dataLines === 1 ? framer.dataEnd - framer.dataStart : this.data.length
  }

  /** Reads the rest of the current data. False: it is not JSON. */
  read(): boolean {
    if (this.#ahead < 0) this.#begin()
    const { base, length } = this
    // What was read ahead is the beginning of the data's first line, which may have moved.
    const from = base + this.#ahead
    this.#ahead = -1
    return this.#readable && this.#scanner.push(this.data, from, base + length) && this.#scanner.end()
  }

  /** Call when the framer has no more blocks: reads what has arrived of a long event, and skips short ones. */
  readAhead(): void {
    const { framer } = this
    if (framer.heldBytes < AHEAD_BYTES_MIN || !framer.peek()) {
      this.data = NOTHING
      return
    }
    this.data = framer.bytes
    this.base = framer.dataStart
    if (this.#ahead < 0) this.#begin()
    const to = framer.dataEnd
    this.#readable &&= this.#scanner.push(this.data, this.base + this.#ahead, to)
    this.#ahead = to - this.base
  }

  #begin(): void {
    this.#ahead = 0
    this.#sink.onEvent()
    this.#scanner.reset()
    this.#readable = true
  }
}

const NOTHING = new Uint8Array(0)
