import { SseFramer } from '../sse/framer.ts'
import { JsonScanner, type JsonSink } from './json-scanner.ts'
import type { WatchNode } from './watch-tree.ts'

/** An incomplete event of this size is read on as it comes; smaller ones are read at once, when they are complete. */
const AHEAD_BYTES_MIN = 32_768

export interface EventSink extends JsonSink {
  /** Another event is about to be read. */
  onEvent(): void
}

/**
 * Scans the data of a stream's events in place. Each piece of a long event is scanned when it arrives, so that no piece
 * takes much work, however long the event becomes.
 */
export class EventScan {
  readonly framer = new SseFramer()
  /** Where the data lies that the sink's spans count in: its byte 0 is at `base`. */
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

  /** Makes `data` that of the block which the framer shows. */
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

  /** Reads the rest of what is shown. False: it is not JSON. */
  read(): boolean {
    if (this.#ahead < 0) this.#begin()
    const { base, length } = this
    // What was read ahead is the beginning of the data's first line, wherever that lies by now.
    const from = base + this.#ahead
    this.#ahead = -1
    return this.#readable && this.#scanner.push(this.data, from, base + length) && this.#scanner.end()
  }

  /** To be called when the framer has no more blocks: reads what has come of a long one, and lets short ones go. */
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
