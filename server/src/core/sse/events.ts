import type { SseEvent } from '../protocols/protocol.ts'
import { SseFramer } from './framer.ts'
import type { LiftedStrings } from './lifted-strings.ts'
import { LongEvent } from './long-event.ts'

/** Events as text, for the stream decoders; a long one as its parsed data. */
export interface SseReader {
  push(piece: Uint8Array): readonly SseEvent[]
  /** The last event, if the stream ended without its blank line. */
  end(): readonly SseEvent[]
  /** An event exceeded a limit: the stream is broken and returns nothing more. */
  readonly overflow: boolean
  /** Bytes of comments and of blocks without data. */
  readonly emptyBytes: number
}

export interface SseReaderOptions {
  readonly eventBytesMax?: number
  /** Takes the very long strings of long events. */
  readonly lifted: LiftedStrings
}

/**
 * Comments and blocks without data are left out. UTF-8 is decoded only per complete event (docs/protocols.md#rule-10).
 */
export function createSseReader(options: SseReaderOptions): SseReader {
  return new Reader(options)
}

/** An incomplete event of this size is parsed as it arrives; smaller ones in one go once complete. */
const LONG_BYTES_MIN = 65_536
/**
 * The largest event, not counting strings lifted out of it: it is decoded and encoded again in one go, which takes 10
 * ms per megabyte. Far more than any answer's text.
 */
const READ_BYTES_MAX = 4 * 1024 * 1024
/** Limit for one stream: lifted strings may be needed again at its end. */
const LIFTED_BYTES_MAX = 128 * 1024 * 1024

class Reader implements SseReader {
  emptyBytes = 0
  readonly #framer: SseFramer
  readonly #lifted: LiftedStrings
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  #long: LongEvent | undefined
  #overflow = false

  constructor({ eventBytesMax, lifted }: SseReaderOptions) {
    this.#framer = new SseFramer(eventBytesMax)
    this.#lifted = lifted
  }

  get overflow(): boolean {
    return this.#overflow || this.#framer.overflow
  }

  push(piece: Uint8Array): readonly SseEvent[] {
    const framer = this.#framer
    const events: SseEvent[] = []
    framer.push(piece)
    while (!this.#overflow && framer.next()) {
      if (framer.dataLines > 0) this.#take(events)
      else this.emptyBytes += framer.end - framer.start
    }
    if (!this.#overflow && framer.heldBytes >= LONG_BYTES_MIN) this.#readAhead()
    return events
  }

  end(): readonly SseEvent[] {
    const events: SseEvent[] = []
    if (!this.#overflow && this.#framer.finish() && this.#framer.dataLines > 0) this.#take(events)
    return events
  }

  #readAhead(): void {
    const framer = this.#framer
    if (!framer.peek()) return
    this.#long ??= new LongEvent(this.#lifted)
    this.#long.push(framer.bytes, framer.dataStart, framer.dataEnd)
  }

  #take(events: SseEvent[]): void {
    const framer = this.#framer
    const long = this.#long
    this.#long = undefined
    const event = this.#text(framer.bytes.subarray(framer.eventStart, framer.eventEnd))
    if (long === undefined || framer.dataLines > 1) {
      long?.drop()
      events.push({ event, data: this.#text(framer.data()) })
      return
    }
    const json = long.end(framer.bytes, framer.dataStart, framer.dataEnd)
    if (long.bytesLeft > READ_BYTES_MAX || this.#lifted.length > LIFTED_BYTES_MAX) this.#overflow = true
    else events.push(json === undefined ? { event, data: UNREADABLE } : { event, data: '', json })
    if (json === undefined) long.drop()
  }

  #text(bytes: Uint8Array): string {
    return bytes.length === 0 ? '' : this.#decoder.decode(bytes)
  }
}

/** Placeholder for data that is not JSON. */
const UNREADABLE = '{'
